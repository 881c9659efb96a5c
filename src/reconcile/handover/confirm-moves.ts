// Reads where the items of a handover are after the moves, and stores and logs what became of each.
import { itemKey, type HandedItem, type HandoverHead } from '../../directory/outbox/handover-store.ts';
import { contentOfPersonFolder, handoverEntry, type HandoverOptions } from './handover-steps.ts';
import type { PlannedHandover } from './plan-handover.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Reads the person's folder, and stores what became of each item: moved; refused; `left`, because it is in neither place any more.
 * An item that the platform still shows at its former place stays `planned`, and the next run goes on with it.
 * @param items the items of this run, and those that a crashed run planned
 * @param current keys of the items that the account still owned before the moves
 * @param refused messages of the platform, by key of the item that it refused to move
 * @returns the numbers of moved items and of items whose place is not known yet
 */
export async function confirmMoves(
  scope: ReconcileScope,
  ref: PlannedHandover['ref'],
  head: HandoverHead & { folder: string },
  items: HandedItem[],
  { current, refused }: { current: ReadonlySet<string>; refused: ReadonlyMap<string, string> },
  { signal, request }: HandoverOptions,
): Promise<{ moved: number; open: number }> {
  const { folder: to } = head;
  const content = await contentOfPersonFolder(scope, head, { signal });
  const moved = items
    .filter((item) => content?.has(itemKey(item)))
    .map((item): HandedItem => ({ ...withoutReason(item), state: 'moved' }));
  const action = 'handOver' as const;
  await scope.handovers.note(ref, {
    items: moved,
    entries: moved.map((item) =>
      handoverEntry(scope, ref, head, item, { action, status: 'success', request, from: item.from, to }),
    ),
  });
  const missed = items.filter((item) => !content?.has(itemKey(item)));
  const left = missed.filter((item) => !current.has(itemKey(item)));
  await scope.handovers.note(ref, { items: left.map((item) => ({ ...withoutReason(item), state: 'left' })) });
  // Items that the platform refused to move.
  const kept = missed.flatMap((item): (HandedItem & { reason: string })[] => {
    const reason = refused.get(itemKey(item));
    return reason === undefined ? [] : [{ ...item, state: 'refused', reason }];
  });
  // Only a refusal that is new, or has a new reason, is logged, so that not every run logs it again.
  const fresh = kept.filter(
    (item) => items.find((one) => itemKey(one) === itemKey(item))?.reason !== item.reason,
  );
  await scope.handovers.note(ref, { items: kept.filter((item) => !fresh.includes(item)) });
  await scope.handovers.note(ref, {
    items: fresh,
    entries: fresh.map((item) =>
      handoverEntry(scope, ref, head, item, {
        action,
        status: 'failure',
        request,
        from: item.from,
        to,
        why: item.reason,
      }),
    ),
  });
  return { moved: moved.length, open: missed.length - kept.length - left.length };
}

/** Returns the item without the reason of a refusal. */
const withoutReason = ({ type, id, name, from, state }: HandedItem): HandedItem => ({
  type,
  id,
  name,
  from,
  state,
});
