// Derives the access that a user is to have at a target (`desiredAccessOf`): an open account with values and groups, or a closed
// one. Flow: reads the groups that the user is leaving, and the record. Without a usable record, or for a user out of scope or
// inactive, the account is to be closed. For each group it says whether the bridge has completed it, and else what its sync waits
// for. access-differences.ts compares the result with the account. Reads Redis, writes nothing.
import type { ObservedResource } from '../directory/outbox/drift.ts';
import type { GuardState, MemberDecision } from '../directory/guard/guard-store.ts';
import { parseLink } from '../directory/outbox/link.ts';
import { isTriedAgain, refusalOf } from '../directory/outbox/link-condition.ts';
import { refOf, type GroupName } from '../directory/records.ts';
import type { FoundResource } from '../ops/find.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Resource } from '../scim/index.ts';
import { leaving } from '../sync/group/members.ts';
import type { DesiredUser } from '../sync/mapping/mapping.ts';
import type { ExpectedGroup } from './account.ts';

/**
 * `closed`: the account must be inactive or deleted; `why` is the reason as part of a sentence, `closing` the state of the
 * deactivation at the guard (undefined: it has none there).
 */
export type DesiredAccess =
  | {
      kind: 'closed';
      why: string;
      groups: ExpectedGroup[];
      leaving: LeavingGroup[];
      closing?: GuardState | undefined;
      /** Values and groups that the closed account keeps; absent: none, because the person is out of scope or deleted. */
      desired?: DesiredUser;
    }
  | {
      kind: 'open';
      desired: DesiredUser;
      groups: ExpectedGroup[];
      leaving: LeavingGroup[];
      /** Groups of the source that the settings leave out. */
      leftOut: ExpectedGroup[];
    };

/** A group that the user left at the source or never had there, with a removal that is not written or not confirmed yet. */
export interface LeavingGroup extends ExpectedGroup {
  /**
   * State of the removal. `held`: the guard holds it; `expired`: its approval expired; `rejected`: a person rejected it; `pending`:
   * it waits for its sync; `unconfirmed`: it was written, and the platform does not show it yet; `withAccount`: it is not written,
   * because a person rejected the deactivation of this deleted person; `withHeldAccount`: it is written with the deactivation of
   * the account, which the guard holds; `surplus`: the next reconcile finds it.
   */
  state: GuardState | 'pending' | 'withAccount' | 'withHeldAccount' | 'unconfirmed' | 'surplus';
  /** Why the account must not be in the group; with the state `surplus` only. */
  reason?: string;
}

/** Returns the access that the source and the settings want for a user at a target. Reads Redis only. */
export async function desiredAccessOf(scope: ReconcileScope, person: FoundResource): Promise<DesiredAccess> {
  const { id, record, ref } = person;
  const { directory, outbox, target } = scope;
  const leaving = await leavingOf(scope, person);
  const [closing] = await outbox.guardStore.statesOf([{ kind: 'deactivate', ref }]);
  if (!record) return { kind: 'closed', why: 'deleted at the source', groups: [], leaving, closing };
  const [joined = []] = await directory.groupsOf([id]);
  // A damaged record says nothing about the user, so no access is desired by it.
  if (record.damaged)
    return { kind: 'closed', why: 'the stored record is damaged: push it again', groups: [], leaving };
  const desired = await target.mapping.user(JSON.parse(record.text) as Resource, id, joined);
  const groups = await expectedGroups(scope, joined);
  if (!desired.inScope)
    return { kind: 'closed', why: 'out of the scope of this target', groups, leaving, closing };
  if (!desired.active)
    return { kind: 'closed', why: 'inactive at the source', groups, leaving, closing, desired };
  return { kind: 'open', desired, groups, leaving, leftOut: await groupsLeftOut(scope, joined) };
}

