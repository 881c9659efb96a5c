// Names the members of log entries, which contain only ids, by the links and records as they are now. An unmanaged member, whose id
// is `@<platform id>`, gets the userName that it had when the guard judged its removal.
import type { DesiredState } from '../../directory/desired-state.ts';
import { isUnmanaged } from '../../directory/member-names.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import { readRecordNames } from '../../directory/resources/record-names.ts';
import type { LocatedEntry } from './provisioning-log.ts';

/** Returns the names of the first `most` members of an entry; of a member whose name is not known any more the id. */
type NameMembers = (entry: LocatedEntry, most: number) => Promise<string[]>;

/** Creates the function. It remembers the names that it has read. */
export function createMemberNames(
  states: readonly Pick<DesiredState, 'connection' | 'directory' | 'links' | 'outboxes'>[],
): NameMembers {
  const known = new Map<string, string>();
  return async ({ connection, target, members = [] }, most) => {
    const state = states.find((each) => each.connection === connection);
    const ids = members.slice(0, most);
    const keyOf = (id: string): string => `${connection} ${target} ${id}`;
    const lacking = ids.filter((id) => isUnmanaged(id) && !known.has(keyOf(id)));
    const unmanaged = await state?.outboxes.get(target)?.unmanagedNames.namesOf(lacking);
    for (const id of lacking) known.set(keyOf(id), unmanaged?.get(id) ?? id);
    const refs = ids.filter((id) => !known.has(keyOf(id))).map((id): Ref => refOf('User', id));
    if (state && refs.length > 0) {
      const [links, names] = await Promise.all([
        state.links.getMany(target, refs),
        readRecordNames(state.directory, refs),
      ]);
      for (const [index, ref] of refs.entries()) {
        // The link first: the log tells what was written at the target, where the person may have another name.
        const name = links[index]?.core?.userName ?? names.get(ref);
        if (typeof name === 'string') known.set(keyOf(parseRef(ref).id), name);
      }
    }
    return ids.map((id) => known.get(keyOf(id)) ?? id);
  };
}
