// Which index entries a resource has. Pure.
import { fold, type Kind } from './records.ts';

/** `[key family, value]`: the record is found under this value. Every family but `emails` has one holder per value. */
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
  const entries: IndexEntry[] = [];
  const name = text(kind === 'User' ? resource.userName : resource.displayName);
  if (name !== undefined) entries.push([kind === 'User' ? 'userNames' : 'displayNames', fold(name)]);
  const externalId = text(resource.externalId);
  if (externalId !== undefined) entries.push([`externalIds:${kind}`, externalId]);
  if (kind === 'User' && Array.isArray(resource.emails)) {
    const addresses = new Set<string>();
    for (const email of resource.emails as { value?: unknown }[]) {
      const address = text(email?.value);
      if (address !== undefined) addresses.add(fold(address));
    }
    for (const address of addresses) entries.push(['emails', address]);
  }
  return entries;
}

/** The SCIM attribute that a family of unique values stands for. */
export function attributeOf(family: string): string {
  if (family === 'userNames') return 'userName';
  return family === 'displayNames' ? 'displayName' : 'externalId';
}
