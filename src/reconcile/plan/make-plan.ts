// Compares one connection with one target and makes the plan. It writes nothing at the platform. In Redis it marks the members of
// renamed groups, and `remember` may store fingerprints; all else that the next run has to know is returned as `findings`.
import { isRepaired } from '../../directory/outbox/runs.ts';
import type { Ref } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import { unmappedEntries } from '../tenant/applied-attributes.ts';
import { attributeDrift, earliestDrift, withLostCause, type DriftFacts } from '../compare/attribution.ts';
import type { ReadTrail } from '../scan/audit-trail.ts';
import { waitingBehindClosing } from '../unwritten/behind-closing.ts';
import { createVisibility } from '../compare/compare.ts';
import { readOrphans, type Orphans } from '../scan/cover.ts';
import { toDoneNote } from '../compare/done-changes.ts';
import { countUnverified } from '../compare/look-again.ts';
import { DESTRUCTIVE, isDrift, type PlanEntry } from '../entry.ts';
import { withNames } from '../compare/entry-names.ts';
import { readValueWrites } from '../compare/last-writes.ts';
import { withFollowers } from './followers.ts';
import type { ReconcileScope, Progress, ScanResult } from '../scope.ts';
import { verifyGroups } from '../compare/verify-groups.ts';
import { verifyUsers } from '../compare/verify-users.ts';
import { withTakenNames } from '../compare/namesake.ts';
import type { VerifiedResource } from '../compare/verified.ts';
import { verifyValues } from '../compare/verify-values.ts';
import { heldEntries } from '../unwritten/held.ts';
import { blockedEntries, unmanagedEntries } from './reported-entries.ts';
import { planHandover } from '../handover/plan-handover.ts';
import { countsOf, inReadingOrder, type Plan } from '../plan.ts';
import { ifOpen, readRestored, withRestoredCause, type Restored } from '../tenant/restored.ts';
import { changedProtection } from '../unwritten/protection.ts';
import { asIfUnlinked } from '../tenant/as-if-unlinked.ts';
import { applyRefusals } from '../compare/refusals.ts';
import { withToBeHeld } from '../unwritten/to-be-held.ts';
import { withoutUnwritten } from '../unwritten/unwritten.ts';
import { scanGroups, withoutLeftOut, type GroupChoice, type GroupScan } from '../scan/scan-groups.ts';
import type { UserScan } from '../scan/compare-user-page.ts';
import { scanUsers } from '../scan/scan-users.ts';
import { unmappedUsers, recognised, findingsOf, type RunFindings } from './run-findings.ts';
import { exceptionsOfPlan } from './plan-exceptions.ts';

/** Number of users that are verified with one read of their links. */
const VERIFIED_AT_ONCE = 500;