/** Returns the groups of the source that the settings map, under their names at the target. */
async function expectedGroups(
  { drifts, target }: ReconcileScope,
  joined: readonly GroupName[],
): Promise<ExpectedGroup[]> {
  const named = joined.flatMap((group) => {
    const name = target.mapping.groupName(group.displayName);
    return name === undefined ? [] : [{ id: group.id, name }];
  });
  const found = await drifts.readLinks(groupRefs(named));
  return named.map(({ name }, index): ExpectedGroup => {
    const group = found[index];
    // The empty text gives an empty link: the group is not linked.
    const { id: platformId, isIncomplete } = parseLink(group?.text ?? '');
    const isComplete = platformId !== undefined && isIncomplete !== true && group?.marked !== true;
    const [refused, waiting] = group ? [refusedText(group, name), waitingGroupText(group, name)] : [];
    return { name, platformId, isComplete, refused, waiting };
  });
}

/** Returns the groups of the source that the settings leave out. */
async function groupsLeftOut(
  { links, target }: ReconcileScope,
  joined: readonly GroupName[],
): Promise<ExpectedGroup[]> {
  const excluded = joined.filter(({ displayName }) => target.mapping.groupName(displayName) === undefined);
  const known = await links.getMany(target.name, groupRefs(excluded));
  return excluded.map(({ displayName }, index) => ({
    name: String(known[index]?.core?.displayName ?? displayName),
    platformId: known[index]?.id,
  }));
}

/** Returns the words for a group whose last sync was refused; undefined: it was not, or a newer sync is to come. */
function refusedText({ ref, text, marked }: ObservedResource, name: string): string | undefined {
  const refusal = refusalOf(parseLink(text), marked);
  return (
    refusal &&
    `the group ${name} needs a person (${refusal.reason}: ${refusal.message}): scim-bridge explain ${ref} tells what to do`
  );
}

/** Returns the words for a group whose change waits; undefined: none does. A new group has no members before it is created. */
function waitingGroupText({ ref, text, marked }: ObservedResource, name: string): string | undefined {
  if (!marked) return undefined;
  const { id, condition, lastFailure, successionAttempts } = parseLink(text);
  const isNameTaken = successionAttempts !== undefined;
  const cause =
    (isTriedAgain(condition) ? condition?.message : lastFailure) ??
    (isNameTaken ? 'the platform does not give the name yet' : undefined);
  const what = id === undefined ? `the group ${name} is not made yet` : `a change of the group ${name} waits`;
  return `${what}${cause === undefined ? '' : ` (${cause.replace(/\.$/, '')})`}: scim-bridge explain ${ref} tells what it waits for`;
}

const groupRefs = (groups: readonly { id: string }[]) => groups.map(({ id }) => refOf('Group', id));

/** Decision about the account → state of a removal that the guard does not list itself. */
const STATES_WITH_ACCOUNT: Partial<Record<MemberDecision, LeavingGroup['state']>> = {
  rejected: 'withAccount',
  follows: 'withHeldAccount',
};

/** Returns the groups that the user left at the source, whose removals are not written or not confirmed yet. */
async function leavingOf(
  { outbox, drifts }: ReconcileScope,
  { ref, id }: FoundResource,
): Promise<LeavingGroup[]> {
  const { pendingMemberships, unconfirmedRemovals } = await outbox.resourceStatus(ref);
  const removals = leaving(pendingMemberships);
  const groups = [...removals, ...unconfirmedRemovals].map((group) => refOf('Group', group));
  const [found, verdicts, [decision]] = await Promise.all([
    drifts.readLinks(groups),
    outbox.guardStore.statesOf(
      groups.map((group) => ({ kind: 'removeMembers', ref: group, subject: id }) as const),
    ),
    outbox.guardStore.decisionsOfMembers([id]),
  ]);
  const undecided = (decision && STATES_WITH_ACCOUNT[decision]) ?? 'pending';
  return found.map((group, index) => {
    const { core, id: platformId } = parseLink(group.text);
    const name = String(core?.displayName ?? group.ref);
    // The unconfirmed removals are behind the pending ones in `groups`.
    const state = verdicts[index] ?? (index < removals.length ? undecided : 'unconfirmed');
    return { name, platformId, state, refused: state === 'pending' ? refusedText(group, name) : undefined };
  });
}
