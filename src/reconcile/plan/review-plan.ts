// Compares a saved plan with the present state before it is applied. The resources of its changes are verified again, and each
// change is sorted: left to apply; already made (carried-out.ts); or stale, because record, link or platform changed in another
// way. Three sorts of changes are judged apart: those that a run has to mark (`needsMark`), those whose resource had the mark of
// a push (`isMarked`), and followers, which the sync of another resource writes.
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import { storedNameOf } from '../../directory/member-names.ts';
import { canonicalJson } from '../../support/canonical-json.ts';
import { isChange, isMarked, needsMark, type Basis, type PlanEntry } from '../entry.ts';
import { learnKeyOwner } from '../compare/protected.ts';
import { withPresentHold } from '../handover/plan-handover.ts';
import { isCarriedOut } from './carried-out.ts';
import { createNarrowScan } from './narrow-scan.ts';
import { changesIn, countsOf, type Plan } from '../plan.ts';
import { createRepeater } from '../scan/repeat-after-429.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';
import { unrecognisedText } from '../tenant/tenant.ts';
import { verifyGroups } from '../compare/verify-groups.ts';
import { verifyUsers } from '../compare/verify-users.ts';
import type { VerifiedResource } from '../compare/verified.ts';

/** A resource, and the version of its record that was compared. */
interface ComparedRecord {
  ref: Ref | null;
  basis: Pick<Basis, 'version'>;
}

export interface PlanReview {
  /** Entries whose record, link or platform state has changed since the plan, and is not the state that the plan leads to. */
  stale: PlanEntry[];
  /** Resources of stale entries whose last write the platform refused: nothing is written there before a person acts. */
  refused: ReadonlySet<Ref>;
  /** The plan without the entries of which nothing is left to do. */
  left: Plan;
  /**
   * Users who are as desired and have a mark, for whose sync memberships of the plan wait: leavers who are to be removed, and
   * members who are to be added.
   */
  awaited: (ComparedRecord & { ref: Ref })[];
  /**
   * Number of changes of which nothing is left to do. Changes of an account or group that answered 404, and of the memberships that
   * ended with it, count too, although no list proved that it is gone.
   */
  done: number;
  /**
   * Number of changes that were pending when the plan was made, whose resource was synced since, and that are not made: they were
   * refused or rejected, or somebody undid them.
   */
  unmade: number;
}

/** Returns the scope of a saved plan. @throws Error if the settings do not have it */
export function scopeOfPlan<T extends { scope: ReconcileScope }>(
  { connection, target }: Plan,
  scopes: readonly T[],
): T {
  const found = scopes.find(({ scope }) => scope.connection === connection && scope.target.name === target);
  if (!found) throw new Error(`The plan is for ${connection} → ${target}, which the settings do not have.`);
  return found;
}

/**
 * Reads again the resources that a plan changes, except those that still have the mark of a push, and sorts the entries by whether
 * they are stale, already made or left to apply.
 * @returns undefined for a plan that was made with other mapping rules, of which nothing may be applied
 * @throws Error with what to do if the target may be another tenant, whose accounts would be compared
 */
