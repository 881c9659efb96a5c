// Compares one connection with one target and makes the plan. It writes nothing at the platform. In Redis it marks the members of
// renamed groups, and `remember` may store fingerprints; all else that the next run has to know is returned as `findings`.
import type { Ref } from '../../directory/records.ts';
import { withLostCause } from '../compare/attribution.ts';
import { toDoneNote } from '../compare/done-changes.ts';
import { withTakenNames } from '../compare/namesake.ts';
import { applyRefusals } from '../compare/refusals.ts';
import type { PlanEntry } from '../entry.ts';
import { planHandover } from '../handover/plan-handover.ts';
import { countsOf, type Plan } from '../plan.ts';
import { withoutLeftOut } from '../scan/scan-groups.ts';
import type { ReconcileScope } from '../scope.ts';
import { asIfUnlinked } from '../tenant/as-if-unlinked.ts';
import { ifOpen, readRestored, type Restored } from '../tenant/restored.ts';
import { waitingBehindClosing } from '../unwritten/behind-closing.ts';
import { changedProtection } from '../unwritten/protection.ts';
import { healedByUserList } from '../unwritten/user-list-back.ts';
import { beginScan, scanLists, verifyRest, type PlanOptions } from './compare-all.ts';
import { entriesOf, deadLettersToEnd } from './plan-entries.ts';
import { exceptionsOfPlan } from './plan-exceptions.ts';
import { judgeTenant, unmappedUsers, findingsOf, type RunFindings } from './run-findings.ts';
import { isoTime } from '../../support/sources.ts';

/** Number of unread resources that a plan names. */
const MOST_UNREAD = 100;

/**
 * Compares all users and groups of the scope with the platform.
 * @returns the plan, and the findings that apply-plan.ts stores afterwards. If the platform may be another tenant than the one
 * that was linked, the plan is what would follow if an operator accepted the new tenant: it is made as if there were no links
 */
export async function makePlan(
  scope: ReconcileScope,
  options: PlanOptions,
): Promise<{ plan: Plan; findings: RunFindings }> {
  const startedAt = scope.clock.now();
  const run = await beginScan(scope, options);
  const { scan, mappedBy, rulesChanged, rulesAgree, mapsAll } = run;
  const lists = await scanLists(run);
  const { users, groups, verifiedGroups } = lists;
  const tenant = judgeTenant(users);
  if (tenant.tenantSuspicion !== undefined)
    return planAtAnotherTenant(scope, options, tenant.tenantSuspicion);
  const { values, seen } = await verifyRest(run, lists);
  const blocked = new Map((await scope.outbox.blocked()).map(({ ref, since }) => [ref, since]));
  const judged = applyRefusals(withLostCause(scan.lost, seen), {
    blocked,
    rulesChanged: mappedBy === undefined ? undefined : rulesChanged,
    settings: scope.outbox.settings,
  });
  const verified = await withTakenNames(scope, judged, users.strangers);
  const endedLetters = deadLettersToEnd(verified, blocked);
  const done = verified.flatMap((each) => each.done ?? []);
  const restored = await readRestored(scope.acts);
  const openRestore = await ifOpen(restored, scope);
  const deleted = values.definitions?.deleted;
  const entries = await entriesOf(
    run,
    lists,
    { verified, done, blocked, endedLetters, restored, openRestore, deleted },
    { ...options, startedAt },
  );
  const handover = await planHandover(scope, {
    signal: options.signal,
    isProven: users.proof.complete && scan.unread.size === 0,
    findConsoleAccounts: scan.findConsoleAccounts,
    entries,
  });
  const leftOut = verifiedGroups.flatMap(({ ref, leftOut: id }) => (id === undefined ? [] : [{ ref, id }]));
  const groupsToReview = verifiedGroups
    .filter(({ needsMemberReview }) => needsMemberReview)
    .map(({ ref }) => ref);
  const groupCoverage = withoutLeftOut(groups, leftOut);
  const membersRead = verifiedGroups.filter(({ isMembersRead }) => isMembersRead).length;
  const plan: Plan = {
    format: 'scim-bridge plan',
    formatVersion: 1,
    id: options.id,
    createdAt: isoTime(startedAt),
    connection: scope.connection,
    target: scope.target.name,
    mapping: scope.digest,
    proof: { users: users.proof, groups: groups.proof },
    unknown: scan.unread.size,
    ...(scan.unread.size > 0 && { unread: [...scan.unread.values()].slice(0, MOST_UNREAD) }),
    cost: {
      calls: scan.counts.calls,
      values: { read: values.read, of: values.of },
      // A group that came back or was lost is read too, and does not count as linked yet.
      members: { read: membersRead, of: Math.max(membersRead, groupCoverage.linked) },
      durationMs: scope.clock.now() - startedAt,
    },
    coverage: { users: users.coverage, groups: groupCoverage },
    exceptions: await exceptionsOfPlan(scope, done, waitingBehindClosing(entries)),
    ...(openRestore ? { restored: inIso(openRestore) } : {}),
    ...(handover ? { handover } : {}),
    counts: countsOf(entries),
    entries,
  };
  const isShown = (ref: Ref, platformId: string): boolean =>
    (ref.startsWith('User:') ? users : groups).isListed(platformId);
  return {
    plan,
    findings: {
      ...findingsOf({ groups, users, values, verified }, mapsAll && rulesAgree && !hasTypeConflict(entries)),
      rulesAgree,
      mapsAll,
      mappedBy,
      unmapped: unmappedUsers(verified, entries, scope.outbox.settings),
      lost: [
        ...scan.lost,
        ...leftOut.map(({ ref }) => ref),
        ...groupsToReview,
        ...(await changedProtection(scope)),
      ],
      isRepaired: scan.isRepaired,
      moved: scan.counts.moved,
      endedLetters: [...endedLetters, ...(await healedByUserList(scan, [...blocked.keys()]))],
      done: done.filter(({ marked }) => !marked).map(toDoneNote),
      isShown,
      ...tenant,
    },
  };
}

/**
 * Makes the plan as if there were no links, so that it ends without a suspicion about the tenant. Every user is mapped, because
 * without links none counts as equal.
 */
async function planAtAnotherTenant(
  scope: ReconcileScope,
  options: PlanOptions,
  tenantSuspicion: NonNullable<RunFindings['tenantSuspicion']>,
): Promise<{ plan: Plan; findings: RunFindings }> {
  const { plan, findings } = await makePlan(asIfUnlinked(scope), { ...options, mapsAll: true });
  // Accounts that were closed at the former tenant have no work here.
  const { handover: _, ...anew } = plan;
  return { plan: { ...anew, anotherTenant: tenantSuspicion }, findings: { ...findings, tenantSuspicion } };
}

/** Returns the times of a restore in the form of the plan. */
const inIso = ({ at, backupAt }: Restored): NonNullable<Plan['restored']> => ({
  at: isoTime(at),
  backup: backupAt === undefined ? null : isoTime(backupAt),
});

/**
 * Returns whether the platform defines an attribute with another type than the settings. Then the run does not
 * store that all users are mapped by these rules, so that every run maps all users again and shows the conflict.
 */
const hasTypeConflict = (entries: readonly PlanEntry[]): boolean =>
  entries.some(({ action, attribute }) => action === 'conflict' && attribute !== undefined);