export interface PlanOptions {
  /** Reads the members of all groups and the attribute values of all users. */
  full?: boolean;
  /** Maps every user even if the mapping rules did not change. */
  mapsAll?: boolean;
  signal: AbortSignal;
  onProgress?: (progress: Progress) => void;
  readTrail?: ReadTrail | undefined;
  /** Stores fingerprints of equal accounts; undefined: nothing is written. */
  remember?: ScanResult['remember'];
  /** Id of the plan (`Plan.id`). */
  id: string;
}

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
  const { scan, mappedBy, rulesChanged, rulesAgree, mapsAll, full } = await beginScan(scope, options);
  const orphans = await readOrphans(scan);
  // Groups are read in parallel to the longer list of users.
  const userWork = scanUsers(scan, mapsAll, orphans.User);
  scan.unmanagedAccounts = userWork.then(
    ({ unmanaged }) => unmanaged,
    () => new Map<string, string>(),
  );
  const groupWork = lookAtGroups(scan, { mapsAll, full }, orphans.Group);
  groupWork.catch(() => undefined); // awaited below
  const users = await userWork;
  const { groups, verified: verifiedGroups } = await groupWork;
  const { tenantSuspicion } = recognised(users);
  if (tenantSuspicion !== undefined) {
    const { plan, findings } = await makePlan(asIfUnlinked(scope), { ...options, mapsAll: true });
    // Accounts that were closed at the former tenant have no work here.
    const { handover: _, ...anew } = plan;
    return { plan: { ...anew, anotherTenant: tenantSuspicion }, findings: { ...findings, tenantSuspicion } };
  }
  const leftOut = verifiedGroups.flatMap(({ ref, leftOut: id }) => (id === undefined ? [] : [{ ref, id }]));
  const back = verifiedGroups.filter(({ isBack }) => isBack).map(({ ref }) => ref);
  const values = await verifyValues(scan, full);
  // []: verifySuspects reads all values of these users.
  for (const ref of values.suspects) users.suspects.set(ref, []);
  const alone = await verifySuspects(scan, users, values.suspects);
  values.failed += countUnverified(values.suspects, alone);
  const seen = [...oncePerUser([...users.settled, ...alone]), ...verifiedGroups];
  const blocked = new Map((await scope.outbox.blocked()).map(({ ref, since }) => [ref, since]));
  const judged = applyRefusals(withLostCause(scan.lost, seen), {
    blocked,
    rulesChanged: mappedBy === undefined ? undefined : rulesChanged,
    settings: scope.outbox.settings,
  });
  const verified = await withTakenNames(scope, judged, users.strangers);
  const restored = await readRestored(scope.acts);
  const openRestore = await ifOpen(restored, scope);
  const attributed = await withCauses(scope, verified, options, {
    startedAt,
    restored: openRestore,
    deleted: values.definitions?.deleted,
  });
  const proven = withoutProof(attributed, users, groups);
  const found = await withFollowers(scan, proven, verified, {
    always: mapsAll || full,
    isConflictPerAttribute: true,
  });
  const done = verified.flatMap((each) => each.done ?? []);
  const doneLetters = lettersDone(verified, blocked);
  // The dead letter of a user who could not be read stays in the plan.
  const mapsEveryone = mapsAll && scan.unread.size === 0;
  const letters = await blockedEntries(scope, [...blocked.keys()], found, {
    done: doneLetters,
    mapsAll: mapsEveryone,
  });
  const named = await withNames(
    scope,
    [
      ...(await withToBeHeld(scope, await withoutUnwritten(scope, found))),
      ...letters,
      ...unmanagedEntries(users, groups, [...found, ...letters], restored),
      ...(await unmappedEntries(scope)),
      ...(await heldEntries(
        scope,
        found,
        done.flatMap(({ items }) => items),
      )),
    ],
    users.unmanaged,
  );
  const entries = inReadingOrder(await withRestoredCause(named, openRestore, scope.directory));
  const handover = await planHandover(scope, {
    signal: options.signal,
    isProven: users.proof.complete && scan.unread.size === 0,
    entries,
  });
  const groupCoverage = withoutLeftOut(groups, leftOut);
  const membersRead = verifiedGroups.filter(({ isMembersRead }) => isMembersRead).length;
  const plan: Plan = {
    format: 'scim-bridge plan',
    formatVersion: 1,
    id: options.id,
    createdAt: new Date(startedAt).toISOString(),
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
      lost: [...scan.lost, ...leftOut.map(({ ref }) => ref), ...back, ...(await changedProtection(scope))],
      isRepaired: scan.isRepaired,
      moved: scan.counts.moved,
      doneLetters,
      done: done.filter(({ marked }) => !marked).map(toDoneNote),
      isShown,
      ...recognised(users),
    },
  };
}

/** Prepares the comparison, and decides whether all users are mapped and all members and values are read. */
async function beginScan(scope: ReconcileScope, options: PlanOptions) {
  // Marks the members of renamed groups that have no mark yet; without one they would count as synced with the new name.
  await scope.directory.markRenamed();
  const [mappedBy, hasMoved, rulesAgree] = await Promise.all([
    scope.runs.mappedBy(),
    scope.outbox.hasMoved(),
    scope.rulesAgree(),
  ]);
  const rulesChanged = mappedBy !== scope.digest;
  const mapsAll = (options.mapsAll ?? false) || rulesChanged;
  if (mapsAll) await scope.coverage.readAllAnew();
  const scan: ScanResult = {
    scope,
    signal: options.signal,
    visibility: createVisibility(),
    counts: { calls: 0, moved: 0 },
    unread: new Map(),
    onProgress: options.onProgress ?? (() => undefined),
    lost: new Set(),
    isRepaired: isRepaired(mappedBy),
    hasMoved,
    remember: options.remember ?? (() => Promise.resolve()),
  };
  const full = (options.full ?? false) || scan.isRepaired;
  return { scan, mappedBy, rulesChanged, rulesAgree, mapsAll, full };
}