export async function reviewPlan(
  scope: ReconcileScope,
  plan: Plan,
  signal: AbortSignal,
): Promise<PlanReview | undefined> {
  if (plan.mapping !== scope.digest) return undefined;
  const unrecognised = await scope.outbox.whyUnrecognised();
  if (unrecognised)
    throw new Error(
      `Nothing was changed: ${unrecognisedText(scope.target.name, unrecognised)}. Repeat the command after that.`,
    );
  const toMark = plan.entries.filter(needsMark);
  const scan = createNarrowScan(scope, signal, { repeatAfter429: createRepeater(scope, signal) });
  await learnKeyOwner(scope, signal);
  const ofToMark = await verifyAgain(scan, toMark);
  // Changes that the present comparison does not find in the same form: made already, or stale.
  const present = new Set([...ofToMark.values()].flatMap(({ entries }) => entries.map(essence)));
  const changed = toMark.filter((entry) => !present.has(essence(entry)));
  // The worker writes a change whose resource was marked before the plan, so a change of the platform does not make it stale. If
  // the mark is gone, the change may be made already.
  const marked = plan.entries.filter(isMarked);
  const synced = await withoutMark(scope, marked);
  const ofSynced = await verifyAgain(scan, synced);
  const done = new Set([
    ...changed.filter((entry) => isCarriedOut(entry, ofToMark)),
    ...synced.filter((entry) => isCarriedOut(entry, ofSynced)),
  ]);
  const { written, unwritten } = await reviewFollowers(scan, plan, [...toMark, ...marked], done);
  const finished = new Set([...done, ...written]);
  const entries = plan.entries.filter((entry) => !finished.has(entry));
  const handover = plan.handover && (await withPresentHold(scope, plan.handover));
  const left = { ...plan, entries, counts: countsOf(entries), ...(handover && { handover }) };
  // Users without a change of their own in the plan, for whose syncs its memberships wait.
  const users = await usersBesides(scan, left);
  const isBehindUser = (entry: PlanEntry): boolean =>
    isChange(entry) && !!entry.member?.ref && users.differing.has(entry.member.ref);
  const overtaken = await changedSince(scope, marked);
  return {
    stale: [
      ...new Set([
        ...changed.filter((entry) => !finished.has(entry)),
        ...unwritten,
        ...overtaken,
        ...entries.filter(isBehindUser),
      ]),
    ],
    refused: new Set([...ofToMark.values()].filter(({ refusal }) => refusal).map(({ ref }) => ref)),
    left,
    awaited: users.equal,
    done: changesIn(plan) - changesIn(left),
    unmade: synced.filter((entry) => entry.ref && ofSynced.has(entry.ref) && !done.has(entry)).length,
  };
}

/**
 * Sorts the followers whose writer is not marked again, because all its own changes are made: no sync of this plan writes them, so
 * each is checked by itself. The writer of a follower is the resource in its field `follows`.
 * @param changes the changes of the plan without the followers; `done`: those of them that are made
 * @returns `written`: followers that are made too; `unwritten`: followers that are not made, and that no pending sync writes
 */
async function reviewFollowers(
  scan: ScanResult,
  plan: Plan,
  changes: readonly PlanEntry[],
  done: ReadonlySet<PlanEntry>,
): Promise<{ written: PlanEntry[]; unwritten: PlanEntry[] }> {
  const remaining = new Set(changes.filter((entry) => !done.has(entry)).map(({ ref }) => ref));
  const ended = new Set([...done].map(({ ref }) => ref).filter((ref) => !remaining.has(ref)));
  const followers = plan.entries.filter(
    (entry) => isChange(entry) && entry.follows !== undefined && ended.has(entry.follows),
  );
  const verified = await verifyAgain(scan, followers);
  // An attribute definition has no ref. The changes of the user whose sync creates it (`follows`) are made, so the definition
  // exists.
  const isWritten = (entry: PlanEntry): boolean => entry.ref === null || isCarriedOut(entry, verified);
  // A follower of a marked group is not stale: the sync of the group is still to write it.
  const unwritten = await withoutMark(
    scan.scope,
    followers.filter((entry) => !isWritten(entry)),
  );
  return { written: followers.filter(isWritten), unwritten };
}

/** Returns the entries whose resource has no mark now. */
async function withoutMark({ drifts }: ReconcileScope, entries: readonly PlanEntry[]): Promise<PlanEntry[]> {
  const refs = [...new Set(entries.flatMap(({ ref }) => ref ?? []))];
  const marked = new Set<Ref | null>(await drifts.stillMarked(refs));
  return entries.filter(({ ref }) => !marked.has(ref));
}

/**
 * Returns the users for whose sync a membership of the plan waits although the plan has no change of them, by whether they are as
 * desired. A removal waits for the deactivation of the user. An addition waits for the sync of a user who has a mark: where a
 * mapping rule reads groups, the change of a membership marks the user too. A user who cannot be read counts as differing.
 */
