// Makes the entries of a plan from the verified resources: their causes, what follows from them, and what is only reported.
import type { Ref } from '../../directory/records.ts';
import type { DoneChanges } from '../compare/done-changes.ts';
import { attributeDrift, earliestDrift, type DriftFacts } from '../compare/attribution.ts';
import { withNames } from '../compare/entry-names.ts';
import { readValueWrites } from '../compare/last-writes.ts';
import type { VerifiedResource } from '../compare/verified.ts';
import { DESTRUCTIVE, isAsDesired, isDrift, reportedAs, type PlanEntry } from '../entry.ts';
import { inReadingOrder } from '../plan.ts';
import type { UserScan } from '../scan/user-scan.ts';
import type { GroupScan } from '../scan/scan-groups.ts';
import type { ReconcileScope } from '../scope.ts';
import { unmappedEntries } from '../tenant/applied-attributes.ts';
import { withRestoredCause, type Restored } from '../tenant/restored.ts';
import { heldEntries } from '../unwritten/held.ts';
import { withToBeHeld } from '../unwritten/to-be-held.ts';
import { withoutUnwritten } from '../unwritten/unwritten.ts';
import type { Lists, PlanOptions, ComparisonRun } from './compare-all.ts';
import { withFollowers } from './followers.ts';
import { deadLetterEntries } from './dead-letter-entries.ts';
import { unmanagedEntries } from './unmanaged-entries.ts';

/** The verified resources, with what tells the causes of their differences. */
interface Judged {
  verified: VerifiedResource[];
  /** Changes that wait for a decision or were rejected, and that somebody has made at the platform. */
  doneChanges: DoneChanges[];
  /** Dead letters with the time of their condition, Unix milliseconds. */
  deadLetters: ReadonlyMap<Ref, number>;
  /** Dead letters whose refused change somebody made at the platform (`deadLettersToEnd`). */
  equalDeadLetters: Ref[];
  /** Dead letters about an account that another connection has given up (`givenUpElsewhere`). */
  givenUp: ReadonlySet<Ref>;
  lastRestore: Restored | undefined;
  /** The last restore, if it may still explain differences (`ifOpen` in tenant/restored.ts). */
  openRestore: Restored | undefined;
  /** Attributes whose definition was deleted at the platform. */
  deleted: DriftFacts['deleted'];
}

/**
 * Returns all entries of the plan in the order in which they are read. The steps:
 * 1. Drift gets its cause.
 * 2. If a list was incomplete, destructive drift is only reported.
 * 3. Entries that follow from others are added.
 * 4. Dead letters are added that are no conflict yet.
 * 5. Of the result of 3, the changes that no sync writes are taken out.
 * 6. Of the changes that are left, each that the guard will hold gets a note. Only changes that are left count towards its limits.
 * 7. Unmanaged accounts and groups, unmapped attributes and held changes are added.
 * 8. All entries get their names, and the cause of an open restore.
 */
export async function entriesOf(
  { scan, mapsAll, full }: ComparisonRun,
  { users, groups }: Lists,
  {
    verified,
    doneChanges,
    deadLetters,
    equalDeadLetters,
    givenUp,
    lastRestore,
    openRestore,
    deleted,
  }: Judged,
  options: PlanOptions & { startedAt: number },
): Promise<PlanEntry[]> {
  const { scope } = scan;
  const withCause = await withCauses(scope, verified, options, { openRestore, deleted }); // 1
  const proven = reportedWithoutProof(withCause, users, groups); // 2
  const found = await withFollowers(scan, proven, verified, {
    // The settings or a definition may have changed, so definitions are read even if no user changes.
    readsWithoutChange: mapsAll || full || (deleted?.size ?? 0) > 0,
    isConflictPerAttribute: true,
  }); // 3
  const ofDeadLetters = await deadLetterEntries(scope, [...deadLetters.keys()], found, {
    equal: equalDeadLetters,
    givenUp,
    // The dead letter of a user who could not be read stays in the plan.
    mapsAll: mapsAll && scan.unread.size === 0,
  }); // 4
  const written = await withoutUnwritten(scope, found); // 5
  const changes = await withToBeHeld(scope, written); // 6
  const doneItems = doneChanges.flatMap(({ items }) => items);
  const entries = [
    ...changes,
    ...ofDeadLetters,
    ...unmanagedEntries(users, groups, [...found, ...ofDeadLetters], lastRestore),
    ...(await unmappedEntries(scope)),
    ...(await heldEntries(scope, found, doneItems)),
  ]; // 7
  const named = await withNames(scope, entries, users.unmanaged); // 8
  return inReadingOrder(await withRestoredCause(named, openRestore, scope.directory));
}

/**
 * Returns the dead letters whose refused change somebody made at the platform: the run marks them, and their sync ends the dead
 * letter. A refused deletion is left out, because no comparison sees whether the closed account of a leaver was deleted.
 */
export const deadLettersToEnd = (
  verified: readonly VerifiedResource[],
  deadLetters: ReadonlyMap<Ref, number>,
): Ref[] =>
  verified.flatMap(({ ref, refusal, entries: differing, areValuesUnread }) =>
    deadLetters.has(ref) &&
    refusal &&
    refusal.write !== 'delete' &&
    isAsDesired(differing) &&
    !areValuesUnread
      ? [ref]
      : [],
  );

/** Returns all entries, those about drift with their cause. Reads the audit log of the platform only if there is drift. */
async function withCauses(
  scope: ReconcileScope,
  verified: VerifiedResource[],
  { readTrail, signal, startedAt }: PlanOptions & { startedAt: number },
  facts: Pick<DriftFacts, 'openRestore' | 'deleted'>,
): Promise<PlanEntry[]> {
  const lastWrite = await readValueWrites(scope, verified);
  const since = earliestDrift(verified, lastWrite);
  const hasDrift = verified.some(({ entries }) => entries.some(isDrift));
  // Without `since` no difference has a known time, so the log is read from the start of the run.
  const trail = hasDrift ? await readTrail?.(since ?? startedAt, signal) : undefined;
  return attributeDrift(verified, { trail, lastWrite, ...facts });
}

/** Returns the entries; if a list was incomplete, destructive entries caused by drift are only reported. */
function reportedWithoutProof(entries: PlanEntry[], users: UserScan, groups: GroupScan): PlanEntry[] {
  if (users.proof.complete && groups.proof.complete) return entries;
  return entries.map((entry) =>
    DESTRUCTIVE.has(entry.action) && isDrift(entry) && entry.effect === 'apply'
      ? reportedAs(entry, "; the platform's lists were incomplete")
      : entry,
  );
}
