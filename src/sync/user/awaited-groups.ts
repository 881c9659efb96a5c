// Tells whether a user waits for the syncs of groups: for removals before more access is given, and for additions.
import { MEMBERSHIP_SIGN, withSign } from '../../directory/outbox/pending-memberships.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { refOf } from '../../directory/records.ts';
import type { SyncContext } from '../context.ts';
import { removal } from '../names/succession.ts';
import type { SyncOutcome } from '../outcome.ts';

/** Interval of attempts while the awaited removals are held or refused, in case the notification at their end was lost. */
const STOPPED_REMOVAL_RETRY_MS = 600_000;

/**
 * Returns the outcome for a user who waits until groups have removed the user; each group marks the user afterwards. A group
 * without a pending sync is marked: its last sync may have left the removal until the guard decides about the user's deactivation,
 * which it has done now. If each removal is held, or its group was refused, the next attempt follows after
 * STOPPED_REMOVAL_RETRY_MS, and `status` does not count the user under 'not applied yet'.
 */
export async function waitForRemovals({ links, outbox, target, work }: SyncContext): Promise<SyncOutcome> {
  const groups = withSign(work.pendingGroups, MEMBERSHIP_SIGN.toRemove);
  const refs = groups.map((group) => refOf('Group', group));
  const held = await outbox.guardStore.areHeld(groups.map((group) => removal(group, work.id)));
  const found = await links.getMany(target.name, refs);
  let isStopped = groups.length > 0;
  for (const [index, ref] of refs.entries()) {
    // A held removal waits for its decision. If the last sync of the group was refused, the removal waits for an operator: a new
    // sync does not help. Under another policy than `sync`, the sync of the group drops the pending removal, so the group is marked
    // even after a refusal.
    const isRefused =
      target.policy.policy === 'sync' && refusalOf(found[index] ?? {}, await outbox.isMarked(ref));
    if (held[index] || isRefused) continue;
    isStopped = false;
    if (await outbox.isAtRest(ref)) await outbox.mark([ref], 'edit', work.request);
  }
  const wait = isStopped
    ? { afterMs: STOPPED_REMOVAL_RETRY_MS, behindHeld: groups, isRefused: !held.includes(true) }
    : {};
  return { kind: 'waiting', for: 'removals', ...wait };
}

/**
 * Returns whether groups still have to add the user. A group with a condition is ignored, because a person may have to act first;
 * except with NameTaken, which ends when the name is free.
 */
export async function hasPendingAdditions(context: SyncContext): Promise<boolean> {
  const { work, links, target } = context;
  const groups = withSign(work.pendingGroups, MEMBERSHIP_SIGN.toAdd);
  const states = await links.getMany(
    target.name,
    groups.map((group) => `Group:${group}` as const),
  );
  return states.some(({ condition }) => condition === undefined || condition.reason === 'NameTaken');
}
