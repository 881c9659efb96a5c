// Reads where the items of a handover are after the moves, and stores and logs what became of each.
import { itemKey, type HandedItem, type HandoverHead } from '../../directory/outbox/handover-store.ts';
import { contentOfPersonFolder, handoverEntry, type HandoverOptions } from './handover-steps.ts';
import type { PlannedHandover } from './plan-handover.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Reads the person's folder, and stores what became of each item: moved; refused; `left`, because it is in neither place any more.
 * An item that the platform still shows at its former place stays `planned`, and the next run goes on with it.
 * @param items the items of this run, and those that a crashed run planned
 * @param ownedBefore keys (`TYPE:id`) of the items that the account still owned before the moves
 * @param refused messages of the platform, by key of the item that it refused to move
 * @returns the numbers of moved items and of items whose place is not known yet
 */
export async function confirmMoves(
  scope: ReconcileScope,
  ref: PlannedHandover['ref'],
  head: HandoverHead & { folder: string },
  items: HandedItem[],
  { ownedBefore, refused }: { ownedBefore: ReadonlySet<string>; refused: ReadonlyMap<string, string> },
  { signal, request }: HandoverOptions,
): Promise<{ moved: number; unconfirmed: number }> {
  /** Stores the items with a log entry for each. */
  const noteLogged = (done: HandedItem[], status: 'success' | 'failure'): Promise<void> =>
    scope.handovers.note(ref, {
      items: done,
      entries: done.map((item) => {
        const move = { action: 'handOver', status, request, from: item.from, to: head.folder } as const;
        return handoverEntry(scope, ref, head, item, { ...move, why: item.reason });
      }),
    });
  const content = await contentOfPersonFolder(scope, head, { signal });
  const moved = items
    .filter((item) => content?.has(itemKey(item)))
    .map((item): HandedItem => ({ ...withoutReason(item), state: 'moved' }));
  await noteLogged(moved, 'success');
  const missed = items.filter((item) => !content?.has(itemKey(item)));
  const left = missed.filter((item) => !ownedBefore.has(itemKey(item)));
  await scope.handovers.note(ref, { items: left.map((item) => ({ ...withoutReason(item), state: 'left' })) });
  // Items that the platform refused to move.
  const kept = missed.flatMap((item): HandedItem[] => {
    const reason = refused.get(itemKey(item));
    return reason === undefined ? [] : [{ ...item, state: 'refused', reason }];
  });
  // Only a refusal that is new, or has a new reason, is logged, so that not every run logs it again.
  const fresh = kept.filter(
    (item) => items.find((one) => itemKey(one) === itemKey(item))?.reason !== item.reason,
  );
  await scope.handovers.note(ref, { items: kept.filter((item) => !fresh.includes(item)) });
  await noteLogged(fresh, 'failure');
  return { moved: moved.length, unconfirmed: missed.length - kept.length - left.length };
}

/** Returns the item without the reason of a refusal. */
const withoutReason = ({ reason: _, ...item }: HandedItem): HandedItem => item;
