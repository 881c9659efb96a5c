// Describes the memberships of a user, with the causes of those that wait: reads what is stored about each group (`readGroups`) and
// judges each membership by it (`stateOf`): the settings leave it out, it is to be removed, or the source wants it.
import { MEMBERSHIP_SIGN, type PendingSign } from '../directory/outbox/pending-memberships.ts';
import { presentMessage } from '../directory/outbox/condition-text.ts';
import { parseLink, type Link } from '../directory/outbox/link.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import { readRecordNames } from '../directory/resources/record-names.ts';
import { parseRef, refOf, type Ref } from '../directory/records.ts';
import type { GuardState, MemberDecision } from '../directory/guard/guard-store.ts';
import type { FoundResource } from '../ops/find.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { withPresentCondition } from '../ops/approvals/present-condition.ts';
import { wasBehindHold } from '../sync/gate.ts';
import { removal } from '../sync/names/succession.ts';
import type { MembershipState } from './explanation.ts';
import {
  causeOfGroup,
  DELETION,
  FOLLOWING,
  formerName,
  KEPT_WITH_ACCOUNT,
  LEFT_OUT_MEMBERSHIP,
  PROTECTED,
  REMOVAL,
  STILL_CALLED,
  whyOutside,
} from './membership-causes.ts';

/** The state of a membership, without the ref and the name of its group. */
type State = Omit<MembershipState, 'ref' | 'name'>;

/** Stored facts about a group that the user is in, or is to leave. */
interface GroupFacts {
  ref: Ref;
  /** Name at the source; undefined: the source deleted the group. */
  name: string | undefined;
  /** With the condition as it is now. */
  link: Link;
  /** Undefined: no change of the membership is pending. */
  sign: PendingSign | undefined;
  /** State of the removal at the guard. */
  removal: GuardState | undefined;
  /**
   * Effect of the pending deactivation of the account on the removal. `follows`: it is held, and the removal waits with it.
   * `rejected`: the deactivation of a deleted user was rejected, so the membership stays. `waits`: the guard has not judged it yet.
   * `alone`: the removal is judged alone (guard_leavers.lua).
   */
  account: MemberDecision | undefined;
  /** State of the deletion of the group at the guard. */
  deletion: GuardState | undefined;
}

/** Facts that all memberships of the user share. */
interface Shared {
  target: ReconcileScope['target'];
  /** Print of the present settings; a condition has the print of the settings under which it arose. */
  settings: string;
  /** Whether a change of the user is not applied yet. */
  isMarked: boolean;
  /** Why the user is not meant for the target; undefined: the user is. */
  outside: string | undefined;
}

/** Returns the memberships of a user in groups at the source, and the memberships whose removal is pending. */
export async function membershipsOfUser(
  scope: ReconcileScope,
  user: FoundResource,
  { mark, pendingMemberships }: ResourceStatus,
): Promise<MembershipState[]> {
  const { ownLink, groups } = await readGroups(scope, user, pendingMemberships);
  const outside = ownLink && whyOutside(parseLink(ownLink.text), ownLink.marked);
  const { target, outbox } = scope;
  const shared = { target, settings: outbox.settings, isMarked: mark !== null, outside };
  return groups.flatMap((facts): MembershipState | [] => {
    const { ref, link } = facts;
    const name = facts.name ?? String(link.core?.displayName ?? parseRef(ref).id);
    const state = stateOf(facts, shared);
    return state ? { ref, name, ...state } : [];
  });
}

/** Reads the link of the user, and the facts about each group that the user is in, or is to leave. */
async function readGroups(
  { directory, drifts, links, outbox, target }: ReconcileScope,
  { id, ref }: FoundResource,
  pendingGroups: ResourceStatus['pendingMemberships'],
) {
  const [joined = []] = await directory.groupsOf([id]);
  const leaving = [...pendingGroups.keys()].filter((group) => !joined.some((each) => each.id === group));
  const ids = [...joined.map((group) => group.id), ...leaving];
  const { guardStore } = outbox;
  const refs = ids.map((group) => refOf('Group', group));
  const [[ownLink], groupLinks, removals, deletions, [account], names] = await Promise.all([
    drifts.readLinks([ref]),
    links
      .getMany(target.name, refs)
      .then((found) =>
        Promise.all(found.map((link, at) => withPresentCondition(outbox, refs[at] as Ref, link))),
      ),
    guardStore.statesOf(ids.map((group) => removal(group, id))),
    guardStore.statesOf(refs.map((group) => ({ kind: 'delete', ref: group }))),
    guardStore.decisionsOfMembers([id]),
    readRecordNames(
      directory,
      leaving.map((group) => refOf('Group', group)),
    ),
  ]);
  const groups = ids.map((groupId, index): GroupFacts => {
    const groupRef = refOf('Group', groupId);
    return {
      ref: groupRef,
      name: joined.find((each) => each.id === groupId)?.displayName ?? names.get(groupRef),
      link: groupLinks[index] ?? {},
      sign: pendingGroups.get(groupId),
      removal: removals[index],
      account,
      deletion: deletions[index],
    };
  });
  return { ownLink, groups };
}

