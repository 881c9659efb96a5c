// Finds out whether the platform will refuse to rename a group, because another group of the platform keeps the new name.
import { parseLink } from '../../directory/outbox/links.ts';
import type { ObservedResource } from '../../directory/outbox/drift.ts';
import { fold, parseRef, type Ref } from '../../directory/records.ts';
import type { Resource } from '../../scim/index.ts';
import { linkedText } from '../../sync/group/find-group.ts';
import { asking } from './platform-reads.ts';
import type { ScanResult } from '../scope.ts';
import { takenElsewhereText } from './taken.ts';

/** Unmanaged groups of a complete list, and groups of other connections. */
export interface GroupStrangers {
  /** Unmanaged groups, by folded name. */
  byName: ReadonlyMap<string, { id: string; name: string }>;
  /** The linked groups, by folded name. */
  linked: ReadonlyMap<string, Pick<ObservedResource, 'ref' | 'marked'>>;
  /** Ids of groups of other connections, by folded name. */
  taken: ReadonlyMap<string, string>;
}

/** Groups of the platform with one name: their ids, and the group at the source that one of them is linked to. */
interface Named {
  /** Id of a group that no group of this connection is linked to. */
  unlinked: string | undefined;
  holder: Pick<ObservedResource, 'ref' | 'marked'> | undefined;
}

/**
 * Returns why the platform refuses the new name of a linked group; undefined: the name is free, or becomes free by a sync that is to
 * come, or the platform could not be read.
 * @param strangers as in `VerifyGroupsOptions`
 */
export async function whyNameKept(
  scan: ScanResult,
  { ref, name }: { ref: Ref; name: string },
  strangers: GroupStrangers | undefined,
): Promise<string | undefined> {
  const { unlinked, holder } = strangers ? listed(strangers, name) : await lookedUp(scan, name);
  if (unlinked !== undefined)
    return (
      (await takenElsewhereText(scan, 'Group', unlinked)) ??
      `Conflict: a group that the bridge does not manage has the name ${name} at the platform: rename or delete it there`
    );
  if (!holder || holder.ref === ref) return undefined;
  const keeping = await keeper(scan, name, holder.marked ? undefined : holder.ref);
  if (keeping) return `Conflict: ${linkedText(name, keeping.heldBy)}`;
  return (await staysDeleted(scan, holder.ref))
    ? `Conflict: a group that was deleted at the source, ${holder.ref}, stays at the platform with the name ${name}: rename or delete it there`
    : undefined;
}

const listed = ({ byName, linked, taken }: GroupStrangers, name: string): Named => ({
  unlinked: byName.get(fold(name))?.id ?? taken.get(fold(name)),
  holder: linked.get(fold(name)),
});

/** Asks the platform for the groups with the name. Nothing is found if it cannot be read: then the sync finds out. */
async function lookedUp(scan: ScanResult, name: string): Promise<Named> {
  const found = await asking(scan, (signal) =>
    scan.scope.target.client.groups.findByDisplayName(name, { signal }),
  );
  const exact = Array.isArray(found)
    ? found.filter(({ displayName }) => fold(displayName) === fold(name))
    : [];
  const holders = await scan.scope.drifts.linkedTo(
    'Group',
    exact.map(({ id }) => id),
  );
  return {
    unlinked: exact.find((_, index) => holders[index] === undefined)?.id,
    holder: holders.find((holder) => holder !== undefined),
  };
}

/** Returns whether the group was deleted at the source and its sync leaves the group at the platform. */
async function staysDeleted({ scope: { drifts, target } }: ScanResult, ref: Ref): Promise<boolean> {
  if (!(await drifts.deletedAtSource(parseRef(ref).id))) return false;
  const [holder] = await drifts.readLinks([ref]);
  return target.policy.policy !== 'sync' || parseLink(holder?.text ?? '').origin === 'adopted';
}

/** Returns the linked group if it stays at the source, and no pending sync or other rules give it another name. */
export async function keeper(
  { scope: { directory, target } }: ScanResult,
  name: string,
  holder: Ref | undefined,
): Promise<{ heldBy: Ref } | undefined> {
  const record = holder && (await directory.get('Group', parseRef(holder).id));
  if (!holder || !record || record.damaged) return undefined;
  const { displayName } = JSON.parse(record.text) as Resource & { displayName: string };
  return fold(target.mapping.groupName(displayName) ?? name) === fold(name) ? { heldBy: holder } : undefined;
}