/**
 * Returns the dead letters whose refused change somebody made at the platform: the run marks them, and their sync ends the dead
 * letter. A refused deletion is left out, because no comparison sees whether the closed account of a leaver was deleted.
 */
const lettersDone = (verified: readonly VerifiedResource[], blocked: ReadonlyMap<Ref, number>): Ref[] =>
  verified.flatMap(({ ref, refusal, entries: differing, areValuesUnread }) =>
    blocked.has(ref) && refusal && refusal.write !== 'delete' && differing.length === 0 && !areValuesUnread
      ? [ref]
      : [],
  );

/** Returns all entries, those about drift with their cause. Reads the audit log of the platform only if there is drift. */
async function withCauses(
  scope: ReconcileScope,
  verified: VerifiedResource[],
  { readTrail, signal }: PlanOptions,
  { startedAt, ...facts }: { startedAt: number } & Pick<DriftFacts, 'restored' | 'deleted'>,
): Promise<PlanEntry[]> {
  const lastWrite = await readValueWrites(scope, verified);
  const since = earliestDrift(verified, lastWrite);
  const hasDrift = verified.some(({ entries }) => entries.some(isDrift));
  const trail = hasDrift ? await readTrail?.(since ?? startedAt, signal) : undefined;
  return attributeDrift(verified, { trail, lastWrite, ...facts });
}

/** Returns the times of a restore in the form of the plan. */
const inIso = ({ at, backupAt }: Restored): NonNullable<Plan['restored']> => ({
  at: new Date(at).toISOString(),
  backup: backupAt === undefined ? null : new Date(backupAt).toISOString(),
});

/**
 * Returns whether the platform defines an attribute with another type than the settings. Then the run does not
 * store that all users are mapped by these rules, so that every run maps all users again and shows the conflict.
 */
const hasTypeConflict = (entries: readonly PlanEntry[]): boolean =>
  entries.some(({ action, attribute }) => action === 'conflict' && attribute !== undefined);

/** Scans the list of groups, and verifies each group that may differ. */
async function lookAtGroups(
  scan: ScanResult,
  choice: GroupChoice,
  orphans: Orphans,
): Promise<{ groups: GroupScan; verified: VerifiedResource[] }> {
  const groups = await scanGroups(scan, choice, orphans);
  const verified = await verifyGroups(scan, [...groups.suspects], {
    withMembers: (ref) => groups.withMembers.has(ref),
    ...(groups.proof.complete ? { strangers: groups } : {}),
  });
  return { groups, verified };
}

/**
 * Verifies the users that differ in the list or were not compared with it.
 * @param withValues users whose attribute values are read too
 */
async function verifySuspects(
  scan: ScanResult,
  users: UserScan,
  withValues: Set<Ref>,
): Promise<VerifiedResource[]> {
  const options = {
    withValues: (ref: Ref) => withValues.has(ref) || users.valued.has(ref),
    ...(users.proof.complete ? { strangers: users.strangers } : {}),
  };
  const found: VerifiedResource[] = [];
  for (const refs of inPortions([...users.suspects.keys(), ...users.unseen], VERIFIED_AT_ONCE))
    found.push(...(await verifyUsers(scan, refs, options)));
  return found;
}

/**
 * Returns the last result of each user: the list may have settled a user who was then verified alone, with all values, because a
 * value that no list shows differs too or because a mark came meanwhile.
 */
const oncePerUser = (found: readonly VerifiedResource[]): VerifiedResource[] => [
  ...new Map(found.map((each) => [each.ref, each])).values(),
];

/** Returns the entries; if a list was incomplete, destructive entries caused by drift are only reported. */
function withoutProof(entries: PlanEntry[], users: UserScan, groups: GroupScan): PlanEntry[] {
  if (users.proof.complete && groups.proof.complete) return entries;
  return entries.map((entry) =>
    DESTRUCTIVE.has(entry.action) && isDrift(entry)
      ? { ...entry, effect: 'report', reason: `${entry.reason}; the platform's lists were incomplete` }
      : entry,
  );
}
