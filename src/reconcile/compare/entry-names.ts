// Names the resources and members of plan entries. A person has one name in all entries: the userName at the source, which the
// account may not have yet. Otherwise two people would have the same name when a new user gets the former userName of another.
import { readRecordNames } from '../../directory/resources/record-names.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import type { PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Returns the entries with names. People, as resources and as members, have the userName of their record; without a record the name
 * stays. An empty name is replaced by the name of the record, or by the id if there is no record. The name of an unmanaged member is
 * replaced by the userName of its account.
 * @param accounts userNames of unmanaged accounts, by platform id
 */
export async function withNames(
  { directory }: Pick<ReconcileScope, 'directory'>,
  found: PlanEntry[],
  accounts: ReadonlyMap<string, string> = new Map(),
): Promise<PlanEntry[]> {
  // Names that need no read: an entry with a version was computed from the record of the user.
  const known = new Map<Ref, string>();
  for (const { kind, ref, name, basis } of found)
    if (kind === 'User' && ref && name !== '' && basis.version > 0) known.set(ref, name);
  const unread = found.flatMap(({ kind, ref, name, member }) => [
    ...(ref && (kind === 'User' || name === '') ? [ref] : []),
    ...(member?.ref ? [member.ref] : []),
  ]);
  const read = await readRecordNames(
    directory,
    unread.filter((ref) => !known.has(ref)),
  );
  const nameOf = (ref: Ref, name: string): string =>
    known.get(ref) ?? read.get(ref) ?? (name === '' ? parseRef(ref).id : name);
  return found.map((entry) => {
    const { kind, ref, member } = entry;
    const name = ref && (kind === 'User' || entry.name === '') ? nameOf(ref, entry.name) : entry.name;
    if (!member) return { ...entry, name };
    // A member list has the displayName, or no name; the userName identifies the account.
    const memberName = member.ref
      ? nameOf(member.ref, member.name)
      : (accounts.get(member.platformId ?? '') ?? member.name);
    return { ...entry, name, member: { ...member, name: memberName } };
  });
}
