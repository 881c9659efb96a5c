// Syncs one user or group on the order of an operator: compares the resource with the platform (compare-before.ts), stores the
// order and the differences (`orderSync`), runs the same syncs as the workers, under the same lease and guard, first for the other
// resources that have to be written (`resourcesToSync`), and reports how they ended (end-of-syncs.ts). A dry run ends after the
// comparison.
import type { Actor } from '../../directory/logs/acts.ts';
import { refOf, type Ref } from '../../directory/records.ts';
import { noteDone, toDoneNote } from '../../reconcile/compare/done-changes.ts';
import { toDrifts } from '../../reconcile/apply/to-drifts.ts';
import { isRename } from '../../reconcile/compare/group-names.ts';
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { isChange, needsMark, NEWLY_LINKED, type PlanEntry } from '../../reconcile/entry.ts';
import { keptBySettings } from '../../reconcile/unwritten/left-by-settings.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import type { Logger } from '../../support/logger.ts';
import { syncResource } from '../../sync/sync-resource.ts';
import type { FoundResource } from '../find.ts';
import { compareBefore } from './compare-before.ts';
import { withGone } from './gone-account.ts';
import type { LocatedEntry } from '../log/provisioning-log.ts';
import { createSteps } from './sync-steps.ts';
import { withHold } from './sync-stops.ts';
import { withNotCompared } from './unwritten-differences.ts';
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
  const syncOptions = { logger, signal };
  // Of a person, each group is synced once here. `syncNow` for the person, below, syncs the groups with pending memberships again.
  for (const other of others)
    if (kind === 'User') await syncResource({ ...scope, logger }, other, 'edit', signal);
    else await syncNow(scope, other, syncOptions, steps.read);
  await syncNow(scope, ref, syncOptions, steps.read, nameHolders);
  await steps.read();
  const end = await endOfSyncs(scope, found, { look, entries, differences, others, pendingGroups, unnoted });
  return { ...common, steps: steps.reported, ...end };
}

/**
 * Returns the resources to sync with a user or group, besides its groups or members with a pending membership.
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
