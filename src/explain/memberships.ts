// Describes the memberships of a user or group, with the causes of those that wait.
import { conditionText, type Link } from '../directory/outbox/links.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import { readRecordNames } from '../directory/resources/record-names.ts';
import { refOf } from '../directory/records.ts';
import type { FoundResource } from '../ops/find.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { withHeldRemoval } from '../reconcile/unwritten.ts';
import type { Explanation, MembershipState } from './explanation.ts';

const SHOWN_MEMBERS = 100;

/** Returns a user's groups, and the groups with a pending removal. */
export async function membershipsOfUser(
  scope: ReconcileScope,
  { id }: FoundResource,
  { pendingGroups }: ResourceStatus,
): Promise<MembershipState[]> {
  const { directory, links, outbox, target } = scope;
  const [joined = []] = await directory.groupsOf([id]);
  const left = [...pendingGroups.keys()].filter((group) => !joined.some((each) => each.id === group));
  const ids = [...joined.map((group) => group.id), ...left];
  const [groups, names] = await Promise.all([
    links.getMany(
      target.name,
      ids.map((group) => refOf('Group', group)),
    ),
    readRecordNames(
      directory,
      left.map((group) => refOf('Group', group)),
    ),
  ]);
  return ids.map((group, index) => {
    const link = groups[index] ?? {};
    const name = joined.find((each) => each.id === group)?.displayName ?? names.get(refOf('Group', group));
    const isWanted = name === undefined || target.mapping.groupName(name) !== undefined;
    const sign = pendingGroups.get(group);
    return {
      ref: refOf('Group', group),
      name: name ?? String(link.core?.displayName ?? group),
      state: !isWanted ? 'notForTarget' : stateOf(sign),
      ...(!isWanted
        ? LEFT_OUT_MEMBERSHIP
        : sign === undefined
          ? {}
          : sign === 'r'
            ? REJECTED
            : causeOf(link.condition, outbox.settings)),
    };
  });
}

/** Returns the number of members, and up to a hundred pending ones. */
export async function membershipsOfGroup(
  scope: ReconcileScope,
  { id }: FoundResource,
  { pendingGroups }: ResourceStatus,
): Promise<Pick<Explanation, 'memberships' | 'members'>> {
  const { directory, links, outbox, target } = scope;
  const { users, unresolved } = await directory.membersOf(id);
  const pending = [...pendingGroups].slice(0, SHOWN_MEMBERS);
  const refs = pending.map(([user]) => refOf('User', user));
  const leaving = pending.flatMap(([user, sign]) => (sign === '-' ? [user] : []));
  const [known, names, moving, decisions] = await Promise.all([
    links.getMany(target.name, refs),
    readRecordNames(directory, refs),
    withHeldRemoval(
      outbox,
      refs.filter((_, index) => pending[index]?.[1] === '+'),
    ),
    outbox.guardStore.decisionsOfMembers(leaving),
  ]);
  const following = new Set(leaving.filter((_, index) => decisions[index] === 'follows'));
  const memberships = pending.map(([user, sign], index): MembershipState => {
    const link = known[index] ?? {};
    const because = sign === '+' ? whyNotReady(link, outbox.settings) : undefined;
    const ref = refOf('User', user);
    return {
      ref,
      name: String(link.core?.userName ?? names.get(ref) ?? user),
      state: stateOf(sign),
      ...(sign === 'r' ? REJECTED : {}),
      ...(moving.has(ref) ? MOVING : {}),
      ...(following.has(user) ? FOLLOWING : {}),
      ...(because === undefined ? {} : { because, ...causeOf(link.condition, outbox.settings) }),
    };
  });
  const signs = [...pendingGroups.values()];
  const toAdd = signs.filter((sign) => sign === '+').length;
  const members = { desired: users.length, toAdd, toRemove: signs.length - toAdd, unknown: unresolved };
  return { memberships, members };
}

/** The cause of a membership in a group that the settings leave out. */
const LEFT_OUT_MEMBERSHIP = { because: 'left out by groups.include or groups.exclude' };

/** The cause of a removal that a person rejected: the platform keeps the member. */
const REJECTED = { because: 'a person rejected the removal', condition: 'Rejected' };

/** The cause of an addition of a person whose removal from another group waits for a decision. */
const MOVING = { because: 'the guard holds the removal from another group', condition: 'Held' };

/** The cause of a removal that is written with the deactivation of the account. */
const FOLLOWING = {
  because: 'leaves with the account, whose deactivation the guard holds',
  condition: 'Held',
};

const stateOf = (sign: '+' | '-' | 'r' | undefined): MembershipState['state'] =>
  sign === undefined ? 'applied' : sign === '+' ? 'toAdd' : 'toRemove';

/** Reasons of conditions that end by themselves. */
const PASSING = new Set(['NotApplied', 'PlatformFailed']);

function causeOf(
  condition: Link['condition'],
  settings: string,
): Pick<MembershipState, 'because' | 'condition' | 'triedSince'> {
  if (!condition) return {};
  const { reason, since } = condition;
  const because = conditionText(condition, settings);
  return PASSING.has(reason)
    ? { because, triedSince: new Date(since).toISOString() }
    : { because, condition: reason };
}

function whyNotReady(link: Link, settings: string): string | undefined {
  if (link.condition) return conditionText(link.condition, settings);
  if (link.id === undefined) return 'has no account at the target yet';
  return link.departed ? 'has left this target' : undefined;
}
