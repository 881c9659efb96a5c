// Finds an approval by its id, with the changes that the id covers.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Destruction } from '../../directory/guard/held-changes.ts';
import { isSameApproval, lastPlaceOf, listIdOf, withinTarget } from './approval-id.ts';
import { createSelector, type ChangeSelection, type SelectPage } from './approval-selection.ts';
import { approvalsAt, isUndecided, toWaitingApproval, type FoundApproval } from './approvals-at.ts';

/**
 * Finds an approval by any id of approval-id.ts; undefined: there is none. For the id of a part: the decision about this part,
 * else its first approval.
 */
export async function findApproval(
  states: readonly DesiredState[],
  id: string,
): Promise<FoundApproval | undefined> {
  const named = await findList(states, id);
  const isPart = listIdOf(id) !== id;
  if (named || !isPart) return named;
  // No decision has the id of this part, so it can only be the id of a first approval.
  const found = await findList(states, listIdOf(id));
  if (!found) return undefined;
  const source = isUndecided(found.approval) ? 'guardHeld' : 'guardRejected';
  const { firstApprovals, listOf } = found.outbox.guardStore;
  const first = await firstApprovals.find(withinTarget({ ...found.approval, id }), source);
  // A decision has no list; for a rejection, `listOf` returns the changes that are still rejected.
  const list = found.list ?? (await listOf('approve', withinTarget(found.approval)));
  if (!first || !list) return undefined;
  // Some changes of the part may be decided, or taken back by the source, since the first approval: no order reaches these.
  const counts = await firstApprovals.countStillIn(list, first.storedChoice);
  if (counts.total === 0) return undefined;
  const { selection } = first;
  // `stillRejected` and the counts are of the list, not of the part.
  const { stillRejected: _, ...approval } = found.approval;
  return {
    ...found,
    first,
    list,
    approval: {
      ...approval,
      id,
      ...counts,
      ...(selection === undefined ? {} : { selection }),
      firstApprovals: [toWaitingApproval(approval.connection, first)],
    },
  };
}

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
 * Returns the list of held changes or the decision that an id of approval-id.ts names. A list may have grown or shrunk since it was
 * shown: then `list` has only the changes that the id covers.
 */
async function findList(states: readonly DesiredState[], id: string): Promise<FoundApproval | undefined> {
  const known: FoundApproval[] = [];
  for (const state of states)
    for (const [target, outbox] of state.outboxes)
      if (id.startsWith(`${state.connection}.${target}.`))
        known.push(...(await approvalsAt(state, target, outbox)));
  const decided = known.find(({ approval }) => approval.id === id && !isUndecided(approval));
  // Only a decision has the id of a part; held changes are found by the id of their list.
  if (listIdOf(id) !== id) return decided;
  const ofApproval = known.filter(({ approval }) => isSameApproval(approval.id, id));
  const held = ofApproval.find(({ approval }) => isUndecided(approval));
  const lastPlace = lastPlaceOf(id);
  if (held?.approval.id === id || (held && lastPlace === undefined)) return held;
  if (held?.list && lastPlace !== undefined) {
    // Changes that were held after the list was shown are not part of the decision.
    const list = { ...held.list, upTo: lastPlace };
    const counts = await held.outbox.guardStore.countOf(list);
    // A list of which nothing is held any more was decided, so its decision is returned below.
    if (counts.total > 0 || !decided) return { ...held, list, approval: { ...held.approval, id, ...counts } };
  }
  // A decision about a longer list covers this list; a decision about a shorter list does not cover changes held later.
  const found =
    decided ?? ofApproval.find(({ approval }) => (lastPlaceOf(approval.id) ?? 0) >= (lastPlace ?? 0));
  return found && { ...found, approval: { ...found.approval, id } };
}

/** Returns the id of the approval that is open now at the target of an id that fits no approval; undefined: none is open. */
export async function presentApprovalId(
  states: readonly DesiredState[],
  id: string,
): Promise<string | undefined> {
  for (const { connection, outboxes } of states)
    for (const [target, outbox] of outboxes) {
      const open = id.startsWith(`${connection}.${target}.`) ? await outbox.guardStore.open() : undefined;
      if (open) return `${connection}.${open.id}`;
    }
  return undefined;
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
