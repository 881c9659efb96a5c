// Reads the changes of an approval that a command has found by its id: the changes that an order selects (`selectorOf`), one page
// at a time (`readPage`).
import type { Destruction } from '../../directory/guard/held-changes.ts';
import { createSelector, type ChangeSelection, type SelectPage } from './approval-selection.ts';
import type { FoundApproval } from './approvals-at.ts';

/** Returns the function that selects the changes of an order; undefined: all of the list. */
export async function selectorOf(
  { approval, state, outbox, first }: FoundApproval,
  selection: ChangeSelection,
): Promise<SelectPage | undefined> {
  const select = await createSelector(state, approval.target, selection, approval.id);
  // A first approval of a part covers only the changes that the first person chose.
  const isChosen = first && (await outbox.guardStore.firstApprovals.choiceOf(first));
  if (!isChosen) return select;
  return async (page) => {
    const chosen = page.filter(isChosen);
    return select ? select(chosen) : chosen;
  };
}

/**
 * Reads one page of the selected changes, and counts all selected ones.
 * @param select undefined: all changes are selected, and the guard counts them
 * @returns `matching`: number of all selected changes, not only those of the page
 */
export async function readPage(
  { approval, outbox, list, items }: FoundApproval,
  select: SelectPage | undefined,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ items: Destruction[]; matching: number }> {
  const chosen: Destruction[] = [];
  let matching = 0;
  // Without a list the approval is a decision, which has kept all its changes (`items`).
  const pages = list ? outbox.guardStore.pages(list) : [items];
  for await (const page of pages) {
    const fitting = select ? await select(page) : page;
    const start = Math.max(0, offset - matching);
    if (chosen.length < limit) chosen.push(...fitting.slice(start, start + limit - chosen.length));
    matching += fitting.length;
    // Selected changes can be counted only by reading every page.
    if (!select && chosen.length >= limit) break;
  }
  if (select) return { items: chosen, matching };
  return { items: chosen, matching: list ? (await outbox.guardStore.countOf(list)).total : approval.total };
}
