// Compares a resource and its memberships with the platform before a sync that an operator ordered. sync-one.ts chooses from the
// entries what it notes and which resources it syncs first; the operator's report shows the differences. A target that gives no good
// answer ends the command here (TargetSilent).
import { withNames } from '../../reconcile/compare/entry-names.ts';
import type { PlanEntry } from '../../reconcile/entry.ts';
import { compareOne, type ComparedOne } from '../../reconcile/plan/compare-one.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { TargetSilent, throwIfSilent } from '../../reconcile/target-silent.ts';
import { withToBeHeld } from '../../reconcile/unwritten/to-be-held.ts';
import { withUnreadyMembersReported } from '../../reconcile/unwritten/unready-members.ts';
import { withConflictsReported } from '../../reconcile/unwritten/conflicts-reported.ts';
import { withoutUnwritten } from '../../reconcile/unwritten/unwritten.ts';
import { answersOtherwise } from '../../sync/calls/absence.ts';
import type { FoundResource } from '../find.ts';
import { membershipEntries } from './membership-entries.ts';
import type { SyncReport } from './sync-outcome.ts';

/** Result of the comparison of a resource before its sync. */
interface BeforeSync extends Pick<SyncReport, 'differences' | 'pendingGroups'> {
  /**
   * The comparison with the platform. Null: the platform was not read because it may be another tenant, could not be read, or not
   * within the time limit. Then `entries` and `differences` are null too.
   */
  look: ComparedOne | null;
  /** All entries of the comparison, with `memberships`. */
  entries: PlanEntry[] | null;
  /** Entries of pending memberships that the comparison lacks. */
  memberships: readonly PlanEntry[];
}

/**
 * Compares a resource and its memberships with the platform, unless this may be another tenant.
 * @param limits `time` ends with the time limit, `stop` when the caller gives up, `signal` with either of them
 * @throws TargetSilent when the platform does not answer
 */
export async function compareBefore(
  scope: ReconcileScope,
  found: FoundResource,
  { signal, time, stop }: { signal: AbortSignal; time: AbortSignal; stop: AbortSignal },
): Promise<BeforeSync> {
  const { outbox } = scope;
  const readPending = async () =>
    Object.fromEntries((await outbox.resourceStatus(found.ref)).pendingMemberships);
  const unread = { look: null, entries: null, memberships: [], differences: null };
  // At another tenant the id of a link may lead to another account or group. The caller stores what the comparison finds (`orderSync`
  // in sync-one.ts), so a held change that only seems to be made there would no longer wait for a decision.
  if (await outbox.whyUnrecognised()) return { ...unread, pendingGroups: await readPending() };
  let failure: string | undefined;
  const noteFailure = (text: string): void => {
    failure = text;
  };
  const nullAtLimit = (error: unknown): null => {
    const isTimeOver = time.aborted && !stop.aborted;
    if (!isTimeOver) throw error;
    return null;
  };
  const read = await compareOne(scope, found.ref, { signal, noteFailure }).catch(nullAtLimit);
  // A sync that needs no write makes no call and would report `equal`, so a failed read is reported here.
  if (read === null && !time.aborted) {
    await throwIfOneReadFails(scope, failure, signal);
    await throwIfSilent(scope);
  }
  const pendingGroups = await readPending();
  const memberships =
    read && (await membershipEntries(scope, found, { look: read, pendingGroups, signal }).catch(nullAtLimit));
  // Without its memberships a resource counts as not read.
  if (!read || !memberships) return { ...unread, pendingGroups };
  const entries = [...read.entries, ...memberships];
  const differences = [...(await toDifferences(scope, found, entries)), ...(read.refusedNames ?? [])];
  return { look: read, entries, memberships, differences, pendingGroups };
}

/** Returns the entries with names for the report, and with the effect `report` for each that the sync does not write now. */
async function toDifferences(
  scope: ReconcileScope,
  found: FoundResource,
  entries: PlanEntry[],
): Promise<PlanEntry[]> {
  // `withoutUnwritten` comes first: like the sync, it judges the protection of a member by the name of the account.
  const named = await withNames(scope, await withoutUnwritten(scope, entries));
  const judged = found.kind === 'Group' ? await withUnreadyMembersReported(scope, named) : named;
  return withConflictsReported(await withToBeHeld(scope, judged, { inSync: true }));
}

/**
 * @param failure the last failed read, with its answer
 * @throws TargetSilent when the platform refused this read and answers others, so that a check of the target would find nothing
 */
async function throwIfOneReadFails(
  { target }: ReconcileScope,
  failure: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const last = target.answering.read()?.last;
  // Status 0: no complete answer. PlatformIntermediary: a proxy answered in place of the platform.
  const isAnswered = last !== undefined && last.status > 0 && last.error !== 'PlatformIntermediary';
  // A refused key and an open breaker concern all calls.
  if (failure === undefined || !isAnswered || last.status === 401 || (await target.breaker.read()).open)
    return;
  if (await answersOtherwise({ target, call: { signal } }, last))
    throw new TargetSilent(
      `The target ${target.name} answers other calls and not this one: ${failure}. Look at this resource ` +
        `at the platform, and at the rights of targets.${target.name}.token, then repeat the command.`,
    );
}
