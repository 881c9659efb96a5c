// Gathers the facts about a resource at one target for an explanation: reads what Redis stores (`readRedis`), looks at the
// platform if that may tell more (`lookIfNeeded`), and takes out the changes that the platform has already.
import { withPresentCondition } from '../ops/approvals/present-condition.ts';
import type { FoundResource } from '../ops/find.ts';
import { searchLog, type LocatedEntry } from '../ops/log/provisioning-log.ts';
import type { FleetFinding } from '../ops/status/fleet.ts';
import { unrecognisedBy } from '../directory/outbox/recognition.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import { parseRef, type Ref } from '../directory/records.ts';
import { awaitsDecision } from '../reconcile/compare/done-changes.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { backupText, ifOpen, readRestored, type Restored } from '../reconcile/tenant/restored.ts';
import { isoTime } from '../support/sources.ts';
import { withoutMade } from './already-made.ts';
import { groupDetail, userDetail } from './attribute-states.ts';
import { approvalOf, firstApprovalsOf, rejectionsOf } from './decided.ts';
import { isLetter, isLetterDone } from './done-letter.ts';
import type { ExplainedFacts, Explanation, MembershipState } from './explanation.ts';
import { handoverOf } from './handover.ts';
import { withLeftMemberships } from './left-by-policy.ts';
import { membershipsOfGroup } from './members-of-group.ts';
import { membershipsOfUser } from './memberships-of-user.ts';
import { lookAtPlatform } from './platform-look.ts';
import {
  conditionOf,
  formerRefusalText,
  linkOf,
  markOf,
  obstacleOf,
  policyFor,
  storedOf,
} from './stored-fields.ts';

/** Largest number of log entries in an explanation. */
const LOG_ENTRIES = 50;
/** Longest search of the log, milliseconds. The log may have a million entries of other resources. */
const LOG_MS = 10_000;

export interface ExplainOptions {
  /**
   * Whether the platform is read. By default it is not read if a pending change or a condition of the resource already explains a
   * difference. It is read all the same for a held or rejected change, a dead letter, or a target on hold.
   */
  readPlatform?: boolean | undefined;
  /** Time to look for entries of the provisioning log, milliseconds. */
  logMs?: number | undefined;
}

/** The facts of the explanation, and further ones that only its reasons need. */
interface GatheredFacts {
  facts: ExplainedFacts;
  /** The resource is a dead letter whose refused change is at the platform. */
  isDone: boolean;
  /**
   * A removal is already made at the platform, so no decision is awaited any more. The resource stays on the list of exceptions
   * until its next sync or the next reconcile.
   */
  isStillListed: boolean;
  /** Sentence about a refusal that the first sync after the end of the hold judges anew; undefined: none. */
  refusedBefore: string | undefined;
  /** The last restore of the connection, also if a reconcile has converged since. */
  lastRestore: Explanation['restored'];
}

export async function gatherExplainedFacts(
  scope: ReconcileScope,
  found: FoundResource,
  fleet: FleetFinding[],
  { readPlatform, logMs = LOG_MS }: ExplainOptions,
): Promise<GatheredFacts> {
  const { outbox, target } = scope;
  const inRedis = await readRedis(scope, found, logMs);
  const { storedLink, link, status, detail, hold, hasMoved, exception, approval, approvalExpired } = inRedis;
  const { seen, isShown } = await lookIfNeeded(scope, found, inRedis, readPlatform);
  const related = await withLeftMemberships(
    scope,
    found,
    status,
    inRedis.related,
    seen?.additionsLeftByPolicy,
  );
  const isAsDesired = seen?.isAsDesired ?? false;
  const isDone = isLetterDone(status, { ...detail, ...related, isAsDesired, link });
  // For a dead letter that still differs, `seen` is not shown: the condition explains the differences already.
  const look = isShown || isDone ? seen : null;
  const { memberships, members, removalsMade } = withoutMade(related, look?.pendingDone ?? [], status);
  // The condition is read again as for `link`, without the removals that are already made: it may have been about them alone.
  const others = withoutRemovals(status, removalsMade);
  const present = await withPresentCondition(outbox, found.ref, storedLink, others);
  // If no decision is awaited any more, the stored exception and `alarmAt` (next sync) are out of date until the next sync.
  const isDecided =
    storedLink.condition !== undefined &&
    present.condition === undefined &&
    !status.guard.some(({ state }) => state === 'held' || state === 'expired') &&
    !memberships.some(({ condition }) => condition === 'Held');
  // The breaker is read after the platform, because calls that succeed may close it. It is the breaker of the service, which makes
  // the calls for the changes; a command may have one of its own.
  const breaker = await target.serviceBreaker.read();
  const readsHandover = (readPlatform ?? true) && unrecognisedBy(hold, hasMoved) === undefined;
  const facts: ExplainedFacts = {
    connection: scope.connection,
    target: target.name,
    ref: found.ref,
    kind: found.kind,
    id: found.id,
    name: found.name,
    stored: storedOf(found),
    deletedAt: found.deleted ? isoTime(found.deleted.deletedAt) : null,
    ...detail,
    values: look?.values ?? detail.values,
    ...related,
    members,
    memberships,
    leftByHand: found.kind === 'User' ? removalsMade.map(({ name }) => name) : [],
    link: linkOf(link),
    platform: look?.platform ?? null,
    condition: await conditionOf(scope, found.ref, present),
    exception: exception && !isDecided ? { reason: exception.reason, since: isoTime(exception.since) } : null,
    deadLetterSince: status.blockedSince === null ? null : isoTime(status.blockedSince),
    mark: markOf(status),
    lookAgainAt: status.alarmAt === null || isDecided || approvalExpired ? null : isoTime(status.alarmAt),
    guard: status.guard.map(({ approvedUntil, ...change }) =>
      approvedUntil === undefined ? change : { ...change, until: isoTime(approvedUntil) },
    ),
    approval: approval ? `${scope.connection}.${approval.id}` : null,
    approvalExpired: approvalExpired ?? null,
    rejections: await rejectionsOf(scope, found, status.guard, memberships),
    firstApprovals: await firstApprovalsOf(scope, found, status.guard, memberships),
    suspectedDrift: status.suspectedDrift,
    hold: hold ? { since: isoTime(hold.since), by: hold.by, note: hold.note ?? null } : null,
    hasMoved,
    ...obstacleOf(breaker),
    fleet,
    policy: policyFor(scope, found.name),
    handover: found.kind === 'User' ? await handoverOf(scope, found, link, readsHandover) : null,
    lastReconcile: inRedis.lastRun
      ? { at: isoTime(inRedis.lastRun.endedAt), outcome: inRedis.lastRun.outcome }
      : null,
    restored: inWords(await ifOpen(inRedis.lastRestore, scope)),
    ...inRedis.log,
  };
  return {
    facts,
    isDone,
    isStillListed: exception !== undefined && isDecided && removalsMade.length > 0,
    refusedBefore: hold && formerRefusalText(storedLink, present, outbox.settings),
    lastRestore: inWords(inRedis.lastRestore),
  };
}

