// Links a group to the platform group with its name, which is adopted (`findGroup`) or created (`createPlatformGroup`). A platform
// group that is linked to another group of the source is taken over only if that group no longer exists (`takeOver`). A platform
// group without link is adopted if the settings allow it, or if an earlier create of this group, whose answer was lost, made it.
// Flags of the link: directory/outbox/link.ts.
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { fold, parseRef, type Ref } from '../../directory/records.ts';
import type { WireGroup } from '../../platform/wire.ts';
import { blockedBy } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { isStatus } from '../calls/failures.ts';
import { existsIn, laterOrConflict, type Linking } from '../user/find-user.ts';
import { claim, takenElsewhere } from '../names/taken-by-connection.ts';
import { leaving } from './members.ts';
import { isMadeGroup, preferMade, sendCreate, untilShown } from '../names/lost-create.ts';
import { isHandedOn, isOutdated, successionWait } from '../names/succession.ts';

/**
 * Finds the platform's group by name and links it if the settings allow the adoption. Never creates one.
 * @param name the group's name at the target
 */
export async function findGroup(context: SyncContext, name: string): Promise<Linking> {
  const { directory, links, target, work } = context;
  const matches = await groupsCalled(context, name);
  if (matches.length > 1)
    return blockedBy(
      context,
      'Conflict',
      `${matches.length} groups are called ${name}: rename or delete all but one`,
    );
  const [group] = matches;
  if (!group) return { kind: 'absent' };
  const taken = await takenElsewhere(context, 'Group', [group.id]);
  if (taken) return taken;
  const holder = await links.holderOf(target.name, 'Group', group.id);
  /** The resource that the group is linked to now, if it is another one. */
  const former = holder !== undefined && holder !== work.ref ? holder : undefined;
  const afterMs = (await isPassing(context, group)) ? successionWait(context) : undefined;
  if (afterMs !== undefined) return { kind: 'later', afterMs };
  if (former !== undefined && (await existsIn(directory)(former)))
    return blockedBy(context, 'Conflict', linkedText(name, former));
  const isMade = await isMadeGroup(context, group);
  const isOurs = holder !== undefined || isMade;
  if (!isOurs && target.policy.adopt !== 'exact')
    return blockedBy(
      context,
      'NotAdopted',
      `the group ${name} exists already and adopt is ${target.policy.adopt}`,
    );
  const origin = isMade ? 'created' : 'adopted';
  return former === undefined
    ? linkTo(context, group, origin, { isNew: false })
    : takeOver(context, group, former, origin);
}

/**
 * Links a platform group whose former group no longer exists at the source.
 * @param origin stored if the link of the former group has no `origin`
 */
async function takeOver(
  context: SyncContext,
  group: WireGroup,
  former: Ref,
  origin: 'created' | 'adopted',
): Promise<Linking> {
  const { link, links, outbox, target, work } = context;
  const before = await links.get(target.name, former);
  // If the platform group cannot be linked, the former group keeps it.
  const notOurs = await claim(context, group.id, { isNew: false });
  if (notOurs) return notOurs;
  await outbox.inheritRemovals(parseRef(former).id, work.id);
  // The link of the former group lists members whom the source removed and the settings leave in this platform group. The list
  // moves to the new link, so that they are removed when the settings allow it.
  if (before.leavers) link.leavers = before.leavers;
  return linkTo(context, group, before.origin ?? origin, { isNew: false, takenFrom: former });
}

/** Returns why the group is refused: another group at the source, `holder`, has this name at the platform. */
export const linkedText = (name: string, holder: Ref): string =>
  `the group ${name} is already linked to ${holder}: rename one of the two`;

/**
 * Returns whether the resource that has this group or name at the platform may soon release it: its sync is still to come, or the
 * platform's list shows a former name of the group. The caller then waits instead of refusing.
 */
const isPassing = async (context: SyncContext, { id, displayName }: WireGroup): Promise<boolean> =>
  (await isHandedOn(context, 'Group', id)) || (await isOutdated(context, 'Group', { id, name: displayName }));

/** Returns the groups with the current name, or the group of an earlier create whose answer was lost (`preferMade`). */
export async function groupsCalled(context: SyncContext, name: string): Promise<WireGroup[]> {
  const { link, target, call } = context;
  const called = async (wanted: string): Promise<WireGroup[]> => {
    const found = await target.client.groups.findByDisplayName(wanted, call);
    return found.filter((group) => fold(group.displayName) === fold(wanted));
  };
  const exact = await called(name);
  const tried = String(link.tried?.core.displayName ?? name);
  if (fold(tried) === fold(name)) return exact;
  return preferMade(context, exact, async () => {
    const made: WireGroup[] = [];
    for (const group of await called(tried)) if (await isMadeGroup(context, group)) made.push(group);
    return made;
  });
}

/** Creates and links the platform group. If the platform says that the name exists, looks the group up again. */
export async function createPlatformGroup(context: SyncContext, name: string): Promise<Linking> {
  const { link, target } = context;
  const later = untilShown(context, { displayName: name });
  if (later) return later;
  // A group with the id in `mayExist` is recognised by its former name, so `core` keeps that name.
  if (link.mayExist?.id === undefined) link.core = { displayName: name };
  let created: WireGroup;
  try {
    const body = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: name };
    created = await sendCreate(context, { displayName: name }, () =>
      context.write('create group', () => target.client.groups.create(body, context.call)),
    );
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
    const found = await findGroup(context, name);
    if (found.kind !== 'absent') return found;
    // Lists may lag behind writes (contract 12.9), so the lookup is repeated before an operator is asked.
    const message =
      error.platformMessage || `the platform says that the group ${name} exists, but does not show it`;
    return laterOrConflict(context, message, 409);
  }
  await dropRemovals(context);
  return linkTo(context, created, 'created', { isNew: true });
}

/**
 * Drops the removals of members, held and rejected ones too: a new group has no members. A sync that was killed while this group
 * took over the platform group of a former group may have copied such removals from the former group, which still has them.
 */
async function dropRemovals({ outbox, work }: SyncContext): Promise<void> {
  const users = [
    ...leaving(await outbox.pendingMembers(work.id)),
    ...(await outbox.unconfirmedRemovals(work.id)),
  ];
  // `moot`: the removals end together with the guard's decisions about them.
  if (users.length > 0) await outbox.ackMembers(work, MEMBERSHIP_SIGN.toRemove, users, 'moot');
}

/** Links the group to a platform group. `takenFrom`: the resource that it was linked to, whose link is removed. */
async function linkTo(
  context: SyncContext,
  group: WireGroup,
  origin: 'created' | 'adopted',
  { isNew, takenFrom }: { isNew: boolean; takenFrom?: Ref | undefined },
): Promise<Linking> {
  const notOurs = await claim(context, group.id, { isNew });
  if (notOurs) return notOurs;
  // All members become pending before the id is saved. A group with an id is not linked again, so if the process were killed
  // between the two saves in the other order, no sync would make its members pending.
  await context.save({ rewriteMemberships: true, isNew });
  const { link } = context;
  link.id = group.id;
  link.origin = origin;
  if (origin === 'created') link.isIncomplete = true;
  else if (takenFrom === undefined) link.adopting = true;
  delete link.tried;
  link.core = { displayName: group.displayName };
  delete link.unsure;
  await context.save({ linked: true, takenFrom });
  return { kind: 'linked' };
}
