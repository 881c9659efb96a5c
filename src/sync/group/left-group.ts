// Finds the platform group of a deleted group whose link was lost (an operator ordered to forget it, or a restore lost it), so that
// its members lose the access. Only a group that is proven to be the deleted one is linked.
import type { Link } from '../../directory/outbox/link.ts';
import { fold } from '../../directory/records.ts';
import type { SyncContext } from '../context.ts';
import { isLinkedToOther, linkLeft, readLeft, unprovenLeft } from '../names/left-there.ts';
import type { SyncOutcome } from '../outcome.ts';

const REMOVE = 'remove its members or delete it';

/**
 * Links the platform group of a deleted group, if there is one.
 * @returns an outcome when the sync cannot continue; else undefined
 */
export async function linkLeftGroup(
  context: SyncContext,
  { id }: NonNullable<Link['mayExist']>,
): Promise<SyncOutcome | undefined> {
  const { link, target, call } = context;
  const name = String(link.core?.displayName ?? '');
  if (id === undefined) return lookUp(context, name);
  if (await isLinkedToOther(context, id)) return undefined;
  const { groups } = target.client;
  const group = await readLeft(context, 'Group', id, () => groups.get(id, { members: true }, call));
  if (!group) return undefined;
  if (fold(group.displayName) === fold(name))
    return linkLeft(context, id, { displayName: group.displayName });
  if (group.members?.length === 0) return undefined;
  return unprovenLeft(context, `its group ${name} is called ${group.displayName} now`, REMOVE);
}

/**
 * Looks a group up by its name at the source. After a restore it is not known which members the bridge added, so an operator
 * decides about a group with members.
 */
async function lookUp(context: SyncContext, displayName: string): Promise<SyncOutcome | undefined> {
  const { directory, target, call } = context;
  const { groups } = target.client;
  const name = target.mapping.groupName(displayName);
  const holders = (await directory.lookup('Group', 'displayname', displayName)) ?? [];
  if (name === undefined || holders.length > 0) return undefined;
  for (const { id, displayName: shown } of await groups.findByDisplayName(name, call)) {
    if (fold(shown) !== fold(name) || (await isLinkedToOther(context, id))) continue;
    const { members = [] } = await groups.get(id, { members: true }, call);
    if (members.length > 0)
      return unprovenLeft(context, `a group is called ${name}, which may be this one`, REMOVE);
  }
  return undefined;
}
