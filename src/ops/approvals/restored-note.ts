// Tells of a held or rejected change that it may be outdated after a restore: between backup and restore the source may have taken
// it back, and an identity provider does not by itself send again what it sent before the restore.
import type { DesiredState } from '../../directory/desired-state.ts';
import { backupText, ifOpen, readRestored } from '../../reconcile/tenant/restored.ts';
import { isoTime } from '../../support/sources.ts';
import type { HeldChange } from './held-change.ts';
import { readKnown } from './known-resource.ts';

/**
 * Adds a note to the reason of each change of a resource that no push has changed since the last restore. The note ends when a run
 * converges. A change that was rejected before that run keeps the note: a run converges while changes are rejected, so it shows
 * nothing about them.
 * @param items changes that may still be approved
 * @param rejectedAt ISO 8601; undefined: they are held
 */
export async function withRestoredNote(
  state: DesiredState,
  target: string,
  items: HeldChange[],
  rejectedAt: string | undefined,
): Promise<HeldChange[]> {
  const [outbox, runs] = [state.outboxes.get(target), state.runs.get(target)];
  if (items.length === 0 || !outbox || !runs) return items;
  const scope = { acts: state.acts, outbox, runs, target: { name: target } };
  const last = await readRestored(state.acts);
  const { convergedAt = 0 } = await runs.read();
  const isOlderRejection = rejectedAt !== undefined && Date.parse(rejectedAt) <= convergedAt;
  const restored = isOlderRejection ? last : await ifOpen(last, scope);
  if (!restored) return items;
  const known = await readKnown(state, target, [...new Set(items.map(({ ref }) => ref))]);
  const note = `; as of ${backupText(restored)}, not changed by a push since the restore at ${isoTime(restored.at)}: check at the identity provider that it still holds`;
  return items.map((item) => {
    // Undefined: the time of the deletion is not known any more, so it was long ago.
    const changedAt = known.get(item.ref)?.changedAt ?? 0;
    return changedAt <= restored.at ? { ...item, reason: `${item.reason}${note}` } : item;
  });
}
