// Names the resources and members of plan entries that no link names yet: new users, and users who were never synced.
import { readRecordNames } from '../directory/resources/record-names.ts';
import { parseRef, type Ref } from '../directory/records.ts';
import type { PlanEntry } from './entry.ts';
import type { ReconcileScope } from './scope.ts';

/** Returns the entries; an empty name is replaced by the name of the record, else by the id. */
export async function withNames(
  { directory }: Pick<ReconcileScope, 'directory'>,
  entries: PlanEntry[],
): Promise<PlanEntry[]> {
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
