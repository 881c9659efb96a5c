// Which index entries a resource has. Pure.
import { fold, type Kind } from '../records.ts';

/**
 * `[key family, value]`: the record is found under this value. Every family but `emails` and `sharedExternalIds:User` has
 * one holder per value. The families of users have short names, because each record keeps them: `u` userNames, `m`
 * userNames too, but it is also an address of the user, `x` externalIds:User, `e` emails (lua/entries.lua).
 */
export type IndexEntry = [family: string, value: string];

/** A SCIM resource as far as the directory looks into it. */
export interface IndexedResource {
  userName?: unknown;
  externalId?: unknown;
  displayName?: unknown;
  emails?: unknown;
  [attribute: string]: unknown;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/**
 * userName and a group's displayName are unique without case, externalId with case (RFC 7643 §3.1, §4.1.1).
 * Group names are unique because the platform keeps policies by name and refuses a second one.
 */
export function indexEntries(kind: Kind, resource: IndexedResource): IndexEntry[] {
  return kind === 'User' ? entriesOfUser(resource) : entriesOfGroup(resource);
}

/** @param isShared whether the externalId is another user's already: then neither of them is known by it alone */
export function entriesOfUser(
  { userName, externalId, emails }: IndexedResource,
  isShared = false,
): IndexEntry[] {
  const addresses = new Set<string>();
  for (const email of Array.isArray(emails) ? (emails as { value?: unknown }[]) : []) {
    const address = text(email?.value);
    if (address !== undefined) addresses.add(fold(address));
  }
  const entries: IndexEntry[] = [];
  const name = text(userName);
  // Most people's address is their userName: one index finds them by both.
  if (name !== undefined) entries.push([addresses.delete(fold(name)) ? 'm' : 'u', fold(name)]);
  const foreign = text(externalId);
  if (foreign !== undefined) entries.push([isShared ? 'sharedExternalIds:User' : 'x', foreign]);
  for (const address of addresses) entries.push(['e', address]);
  return entries;
}

function entriesOfGroup({ displayName, externalId }: IndexedResource): IndexEntry[] {
  const entries: IndexEntry[] = [];
  const name = text(displayName);
  if (name !== undefined) entries.push(['displayNames', fold(name)]);
  const foreign = text(externalId);
  if (foreign !== undefined) entries.push(['externalIds:Group', foreign]);
  return entries;
}

/** The SCIM attribute that a family of unique values stands for. */
export function attributeOf(family: string): string {
  if (family === 'userNames') return 'userName';
  return family === 'displayNames' ? 'displayName' : 'externalId';
}
