// Explains why a user or group is, or is not, as desired at each target. The facts come from Redis and from a read of the
// platform.
import { findResources, type FoundResource, type Searched } from '../ops/find.ts';
import type { FleetFinding, ReadFleet } from '../ops/status/fleet.ts';
import { withPresentCondition } from '../ops/approvals/present-condition.ts';
import { searchLog, type LocatedEntry } from '../ops/log/provisioning-log.ts';
import { awaitsDecision } from '../reconcile/compare/done-changes.ts';
import { letterDoneText } from '../reconcile/plan/dead-letter-entries.ts';
import { backupText, ifOpen, readRestored, type Restored } from '../reconcile/tenant/restored.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { parseRef, type Ref } from '../directory/records.ts';
import { unrecognisedBy } from '../directory/outbox/recognition.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import type { ExplainedFacts, Explanation, MembershipState } from './explanation.ts';
import { withoutMade } from './already-made.ts';
import { membershipsOfGroup } from './members-of-group.ts';
import { membershipsOfUser } from './memberships-of-user.ts';
import { approvalOf, firstApprovalsOf, rejectionsOf } from './decided.ts';
import { withLeftMemberships } from './left-by-policy.ts';
import { lookAtPlatform } from './platform-look.ts';
import { toTimeline } from './timeline.ts';
import { formerRecordText, takeoverText } from './former-record.ts';
import { isLetter, isLetterDone } from './done-letter.ts';
import { handoverOf } from './handover.ts';
import { refusedGroupReasons } from './refused-groups.ts';
import { removedTargetReasons } from './removed-targets.ts';
import { toVerdict } from './verdict.ts';
import { isoTime } from '../support/sources.ts';
import { userDetail, groupDetail } from './attribute-states.ts';
import {
  storedOf,
  obstacleOf,
  linkOf,
  conditionOf,
  formerRefusalText,
  markOf,
  policyFor,
} from './stored-fields.ts';

/** Largest number of log entries in an explanation. */
const LOG_ENTRIES = 50;
/** Longest search of the log, milliseconds. The log may have a million entries of other resources. */
const LOG_MS = 10_000;

interface ExplainOptions {
  /**
   * Whether the platform is read. By default it is not read if a pending change or a condition of the resource already explains a
   * difference. It is read all the same for a held or rejected change, a dead letter, or a target on hold.
   */
  readPlatform?: boolean | undefined;
  /** Time to look for entries of the provisioning log, milliseconds. */
  logMs?: number | undefined;
}

/** Returns an explanation of each resource that `text` may identify (ops/find.ts), at every target; empty when there is none. */
export async function explain(
  scopes: readonly ReconcileScope[],
  text: string,
  readFleet: ReadFleet,
  options: ExplainOptions = {},
): Promise<Explanation[]> {
  const found = await findResources(connectionsOf(scopes), text);
  const { findings } = await readFleet();
  return Promise.all(
    found.flatMap((each) =>
      scopes
        .filter(({ connection }) => connection === each.connection)
        .map((scope) => explainAt(scope, each, findings, options)),
    ),
  );
}

/** Returns the distinct connections of the scopes. */
export function connectionsOf(scopes: readonly ReconcileScope[]): Searched[] {
  const byConnection = new Map<string, Searched>();
  for (const { connection, directory, links, target } of scopes) {
    const known = byConnection.get(connection) ?? { connection, directory, links, targets: [] };
    known.targets.push(target.name);
    byConnection.set(connection, known);
  }
  return [...byConnection.values()];
}

/**
 * Explains a resource at one target: reads what Redis stores, reads the platform or not (`ExplainOptions`), takes out the changes
 * that the platform has already, and then judges the facts.
 */
