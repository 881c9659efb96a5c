// Syncs one user or group at once: compares it with the platform and then runs the sync of the workers,
// under the same lease and guard.
import type { PendingSign } from '../../directory/outbox/pending-memberships.ts';
import type { Actor } from '../../directory/logs/acts.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import { noteDone, toDoneNote } from '../../reconcile/compare/done-changes.ts';
import { toDrifts } from '../../reconcile/apply/mark.ts';
import { isRename } from '../../reconcile/compare/group-names.ts';
import { compareOne, type ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { isChange, needsMark, NEWLY_LINKED, type PlanEntry } from '../../reconcile/entry.ts';
import { withNames } from '../../reconcile/compare/entry-names.ts';
import { keptBySettings } from '../../reconcile/unwritten/left-by-settings.ts';
import { withToBeHeld } from '../../reconcile/unwritten/to-be-held.ts';
import { withUnreadyMembersReported } from '../../reconcile/unwritten/unready-members.ts';
import { withConflictsReported, withoutUnwritten } from '../../reconcile/unwritten/unwritten.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import type { Logger } from '../../support/logger.ts';
import { TargetSilent, throwIfSilent } from '../../reconcile/target-silent.ts';
import { answersOtherwise } from '../../sync/calls/absence.ts';
import { syncResource } from '../../sync/sync-resource.ts';
import type { FoundResource } from '../find.ts';
import { withGone } from './gone-account.ts';
import type { LocatedEntry } from '../log/provisioning-log.ts';
import { membershipEntries } from './membership-entries.ts';
import { withRejectedRemovals } from './rejected-removals.ts';
import { createSteps } from './sync-steps.ts';
import {
  endOf,
  unnotedEnd,
  unreadEnd,
  withConflicts,
  withHold,
  withLeftAlone,
  withLeftByPolicy,
  withNotCompared,
} from './sync-end.ts';
import { withUnwrittenOthers, withWaiting } from './sync-end-memberships.ts';
import type { SyncEnd } from './sync-outcome.ts';
import { timeLimit } from '../../support/time-limit.ts';

export interface SyncReport extends SyncEnd {
  connection: string;
  target: string;
  ref: Ref;
  name: string;
  dryRun: boolean;
  /** Differences found at the platform before the sync, with memberships; null when it could not be read. */
  differences: PlanEntry[] | null;
  /** Pending memberships: of a user, group id → sign; of a group, user id or `@<platform id>` → sign (`ResourceStatus.pendingMemberships`). */
  pendingGroups: Record<string, PendingSign>;
  /** Log entries of this sync, oldest first; empty after a dry run. */
  steps: LocatedEntry[];
}

export interface SyncOneOptions {
  dryRun: boolean;
  actor: Actor;
  /** Longest time of reads and syncs together. */
  limitMs: number;
  logger: Logger;
  signal: AbortSignal;
  /** Called with every new log entry. */
  onStep?: (step: LocatedEntry) => void;
}

/** Shortest wait before the next sync of a resource that is not at its end. */
const POLL_MS = 100;

/**
 * Compares a resource with the platform, marks it and runs its sync until it ends or the time is over.
 * @throws TargetSilent when the platform does not answer
 */
export async function syncOne(
  scope: ReconcileScope,
  found: FoundResource,
  options: SyncOneOptions,
): Promise<SyncReport> {
  const { connection, target, outbox } = scope;
  const { ref, name } = found;
  const time = timeLimit(options.limitMs);
  const signal = AbortSignal.any([options.signal, time]);
  let failure: string | undefined;
  const noteFailure = (text: string): void => {
    failure = text;
  };
  const nullAtLimit = (error: unknown): null => {
    if (options.signal.aborted || !time.aborted) throw error;
    return null;
  };
  // Null: the platform could not be read within the time limit.
  const read = await compareOne(scope, ref, { signal, noteFailure }).catch(nullAtLimit);
  // The resource could not be read. A sync that needs no write makes no call and would report `equal`, so the failure is reported
  // here.
  if (read === null && !time.aborted) {
    await throwIfOneReadFails(scope, failure, signal);
    await throwIfSilent(scope);
  }
  const pendingGroups = Object.fromEntries((await outbox.resourceStatus(ref)).pendingMemberships);
  const memberships =
    read && (await membershipEntries(scope, found, { look: read, pendingGroups, signal }).catch(nullAtLimit));
  // Without its memberships a resource counts as not read.
  const look = memberships && read;
  const entries = look && [...look.entries, ...memberships];
  const differences = entries && [
    ...(await toDifferences(scope, found, entries)),
    ...(look.refusedNames ?? []),
  ];
  const common = {
    connection,
    target: target.name,
    ref,
    name,
    dryRun: options.dryRun,
    differences,
    pendingGroups,
  };
  if (options.dryRun) {
    const isUnknown = look?.areValuesUnread && !differences?.some(isChange);
    return {
      ...common,
      differences: isUnknown ? null : differences,
      steps: [],
      ...withNotCompared(
        withGone(await withHold(scope, found, differences), look),
        found.kind,
        look?.notCompared,
      ),
    };
  }
  const { others, deletedGroups, nameHolders } = resourcesToSync(
    found,
    look?.entries ?? [],
    memberships ?? [],
  );
  const steps = createSteps(scope, [ref, ...others, ...deletedGroups, ...nameHolders], options.onStep);
  await steps.start();
  const unnoted = await orderSync(scope, found, { look, pendingGroups, actor: options.actor });
  // A group is synced once here: syncNow below syncs again each group that has to write a membership of the person.
  for (const other of others)
    if (found.kind === 'User')
      await syncResource({ ...scope, logger: options.logger }, other, 'edit', signal);
    else await syncNow(scope, other, { ...options, signal }, steps.read);
  await syncNow(scope, ref, { ...options, signal }, steps.read, nameHolders);
  await steps.read();
  const end = await endOfSyncs(scope, found, {
    look,
    entries,
    differences,
    others,
    pendingGroups,
    unnoted,
  });
  return { ...common, steps: steps.reported, ...end };
}

/** Returns the entries with names for the report, and with the effect `report` for each that the sync does not write now. */
async function toDifferences(
  scope: ReconcileScope,
  found: FoundResource,
  entries: PlanEntry[],
): Promise<PlanEntry[]> {
  // Named afterwards: the sync judges the protection of a member by the name of the account, as the entries of the comparison do.
  const named = await withNames(scope, await withoutUnwritten(scope, entries));
  const judged = found.kind === 'Group' ? await withUnreadyMembersReported(scope, named) : named;
  return withConflictsReported(await withToBeHeld(scope, judged, { inSync: true }));
}

/**
 * Returns the resources that the sync of a resource includes, besides those with a pending membership of it.
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
  // The settings may have changed since the guard held a removal of the person from a group, so that they do not want it any more. Only
  // a sync of the group ends that removal, and the person waits for its end. So the group is marked too.
  const leaving = Object.keys(kind === 'User' ? pendingGroups : {}).map((id) => refOf('Group', id));
  await outbox.mark([ref, ...(await keptBySettings(scope, leaving))], 'edit', request);
  return drifts.find((_, index) => outcomes[index] !== 'applied');
}

/** Facts known before the syncs of a resource, and the other resources that were synced. */
interface BeforeSyncs extends Pick<SyncReport, 'differences' | 'pendingGroups'> {
  look: ComparedOne | null;
  entries: PlanEntry[] | null;
  /** Groups or members that were synced first (`resourcesToSync`). */
  others: readonly Ref[];
  /** A difference that was not stored (`orderSync`). */
  unnoted: { ref: Ref } | undefined;
}

/** Returns the end of the resource after the syncs, with what other resources have not written, and what no sync writes. */
async function endOfSyncs(
  scope: ReconcileScope,
  found: FoundResource,
  { look, entries, differences, others, pendingGroups, unnoted }: BeforeSyncs,
): Promise<SyncEnd> {
  const { ref } = found;
  const ownEnd = await endOf(scope, ref);
  // Renames that the platform refused, also if an operator dropped the dead letter. The syncs have tried the groups with a pending
  // membership of the person again, and `withWaiting` tells these.
  const unwrittenNames = (look?.entries ?? []).filter((entry) => isRename(entry) && !isChange(entry));
  const misnamed = [...(look?.refusedNames ?? []), ...unwrittenNames].flatMap(({ ref: group }) =>
    group && group !== ref && !(parseRef(group).id in pendingGroups) ? [group] : [],
  );
  const isOver = ownEnd.outcome !== 'waiting' && !(await scope.outbox.guardStore.onHold());
  let end = isOver ? await withUnwrittenOthers(scope, ownEnd, found, [...others, ...misnamed]) : ownEnd;
  if (end.outcome === 'equal')
    end = unnoted
      ? unnotedEnd(unnoted.ref)
      : await endOfWritten(scope, found, {
          end,
          look,
          entries: entries && (await withNames(scope, entries)),
          differences,
        });
  // Without a comparison nothing is known of removals that somebody else made at the platform.
  if (!look) return end;
  const unclear = [...(look.pendingDone ?? []), ...(look.pendingUnread ?? [])];
  return withRejectedRemovals(scope, end, found, unclear);
}

/** Returns the end of a resource of which the syncs have left no change to write, by what the comparison before them showed. */
async function endOfWritten(
  scope: ReconcileScope,
  found: FoundResource,
  compared: {
    end: SyncEnd;
    look: ComparedOne | null;
    entries: PlanEntry[] | null;
    differences: PlanEntry[] | null;
  },
): Promise<SyncEnd> {
  const { end, look, entries, differences } = compared;
  const { kind, ref } = found;
  if (!look || look.areValuesUnread) return unreadEnd(look);
  // An end that has a message says the reason already.
  const told = end.message === undefined ? withGone(await withLeftAlone(scope, found, end), look) : end;
  const waiting =
    told.outcome === 'needsPerson' ? told : await withWaiting(scope, told, { ref, entries: entries ?? [] });
  // The sync of a group has judged or written all pending removals, so nothing is left to compare.
  const notCompared = kind === 'User' ? look.notCompared : 0;
  const written = withLeftByPolicy(scope, withConflicts(waiting, { ref, differences }), { ref, differences });
  return withNotCompared(written, kind, notCompared);
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

/**
 * Runs the sync, and the syncs of groups that it waits for, until no mark is left, the rest waits for a decision, or the time is over.
 * @param holders people whose accounts have the userName, and are synced too
 */
async function syncNow(
  scope: ReconcileScope,
  ref: Ref,
  { logger, signal }: SyncOneOptions,
  onRound: () => Promise<void>,
  holders: readonly Ref[] = [],
): Promise<void> {
  const { clock, outbox } = scope;
  const deps = { ...scope, logger };
  while (!signal.aborted) {
    const { pendingMemberships } = await outbox.resourceStatus(ref);
    await syncResource(deps, ref, 'edit', signal);
    if (ref.startsWith('User:'))
      for (const group of pendingMemberships.keys())
        await syncResource(deps, refOf('Group', group), 'edit', signal);
    for (const holder of holders) await syncResource(deps, holder, 'edit', signal);
    await onRound();
    const { mark, pendingMemberships: left } = await outbox.resourceStatus(ref);
    const groups = ref.startsWith('User:') ? [...left.keys()].map((id) => refOf('Group', id)) : [];
    const waitedFor = mark ?? (await firstMarkOf(scope, [...groups, ...holders]));
    if (!waitedFor || mark?.isBehindHeld || (await outbox.guardStore.onHold())) return;
    const untilDue = waitedFor.dueAt === null ? 0 : waitedFor.dueAt - clock.now();
    await clock.sleep(Math.max(POLL_MS, untilDue), signal);
  }
}

/** Returns the mark of the first marked resource; null: there is none. */
async function firstMarkOf({ outbox }: ReconcileScope, refs: readonly Ref[]) {
  for (const ref of refs) {
    const { mark } = await outbox.resourceStatus(ref);
    if (mark) return mark;
  }
  return null;
}