/** Returns the state of a membership; undefined: it is pending and leaves nothing to write. */
function stateOf(facts: GroupFacts, { target, settings, isMarked, outside }: Shared): State | undefined {
  const { name, sign } = facts;
  const wanted = name === undefined ? undefined : target.mapping.groupName(name);
  // Settings leave groups out by name, and a deleted group has no stored name.
  if (name !== undefined && wanted === undefined) return { state: 'notForTarget', ...LEFT_OUT_MEMBERSHIP };
  if (sign === MEMBERSHIP_SIGN.toRemove && hasNothingToRemove(facts, isMarked)) return undefined;
  if (sign === MEMBERSHIP_SIGN.toRemove || sign === MEMBERSHIP_SIGN.keptRemoval)
    return removalState(facts, settings);
  // The scope is checked after the removals, because a removal is written for a user out of scope too.
  if (outside !== undefined) return { state: 'notForTarget', because: outside };
  return wantedState(facts, wanted, target.policy.policy, settings);
}

/**
 * Returns whether the removal is left out: the group has no link, so no member to remove; and the group is deleted at the source,
 * or waits behind a held change while the user has no mark.
 */
const hasNothingToRemove = ({ link, name }: GroupFacts, isMarked: boolean): boolean =>
  link.id === undefined && (name === undefined || (!isMarked && wasBehindHold(link)));

/**
 * Returns the state of a membership that the user is to lose. Of several causes the first is named: the decision about the removal,
 * about the account, about the deletion of the group, then the cause that stops the sync of the group.
 */
function removalState(facts: GroupFacts, settings: string): State {
  const { account, deletion, link, removal: own, sign } = facts;
  const kept = account === 'rejected' ? KEPT_WITH_ACCOUNT : undefined;
  const decided = (own && withNote(REMOVAL[own], link, settings)) ?? kept;
  if (sign === MEMBERSHIP_SIGN.keptRemoval) return { state: 'toRemove', ...(decided ?? PROTECTED) };
  // The cause is given without its condition `Held`, because the approval lists the user's deactivation and not this removal.
  const following = account === 'follows' ? { because: FOLLOWING.because } : undefined;
  const deleted = deletion && DELETION[deletion];
  return { state: 'toRemove', ...(decided ?? following ?? deleted ?? causeOfGroup(link, settings)) };
}

/** Returns the cause, with a note in it if the settings changed since the group got its condition. */
const withNote = <Cause extends { because: string }>(
  cause: Cause,
  { condition }: Link,
  settings: string,
): Cause =>
  condition
    ? { ...cause, because: presentMessage({ ...condition, message: cause.because }, settings) }
    : cause;

/** Returns the state of a membership that the source wants. @param wanted name that the group is to have at the platform */
function wantedState(
  { link, sign }: GroupFacts,
  wanted: string | undefined,
  policy: string,
  settings: string,
): State {
  const cause = causeOfGroup(link, settings);
  if (sign === MEMBERSHIP_SIGN.toAdd) return { state: 'toAdd', ...cause };
  const former = formerName(link, wanted);
  if (former === undefined)
    // A group without link gives no membership, also if no addition is pending: another connection may have taken the group over.
    return link.id === undefined ? { state: 'toAdd', ...cause } : { state: 'applied' };
  // The person is in the group under the name that the group has by its link. Somebody may have renamed the group since its last
  // sync: already-made.ts corrects the state when the platform shows the desired name.
  const because = `${STILL_CALLED}${former} at the platform as of its last sync, so the person has the access of that name${cause.because === undefined ? '' : `: ${cause.because}`}`;
  // The policy `create-only` renames no group that the bridge has completed.
  const left = policy === 'create-only' && !link.isIncomplete ? { condition: 'LeftByPolicy' } : {};
  return { state: 'toAdd', ...left, ...cause, because };
}
