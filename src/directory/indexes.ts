// Which index entries a resource has: pure, so that old and new can be compared.
import { fold, type Kind } from './records.ts';

/** `[SCIM attribute, key family, value]` of an index that allows one holder per value. */
export type UniqueEntry = [attribute: string, family: string, value: string];

export interface IndexEntries {
  unique: UniqueEntry[];
  /** Folded e-mail addresses; several users may share one. */
  emails: string[];
}

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
export function indexEntries(kind: Kind, resource: IndexedResource): IndexEntries {
  const unique: UniqueEntry[] = [];
  const name = text(kind === 'User' ? resource.userName : resource.displayName);
  if (name !== undefined) {
    unique.push(
      kind === 'User' ? ['userName', 'userNames', fold(name)] : ['displayName', 'displayNames', fold(name)],
    );
  }
  const externalId = text(resource.externalId);
  if (externalId !== undefined) unique.push(['externalId', `externalIds:${kind}`, externalId]);
  const emails = new Set<string>();
  if (kind === 'User' && Array.isArray(resource.emails)) {
    for (const email of resource.emails as { value?: unknown }[]) {
      const address = text(email?.value);
      if (address !== undefined) emails.add(fold(address));
    }
  }
  return { unique, emails: [...emails] };
}

/** Entries of `before` that `after` no longer has. */
export function droppedEntries(
  before: IndexEntries,
  after: IndexEntries,
): { drop: [string, string][]; dropEmails: string[] } {
  const kept = new Set(after.unique.map(([, family, value]) => `${family} ${value}`));
  return {
    drop: before.unique
      .filter(([, family, value]) => !kept.has(`${family} ${value}`))
      .map(([, family, value]) => [family, value]),
    dropEmails: before.emails.filter((address) => !after.emails.includes(address)),
  };
}