async function usersBesides(
  scan: ScanResult,
  { entries }: Plan,
): Promise<{ equal: PlanReview['awaited']; differing: ReadonlySet<Ref> }> {
  const { drifts, outbox } = scan.scope;
  const changes = entries.filter(isChange);
  const changed = new Set(changes.flatMap(({ ref, member }) => (member ? [] : [ref])));
  // Users who differed when the plan was made, in a way that no run writes. A difference of this kind makes no addition stale.
  const reported = new Set(entries.flatMap((entry) => (entry.member || isChange(entry) ? [] : [entry.ref])));
  const usersOf = (action: PlanEntry['action']): Ref[] => {
    const users = changes.flatMap(({ action: each, member }) =>
      each === action && member?.ref && !changed.has(member.ref) ? [member.ref] : [],
    );
    return [...new Set(users)];
  };
  const leavers = usersOf('removeMember');
  const decisions = await outbox.guardStore.decisionsOfMembers(leavers.map((ref) => parseRef(ref).id));
  // `waits`: the removal waits for the deactivation of the user, for which no sync has asked the guard yet (guard_leavers.lua).
  const closing = new Set(leavers.filter((_, index) => decisions[index] === 'waits'));
  const added = await drifts.stillMarked(usersOf('addMember'));
  const awaited = [...new Set([...closing, ...added])];
  const verified = await verifyUsers(scan, awaited, { withValues: () => false });
  const equal = verified.flatMap(({ ref, version, entries: found }) =>
    version === undefined || found.some(isChange) ? [] : [{ ref, basis: { version } }],
  );
  const isEqual = new Set(equal.map(({ ref }) => ref));
  const isKnown = (ref: Ref): boolean => isEqual.has(ref) || (reported.has(ref) && !closing.has(ref));
  return { equal, differing: new Set(awaited.filter((ref) => !isKnown(ref))) };
}

/** Returns the entries whose record has another version than the one that was compared, in the order given. */
export async function changedSince<T extends ComparedRecord>(
  { directory }: ReconcileScope,
  entries: T[],
): Promise<T[]> {
  const versions = new Map<Ref, number>();
  for (const kind of ['User', 'Group'] as const) {
    const ids = entries.flatMap(({ ref }) => (ref?.startsWith(`${kind}:`) ? [parseRef(ref).id] : []));
    for (const { id, version } of await directory.getMany(kind, [...new Set(ids)]))
      versions.set(refOf(kind, id), version);
  }
  // Version 0: there is no record.
  return entries.filter(({ ref, basis }) => ref !== null && basis.version !== (versions.get(ref) ?? 0));
}

/** Verifies the resources of the entries again. @returns findings by ref; a resource that cannot be read is left out */
async function verifyAgain(
  scan: ScanResult,
  entries: readonly PlanEntry[],
): Promise<ReadonlyMap<Ref, VerifiedResource>> {
  const refsOf = (kind: PlanEntry['kind'], isMeant: (entry: PlanEntry) => boolean): Set<Ref> =>
    new Set(
      entries.flatMap((entry) => (entry.kind === kind && entry.ref && isMeant(entry) ? [entry.ref] : [])),
    );
  const users = refsOf('User', () => true);
  const groups = refsOf('Group', () => true);
  const valued = refsOf('User', ({ attribute }) => attribute !== undefined);
  const membered = refsOf('Group', ({ member }) => member !== undefined);
  // The plan's members are read first, because a comparison reads a limited number of accounts.
  const leaversFirst = new Map([...membered].map((ref) => [ref, new Set<string>()]));
  for (const { ref, member } of entries) if (ref && member) leaversFirst.get(ref)?.add(storedNameOf(member));
  const verified = [
    ...(await verifyUsers(scan, [...users], { withValues: (ref) => valued.has(ref) })),
    ...(await verifyGroups(scan, [...groups], { withMembers: (ref) => membered.has(ref), leaversFirst })),
  ];
  return new Map(verified.map((each) => [each.ref, each]));
}

/**
 * Returns the parts by which an entry of the reviewed plan is compared with a present one: all but kind, names, attribution, reason
 * and follows.
 */
const essence = ({
  action,
  ref,
  platformId,
  attribute,
  member,
  before,
  after,
  effect,
  basis,
}: PlanEntry): string =>
  canonicalJson({
    action,
    ref,
    platformId,
    attribute,
    before,
    // `active` of a new account is not compared: a value that cannot be written leaves the account inactive (unmappable.ts), which
    // the present entry does not show.
    after: action === 'create' && after ? { ...after, active: null } : after,
    effect,
    basis,
    member: member && { ref: member.ref, platformId: member.platformId },
  });