async function explainAt(
  scope: ReconcileScope,
  found: FoundResource,
  fleet: FleetFinding[],
  { readPlatform, logMs = LOG_MS }: ExplainOptions,
): Promise<Explanation> {
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
  const relatedInRedis =
    found.kind === 'User'
      ? { memberships: await membershipsOfUser(scope, found, status), members: null }
      : await membershipsOfGroup(scope, found, status);
  const { approval, expired: approvalExpired } = await approvalOf(scope, status, relatedInRedis.memberships);
  // No comparison reads a group that the settings leave out.
  const isLeftOut = found.kind === 'Group' && detail.inScope === false;
  // While a change waits for a decision, somebody may make it at the platform (see ExplainOptions.readPlatform).
  const isUnexplained = !link.condition && status.guard.length === 0;
  const isAtRest = !status.mark || hold !== undefined;
  const readsByDefault = isAtRest && status.blockedSince === null && (isUnexplained || awaitsDecision(link));
  // Somebody may have made the refused change of a dead letter at the platform. The platform is not read while the breaker is open.
  const mayBeDone = isLetter(status) && !(await target.breaker.read()).open;
  const seen =
    (readPlatform ?? (readsByDefault || mayBeDone)) && !isLeftOut && link.id !== undefined
      ? await lookAtPlatform(scope, found.ref, { ...detail, members: relatedInRedis.members?.desired ?? 0 })
      : null;
  const related = await withLeftMemberships(
    scope,
    found,
    status,
    relatedInRedis,
    seen?.additionsLeftByPolicy,
  );
  const isAsDesired = seen?.isAsDesired ?? false;
  const isDone = isLetterDone(status, { ...detail, ...related, isAsDesired, link });
  // For a dead letter that still differs, `seen` is not shown: the condition explains the differences already.
  const look = readPlatform || readsByDefault || isDone ? seen : null;
  const { memberships, members, left } = withoutMade(related, look?.pendingDone ?? [], status);
  const statusLeft = withoutRemovals(status, left);
  const present = await withPresentCondition(outbox, found.ref, storedLink, statusLeft);
  // If no decision is awaited any more, the stored exception and alarm are out of date until the next sync.
  const isDecided =
    storedLink.condition !== undefined &&
    present.condition === undefined &&
    !status.guard.some(({ state }) => state === 'held' || state === 'expired') &&
    !memberships.some(({ condition }) => condition === 'Held');
  // Read last, because the read of the platform may close the breaker. A command may have a breaker of its own, but the service
  // makes the calls for the changes.
  const breaker = await target.serviceBreaker.read();
  const readsHandover = (readPlatform ?? true) && unrecognisedBy(hold, hasMoved) === undefined;
  const facts = {
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
    leftByHand: found.kind === 'User' ? left.map(({ name }) => name) : [],
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
    handover: found.kind === 'User' ? await handoverOf(scope, found.ref, link, readsHandover) : null,
    lastReconcile: lastRun ? { at: isoTime(lastRun.endedAt), outcome: lastRun.outcome } : null,
    restored: inWords(await ifOpen(lastRestore, scope)),
    ...log,
  };
  // With `isDone` the refused values are at the platform: refusal and applied values explain nothing.
  const verdict = toVerdict(
    isDone ? { ...facts, condition: null, deadLetterSince: null, values: [] } : facts,
  );
  const reasons = await allReasons(scope, found, facts, {
    ofVerdict: verdict.reasons,
    isDone,
    isStillListed: exception !== undefined && isDecided && left.length > 0,
    refusedBefore: hold && formerRefusalText(storedLink, present, outbox.settings),
  });
  return {
    ...facts,
    ...verdict,
    reasons,
    // The timeline shows a restore also after a reconcile has converged.
    timeline: toTimeline({ ...facts, restored: inWords(lastRestore) }),
  };
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

/**
 * Returns the sentences below the summary: those of the verdict, and those for which Redis or the platform is read besides.
 * @param told.isDone the resource is a dead letter whose refused change is at the platform
 * @param told.isStillListed the resource is an exception although no decision is awaited any more
 * @param told.refusedBefore sentence about a refusal that the first sync after the end of the hold judges anew
 */
async function allReasons(
  scope: ReconcileScope,
  found: FoundResource,
  facts: ExplainedFacts,
  {
    ofVerdict,
    isDone,
    isStillListed,
    refusedBefore,
  }: { ofVerdict: string[]; isDone: boolean; isStillListed: boolean; refusedBefore: string | undefined },
): Promise<string[]> {
  const former =
    facts.link.platformId === null
      ? ((await formerRecordText(scope, found, facts.nameAtTarget ?? found.name)) ??
        (refusedBefore === undefined ? takeoverText(facts) : undefined))
      : undefined;
  const refused = found.kind === 'User' ? await refusedGroupReasons(scope, facts.memberships) : [];
  // For a person without a condition the first refused group stands above the decisions about groups, so that a short page still
  // shows its advice.
  const ofFirst = facts.condition === null ? refused.splice(0, 1) : [];
  return [
    ...ofFirst,
    ...ofVerdict,
    ...(isDone ? [`It is still a dead letter: ${letterDoneText(found.ref)}.`] : []),
    ...(isStillListed
      ? [
          `It is still on the list of exceptions: the next reconcile, or scim-bridge sync ${found.ref}, takes it off.`,
        ]
      : []),
    ...(refusedBefore === undefined ? [] : [refusedBefore]),
    ...(former === undefined ? [] : [former]),
    ...refused,
    ...(facts.handover ? [facts.handover.text] : []),
    ...(await removedTargetReasons(scope, found)),
  ];
}

const inWords = (restored: Restored | undefined): Explanation['restored'] =>
  restored ? { at: isoTime(restored.at), backup: backupText(restored) } : null;

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
