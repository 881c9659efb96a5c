// Names the resources and members of plan entries that no link names yet: new users, users who were never synced, and
// accounts that a member list of the platform has without their userName.
import { readRecordNames } from '../../directory/resources/record-names.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import type { PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Returns the entries with names. An empty name is replaced by the name of the record, or by the id if there is no record.
 * The name of an unmanaged member is replaced by the userName of its account.
 * @param accounts userNames of unmanaged accounts, by platform id
 */
export async function withNames(
  { directory }: Pick<ReconcileScope, 'directory'>,
  found: PlanEntry[],
  accounts: ReadonlyMap<string, string> = new Map(),
): Promise<PlanEntry[]> {
  const entries = found.map((entry) => {
    const { member } = entry;
    // A member list has the displayName, or no name; the userName identifies the account.
    const userName = member?.ref === null ? accounts.get(member.platformId ?? '') : undefined;
    return member && userName !== undefined ? { ...entry, member: { ...member, name: userName } } : entry;
  });
  const unnamed = entries.flatMap(({ ref, name, member }) => [
    ...(name === '' && ref ? [ref] : []),
    ...(member?.name === '' && member.ref ? [member.ref] : []),
  ]);
  if (unnamed.length === 0) return entries;
  const names = await readRecordNames(directory, unnamed);
  const nameOf = (ref: Ref): string => names.get(ref) ?? parseRef(ref).id;
  return entries.map((entry) => {
    const { ref, member } = entry;
    const name = entry.name === '' && ref ? nameOf(ref) : entry.name;
    if (member?.name !== '' || !member.ref) return name === entry.name ? entry : { ...entry, name };
    return { ...entry, name, member: { ...member, name: nameOf(member.ref) } };
  });
}
