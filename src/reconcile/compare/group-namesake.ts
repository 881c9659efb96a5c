// Finds and reads the group at the platform that has the name of a desired group which is missing there: the sync adopts the found
// group, or is refused because of it.
import { fold, nameInRecord, parseRef, type Ref } from '../../directory/records.ts';
import type { WireGroup } from '../../platform/wire.ts';
import type { ScanResult } from '../scope.ts';
import { linkedText } from '../../sync/group/find-group.ts';
import { takenElsewhereText } from './taken.ts';
import { asking } from './platform-reads.ts';
import type { Link } from '../../directory/outbox/link.ts';

/**
 * The groups of a complete list by name. A comparison without such a list has no `GroupStrangers`; it looks each name up at the
 * platform, and finds groups of other connections by their ids.
 */
export type GroupStrangers = ReturnType<typeof noGroups>;

export const noGroups = () => ({
  /** Unmanaged groups, by folded name. */
  byName: new Map<string, { id: string; name: string }>(),
  /** Refs of the linked groups without a mark, by folded name. */
  linked: new Map<string, Ref>(),
  /** Ids of groups of other connections, by folded name. */
  taken: new Map<string, string>(),
});

/**
 * Returns the group that has the name of a missing group. `namesake`: an unmanaged group. `takenBy`: why the sync will be refused,
 * because another group of the source, or of another connection, has the name. `unknown`: the platform could not be read.
 */
export async function ownerOfName(
  scan: ScanResult,
  { ref, wantedName }: { ref: Ref; wantedName: string },
  strangers: GroupStrangers | undefined,
): Promise<{ namesake?: { id: string; name: string }; takenBy?: string | undefined } | 'unknown'> {
  const found = await findGroupNamesake(scan, wantedName, strangers);
  if (found === 'unknown') return 'unknown';
  if (found && 'heldBy' in found && found.heldBy !== ref)
    return { takenBy: `Conflict: ${linkedText(wantedName, found.heldBy)}` };
  const namesake = found && 'id' in found ? found : undefined;
  const ownerId = namesake?.id ?? strangers?.taken.get(fold(wantedName));
  const takenBy = await takenElsewhereText(scan, 'Group', ownerId);
  return { ...(namesake && { namesake }), takenBy };
}

/** Returns an unmanaged group of this name, or the group at the source that has it and keeps it. */
async function findGroupNamesake(
  scan: ScanResult,
  name: string,
  strangers: GroupStrangers | undefined,
): Promise<{ id: string; name: string } | { heldBy: Ref } | undefined | 'unknown'> {
  if (strangers)
    return strangers.byName.get(fold(name)) ?? keeperOfName(scan, name, strangers.linked.get(fold(name)));
  const found = await asking(scan, (signal) =>
    scan.scope.target.client.groups.findByDisplayName(name, { signal }),
  );
  if (found === 'unknown' || found === 'absent') return 'unknown';
  const exact = found.filter((group) => fold(group.displayName) === fold(name));
  const holders = await scan.scope.drifts.linkedTo(
    'Group',
    exact.map(({ id }) => id),
  );
  const free = exact.find((_, index) => holders[index] === undefined);
  if (free) return { id: free.id, name: free.displayName };
  // Several groups can have the name only in different letter case; whichever is reported, the platform refuses the name.
  const [holder] = holders;
  return keeperOfName(scan, name, holder && !holder.marked ? holder.ref : undefined);
}

/** Returns the linked group if it stays at the source, and no pending sync or other rules give it another name. */
async function keeperOfName(
  { scope: { directory, target } }: ScanResult,
  name: string,
  holder: Ref | undefined,
): Promise<{ heldBy: Ref } | undefined> {
  const record = holder && (await directory.get('Group', parseRef(holder).id));
  const displayName = record && nameInRecord(record);
  if (!holder || displayName === undefined) return undefined;
  // A group that the rules leave out has no mapped name, and keeps the one that it has at the platform.
  return fold(target.mapping.groupName(displayName) ?? name) === fold(name) ? { heldBy: holder } : undefined;
}

/** Reads the group that is to be adopted with its members; undefined when it is not adopted. */
export async function readGroupNamesake(
  scan: ScanResult,
  namesake: { id: string } | undefined,
): Promise<WireGroup | undefined | 'unknown'> {
  const { adopt } = scan.scope.target.policy;
  if (!namesake || adopt !== 'exact') return undefined;
  const found = await readLinkedGroup(scan, { id: namesake.id }, { withMembers: true });
  return found === 'absent' ? undefined : found;
}

/** Reads the group of a link, or of a namesake's id; `absent` without an id, or when the read is answered with 404. */
export async function readLinkedGroup(
  scan: ScanResult,
  { id }: Link,
  { withMembers }: { withMembers: boolean },
): Promise<WireGroup | 'absent' | 'unknown'> {
  if (id === undefined) return 'absent';
  return asking(scan, (signal) =>
    scan.scope.target.client.groups.get(id, withMembers ? {} : { members: false }, { signal }),
  );
}
