// Syncs one user or group on the order of an operator: compares the resource with the platform, and then runs the same sync as the
// workers, under the same lease and guard.
import type { Actor } from '../../directory/logs/acts.ts';
import { refOf, type Ref } from '../../directory/records.ts';
import { noteDone, toDoneNote } from '../../reconcile/compare/done-changes.ts';
import { toDrifts } from '../../reconcile/apply/to-drifts.ts';
import { isRename } from '../../reconcile/compare/group-names.ts';
import { compareOne, type ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { isChange, needsMark, NEWLY_LINKED, type PlanEntry } from '../../reconcile/entry.ts';
import { withNames } from '../../reconcile/compare/entry-names.ts';
import { keptBySettings } from '../../reconcile/unwritten/left-by-settings.ts';
import { withToBeHeld } from '../../reconcile/unwritten/to-be-held.ts';
import { withUnreadyMembersReported } from '../../reconcile/unwritten/unready-members.ts';
import { withConflictsReported } from '../../reconcile/unwritten/conflicts-reported.ts';
import { withoutUnwritten } from '../../reconcile/unwritten/unwritten.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import type { Logger } from '../../support/logger.ts';
import { TargetSilent, throwIfSilent } from '../../reconcile/target-silent.ts';
import { answersOtherwise } from '../../sync/calls/absence.ts';
import { syncResource } from '../../sync/sync-resource.ts';
import type { FoundResource } from '../find.ts';
import { withGone } from './gone-account.ts';
import type { LocatedEntry } from '../log/provisioning-log.ts';
import { membershipEntries } from './membership-entries.ts';
import { createSteps } from './sync-steps.ts';
import { withHold, withNotCompared } from './sync-end.ts';
import { timeLimit } from '../../support/time-limit.ts';
import { endOfSyncs } from './end-of-syncs.ts';
import { syncNow } from './sync-now.ts';
import type { SyncReport } from './sync-outcome.ts';

interface SyncOneOptions {
  dryRun: boolean;
  actor: Actor;
  /** Longest time of reads and syncs together. */
  limitMs: number;
  logger: Logger;
  signal: AbortSignal;
  /** Called with every new log entry. */
  onStep?: (step: LocatedEntry) => void;
}

/**
 * Compares a resource with the platform, marks it and runs its sync until it ends or the time is over.
 * @throws TargetSilent when the platform does not answer
 */
export async function syncOne(
  scope: ReconcileScope,
  found: FoundResource,
  options: SyncOneOptions,
): Promise<SyncReport> {
  const { connection, target } = scope;
  const { ref, name, kind } = found;
  const { dryRun, actor, logger, onStep } = options;
  const time = timeLimit(options.limitMs);
  const signal = AbortSignal.any([options.signal, time]);
  const before = await compareBefore(scope, found, { signal, time, stop: options.signal });
  const { look, entries, memberships, differences, pendingGroups } = before;
  const common = { connection, target: target.name, ref, name, dryRun, differences, pendingGroups };
  if (dryRun) {
    const isUnknown = look?.areValuesUnread && !differences?.some(isChange);
    const end = withGone(await withHold(scope, found, differences), look);
    return {
      ...common,
      differences: isUnknown ? null : differences,
      steps: [],
      ...withNotCompared(end, kind, look?.notCompared),
    };
  }
  const { others, deletedGroups, nameHolders } = resourcesToSync(found, look?.entries ?? [], memberships);
  const steps = createSteps(scope, [ref, ...others, ...deletedGroups, ...nameHolders], onStep);
  await steps.start();
  const unnoted = await orderSync(scope, found, { look, pendingGroups, actor });
  const untilEnded = { logger, signal };
  // Each group is synced once here: syncNow of the person syncs the groups again that have to write a membership.
  for (const other of others)
    if (kind === 'User') await syncResource({ ...scope, logger }, other, 'edit', signal);
    else await syncNow(scope, other, untilEnded, steps.read);
  await syncNow(scope, ref, untilEnded, steps.read, nameHolders);
  await steps.read();
  const end = await endOfSyncs(scope, found, { look, entries, differences, others, pendingGroups, unnoted });
  return { ...common, steps: steps.reported, ...end };
}

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
async function compareBefore(
  scope: ReconcileScope,
  found: FoundResource,
  { signal, time, stop }: { signal: AbortSignal; time: AbortSignal; stop: AbortSignal },
): Promise<BeforeSync> {
  const { outbox } = scope;
  const readPending = async () =>
    Object.fromEntries((await outbox.resourceStatus(found.ref)).pendingMemberships);
  const unread = { look: null, entries: null, memberships: [], differences: null };
  // At another tenant the id of a link may lead to another account or group. Its comparison would be stored, and end held changes.
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
 * Returns the resources to sync with a user or group, besides those with a pending membership of it.
 * @param compared entries of the comparison with the platform
 * @param memberships entries of pending memberships that the comparison lacks
 * @returns `others`: of a person the groups that are gone at the platform, or have another name there; of a group the members whose
 *   account is gone. Access goes by the groups and needs the account, so they are synced first. `deletedGroups`: groups that the
 *   source deleted. The log entry of such a deletion need not name the person, so it is found by the ref of the group.
 *   `nameHolders`: people whose accounts have the userName of this person, because somebody renamed the accounts
 */
function resourcesToSync(
  { kind, ref }: FoundResource,
  compared: readonly PlanEntry[],
  memberships: readonly PlanEntry[],
): { others: Ref[]; deletedGroups: Ref[]; nameHolders: Ref[] } {
  const changesOfOthers = compared.flatMap((entry) =>
    isChange(entry) && entry.ref && entry.ref !== ref ? [{ ...entry, ref: entry.ref }] : [],
  );
  const refsOf = (entries: readonly { ref: Ref }[]): Ref[] => entries.map((entry) => entry.ref);
  return {
    others: refsOf(changesOfOthers.filter((entry) => NEWLY_LINKED.has(entry.action) || isRename(entry))),
    deletedGroups: memberships.flatMap((entry) =>
      entry.action === 'delete' && entry.ref ? [entry.ref] : [],
    ),
    nameHolders: kind === 'Group' ? [] : refsOf(changesOfOthers.filter((entry) => entry.kind === 'User')),
  };
}

/**
 * Records the order in the audit log, stores what the comparison found, and marks the resource.
 * @returns a difference that was not stored, because the resource changed meanwhile or was being synced; undefined: all were stored
 */
async function orderSync(
  scope: ReconcileScope,
  { ref, name, kind }: FoundResource,
  {
    look,
    pendingGroups,
    actor,
  }: Pick<SyncReport, 'pendingGroups'> & { look: ComparedOne | null; actor: Actor },
): Promise<{ ref: Ref } | undefined> {
  const { acts, drifts: driftStore, outbox, target } = scope;
  await acts.record({ act: 'sync', ...actor, target: target.name, subject: `${ref} ${name}` });
  const request = `sync:${actor.by}`;
  const drifts = toDrifts((look?.entries ?? []).filter(needsMark));
  const outcomes = await driftStore.note(
    drifts.map((drift) => ({ ...drift, priority: 'edit' })),
    request,
  );
  if (look?.done && !look.done.marked)
    await noteDone(scope, [{ ...toDoneNote(look.done), priority: 'edit' }], { request });
  // A group is marked too if the settings no longer want a held removal of the person from the group: only a sync of the group ends
  // such a removal, and the person waits for this end.
  const leaving = Object.keys(kind === 'User' ? pendingGroups : {}).map((id) => refOf('Group', id));
  await outbox.mark([ref, ...(await keptBySettings(scope, leaving))], 'edit', request);
  return drifts.find((_, index) => outcomes[index] !== 'applied');
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
  // Status 0: no complete answer.
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
