// Judges whether memberships have to be removed or added before a user is activated or gains values.
import { refOf } from '../directory/records.ts';
import type { SyncContext } from './context.ts';
import type { SyncOutcome } from './outcome.ts';
import { removal } from './succession.ts';

/** Interval of attempts while the guard holds the awaited change. */
const HELD_RETRY_MS = 600_000;

/**
 * Returns the outcome for a user who waits until groups have removed the user; each group marks the user afterwards. Groups
 * without a pending sync are marked, because they may wait for the decision about the account. If all removals are held, the
 * next attempt follows after HELD_RETRY_MS.
 */
export async function waitForRemovals({ outbox, work, writes }: SyncContext): Promise<SyncOutcome> {
  const groups = [...work.pendingGroups].filter(([, sign]) => sign === '-').map(([group]) => group);
  const held = await outbox.guardStore.areHeld(groups.map((group) => removal(group, work.id)));
  for (const [index, group] of groups.entries()) {
    const ref = refOf('Group', group);
    // A held removal waits for its decision, not for a sync of the group.
    if (held[index] !== true && (await outbox.isAtRest(ref))) await outbox.mark([ref], 'edit', work.request);
  }
  const afterMs = held.length > 0 && !held.includes(false) ? { afterMs: HELD_RETRY_MS } : {};
  return { kind: 'waiting', writes, for: 'removals', ...afterMs };
}

/** Returns whether memberships must be added before activation; blocked groups are ignored. */
export async function hasPendingGrants(context: SyncContext): Promise<boolean> {
  const { work, links, target } = context;
  const groups = [...work.pendingGroups].filter(([, sign]) => sign === '+').map(([group]) => group);
  const states = await links.getMany(
    target.name,
    groups.map((group) => `Group:${group}` as const),
  );
  return states.some((group) => group.condition === undefined);
}