type RedisFacts = Awaited<ReturnType<typeof readRedis>>;

/** Reads what Redis stores about the resource, its memberships and the changes of both that wait for decisions. */
async function readRedis(scope: ReconcileScope, found: FoundResource, logMs: number) {
  const { outbox, links, target, runs } = scope;
  const [storedLink, status, hold, hasMoved, { last: lastRun }, log, exception, lastRestore] =
    await Promise.all([
      links.get(target.name, found.ref),
      outbox.resourceStatus(found.ref),
      outbox.guardStore.onHold(),
      outbox.hasMoved(),
      runs.read(),
      newestEntries(scope, found, logMs),
      outbox.exceptionOf(found.ref),
      readRestored(scope.acts),
    ]);
  const link = await withPresentCondition(outbox, found.ref, storedLink, status);
  const detail =
    found.kind === 'User' ? await userDetail(scope, found, link) : groupDetail(scope, found, link);
  const related =
    found.kind === 'User'
      ? { memberships: await membershipsOfUser(scope, found, status), members: null }
      : await membershipsOfGroup(scope, found, status);
  const { approval, expired: approvalExpired } = await approvalOf(scope, status, related.memberships);
  const ofResource = { storedLink, link, status, detail, related, log, exception, approval, approvalExpired };
  return { ...ofResource, hold, hasMoved, lastRun, lastRestore };
}

/**
 * Compares the resource with the platform, unless it is not to be read (`ExplainOptions.readPlatform`).
 * @returns `seen`: the result; null: the platform was not read. `isShown`: the result is shown; else it only tells whether the
 * refused change of a dead letter is made
 */
async function lookIfNeeded(
  scope: ReconcileScope,
  found: FoundResource,
  { status, hold, link, detail, related }: RedisFacts,
  readPlatform: boolean | undefined,
) {
  // No comparison reads a group that the settings leave out.
  const isLeftOut = found.kind === 'Group' && detail.inScope === false;
  // A condition, or a change at the guard, explains a difference.
  const isUnexplained = !link.condition && status.guard.length === 0;
  // No sync is about to change what a read would show: there is no mark, or the hold of the target stops the sync.
  const isAtRest = !status.mark || hold !== undefined;
  // A held or rejected change (`awaitsDecision`) is an explanation too, but somebody may have made it at the platform since.
  const readsByDefault = isAtRest && status.blockedSince === null && (isUnexplained || awaitsDecision(link));
  // Somebody may have made the refused change of a dead letter at the platform. The platform is not read while the breaker is open.
  const mayBeDone = isLetter(status) && !(await scope.target.breaker.read()).open;
  const seen =
    (readPlatform ?? (readsByDefault || mayBeDone)) && !isLeftOut && link.id !== undefined
      ? await lookAtPlatform(scope, found.ref, { ...detail, members: related.members?.desired ?? 0 })
      : null;
  return { seen, isShown: readPlatform || readsByDefault };
}

/** Returns the newest log entries of the resource; the search ends after `logMs` milliseconds, or LOG_ENTRIES entries. */
async function newestEntries(
  scope: ReconcileScope,
  { connection, ref }: FoundResource,
  logMs: number,
): Promise<Pick<Explanation, 'log' | 'isLogCut'>> {
  const end = scope.clock.now() + logMs;
  const log: LocatedEntry[] = [];
  const source = { connection, outboxes: new Map([[scope.target.name, scope.outbox]]) };
  for await (const { entry } of searchLog([source], { refs: [ref] })) {
    if (entry) log.push(entry);
    if (log.length >= LOG_ENTRIES || scope.clock.now() >= end) return { log, isLogCut: true };
  }
  return { log, isLogCut: false };
}

/**
 * Returns the status without the pending removals that the platform has already: a group waits for no decision about the removal of
 * a member whom it does not have there.
 */
function withoutRemovals(status: ResourceStatus, made: readonly MembershipState[]): ResourceStatus {
  const pendingMemberships = new Map(status.pendingMemberships);
  for (const { ref } of made) pendingMemberships.delete(parseRef(ref as Ref).id);
  return { ...status, pendingMemberships };
}

const inWords = (restored: Restored | undefined): Explanation['restored'] =>
  restored ? { at: isoTime(restored.at), backup: backupText(restored) } : null;
