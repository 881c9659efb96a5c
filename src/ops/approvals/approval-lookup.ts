// Finds approvals by their ids, with the changes that each of them covers.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Decision } from '../../directory/guard/stored-decisions.ts';
import {
  TOKEN_IDENTITY,
  type FirstApproval,
  type StoredFirstApproval,
} from '../../directory/guard/first-approvals.ts';
import { holdAdvice } from '../../directory/guard/operator-hold.ts';
import type { ChangeList, Destruction } from '../../directory/guard/held-changes.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { DestructiveKind } from '../../guard/judge.ts';
import { total } from '../../support/counted.ts';
import { isoTime } from '../../support/sources.ts';
import { createSelector, type ChangeSelection, type SelectPage } from './approval-selection.ts';

export interface Approval {
  /** `<connection>.<target>.<serial>-<last place>`; of a decision about a part, followed by `~` and a digest. */
  id: string;
  connection: string;
  target: string;
  /**
   * `held`: it waits for a decision; `expired`: it was not decided in time, and the guard has not judged all its changes anew; the
   * others are decisions.
   */
  state: 'held' | 'expired' | 'approved' | 'rejected' | 'withdrawn';
  /** ISO 8601; absent after a decision. */
  openedAt?: string;
  /** ISO 8601: end of held changes, and of an approval with changes that are not written. */
  expiresAt?: string;
  /** Milliseconds from the read to `expiresAt`, by the clock of Redis; 0 or less: it has passed. Absent without `expiresAt`. */
  leftMs?: number;
  /** How the hold of the target ends, before which an expired list is not judged anew; absent: no hold, or decided. */
  endOfHold?: string;
  /** Time of the decision, ISO 8601; absent before. */
  at?: string;
  /** Operator who decided. */
  by?: string;
  /** Reason that this operator gave. */
  note?: string;
  /** Which part of the list was decided, in words; absent: all. */
  selection?: string;
  /** Number of changes of each kind; `total`: of all kinds. */
  kinds: Record<DestructiveKind, number>;
  total: number;
  /** Number of changes of a rejection that still stand: not withdrawn, not approved, and still wanted by the source. */
  stillRejected?: number;
  /**
   * Number of changes of an approval that are not written, and that the source has not taken back; absent: none. After `expiresAt`
   * the guard judges them anew, so they may be held under another id.
   */
  unwritten?: number;
  /** Approvals of one person where two have to approve, the oldest first. */
  firstApprovals?: WaitingApproval[];
}

/** An approval that waits for a second person, who approves its id. */
export interface WaitingApproval {
  id: string;
  /** Operator who approved first. */
  by: string;
  /** Whether the admin token gave it; all holders of the token count as one person. */
  withToken: boolean;
  /** Time of this first approval, ISO 8601. */
  at: string;
  /** Time before which the second approval has to come, ISO 8601. */
  expiresAt: string;
  total: number;
  note?: string;
  selection?: string;
}

/** An approval with the changes behind it: a list at the guard, or what a decision has kept. */
export type FoundApproval = {
  approval: Approval;
  state: DesiredState;
  outbox: Outbox;
  /** Absent for a decision. */
  list?: ChangeList;
  /** The changes that a decision has kept; empty with a list, whose changes are read in pages. */
  items: Destruction[];
  /** The first approval that the id names. */
  first?: StoredFirstApproval;
};

/** Returns whether an approval has no decision yet; it may have expired. */
export const isUndecided = ({ state }: Pick<Approval, 'state'>): boolean =>
  state === 'held' || state === 'expired';

/** State of an approval after each decision. */
const STATES = { approve: 'approved', reject: 'rejected', withdraw: 'withdrawn' } as const;

/** Returns the id of an approval without its connection, as the guard of the target stores it. */
export const withinTarget = ({ id, connection }: Approval): string => id.slice(connection.length + 1);

/** Returns the id of a list for the id of a part of it, which has `~` and a digest behind the id of the list. */
export const listIdOf = (id: string): string => id.replace(/~[0-9a-f]+$/, '');

/** Returns the approvals of one target: the held changes first, then the kept decisions. */
export async function approvalsAt(
  state: DesiredState,
  target: string,
  outbox: Outbox,
): Promise<FoundApproval[]> {
  const { connection } = state;
  const open = await outbox.guardStore.open();
  const hold = open && (await outbox.guardStore.onHold());
  const firsts = await outbox.guardStore.firstApprovals.list();
  /** Returns the first approvals of a list, and of parts of it. */
  const firstsOf = (source: FirstApproval['source'], id: string): Pick<Approval, 'firstApprovals'> => {
    const isOf = (first: FirstApproval): boolean =>
      // The list of held changes grows, so a first approval may have the same serial and an earlier last place (`idOfList`). A
      // first approval of rejected changes has the id of the same list, of a part of it, or of the list that they are a part of.
      source === 'guardHeld'
        ? serialOf(first.id) === serialOf(id)
        : first.id === id || listIdOf(first.id) === id || listIdOf(id) === first.id;
    const found = firsts.filter((first) => first.source === source && isOf(first));
    return found.length === 0
      ? {}
      : { firstApprovals: found.map((first) => toWaitingApproval(connection, first)) };
  };
  const rejection = async ({ id, serial, upTo, number }: Decision): Promise<Partial<Approval>> => {
    // `numbers` limits the list to the changes that this decision rejected.
    const list = { source: 'guardRejected', serial, upTo, numbers: [number] } as const;
    const { total } = await outbox.guardStore.countOf(list);
    return { stillRejected: total, ...firstsOf('guardRejected', id) };
  };
  const unwritten = async ({ approvedUntil }: Decision): Promise<Partial<Approval>> => {
    if (approvedUntil === undefined) return {};
    const { count, leftMs } = await outbox.guardStore.countUnwritten(approvedUntil);
    return count === 0 ? {} : { unwritten: count, expiresAt: isoTime(approvedUntil), leftMs };
  };
  const toFound = async (decision: Decision): Promise<FoundApproval> => {
    const { id, action, at, by, note, selection, kinds, items } = decision;
    return {
      state,
      outbox,
      items,
      approval: {
        id: `${connection}.${id}`,
        connection,
        target,
        state: STATES[action],
        at: isoTime(at),
        by,
        ...(note === undefined ? {} : { note }),
        ...(selection === undefined ? {} : { selection }),
        kinds,
        total: total(Object.values(kinds)),
        ...(action === 'reject' ? await rejection(decision) : await unwritten(decision)),
      },
    };
  };
  const found = await Promise.all((await outbox.guardStore.decisions()).map(toFound));
  if (open) {
    const { id, openedAt, expiresAt, leftMs, kinds, total } = open;
    const dates = { openedAt: isoTime(openedAt), expiresAt: isoTime(expiresAt), leftMs };
    const approvalState = leftMs > 0 ? ('held' as const) : ('expired' as const);
    const names = { id: `${connection}.${id}`, connection, target, state: approvalState };
    const endOfHold = hold ? { endOfHold: holdAdvice(target, hold) } : {};
    const approval = { ...names, ...dates, ...endOfHold, kinds, total, ...firstsOf('guardHeld', id) };
    found.unshift({ state, outbox, items: [], list: open, approval });
  }
  return found;
}

/** Returns the id without its last place: the part that stays the same while the list grows. */
export const serialOf = (id: string): string => listIdOf(id).replace(/-\d+$/, '');

/** Returns the last place of the list; 0 for an id without it, which means all changes of the list. */
const upToOf = (id: string): number => Number(/-(\d+)$/.exec(listIdOf(id))?.[1] ?? 0);

/** Returns a first approval as operators see it. */
const toWaitingApproval = (
  connection: string,
  { id, by, at, expiresAt, total, note, selection, identity }: StoredFirstApproval,
): WaitingApproval => ({
  id: `${connection}.${id}`,
  by,
  withToken: identity === TOKEN_IDENTITY,
  at: isoTime(at),
  expiresAt: isoTime(expiresAt),
  total,
  ...(note === undefined ? {} : { note }),
  ...(selection === undefined ? {} : { selection }),
});

/**
 * Finds an approval by its whole id. Without the part behind the last hyphen it covers all currently held changes. The id of a
 * decision about a part finds this decision, that of a first approval of a part this part.
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
  const list = found.list ?? (await listOf('approve', withinTarget(found.approval)));
  if (!first || !list) return undefined;
  // Some changes of the part may be decided, or taken back by the source, since the first approval: no order reaches these.
  const counts = await firstApprovals.countStillIn(list, first.storedChoice);
  if (counts.total === 0) return undefined;
  const { selection } = first;
  // `stillRejected` and the counts of the list do not hold for the part.
  const { stillRejected: _, ...approval } = found.approval;
  return {
    ...found,
    first,
    list,
    approval: { ...approval, id, ...counts, ...(selection === undefined ? {} : { selection }) },
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
 * Returns the held list or the decision with this id, and for a list that has grown or shrunk the changes that the id
 * covers.
 */
async function findList(states: readonly DesiredState[], id: string): Promise<FoundApproval | undefined> {
  const known: FoundApproval[] = [];
  for (const state of states)
    for (const [target, outbox] of state.outboxes)
      if (id.startsWith(`${state.connection}.${target}.`))
        known.push(...(await approvalsAt(state, target, outbox)));
  const isSame = ({ approval }: FoundApproval): boolean => serialOf(approval.id) === serialOf(id);
  const held = known.find((each) => isUndecided(each.approval) && isSame(each));
  const decided = known.find(({ approval }) => approval.id === id && !isUndecided(approval));
  // Only a decision has the id of a part; held changes are found by the id of their list.
  if (listIdOf(id) !== id) return decided;
  if (held?.list && held.approval.id !== id) {
    // Changes that were held after the list was shown are not part of the decision.
    const [, lastPlace] = /-(\d+)$/.exec(id) ?? [];
    if (lastPlace === undefined) return held;
    const list = { ...held.list, upTo: Number(lastPlace) };
    const counts = await held.outbox.guardStore.countOf(list);
    // A list of which nothing is held any more was decided, so its decision is returned below.
    if (counts.total > 0 || !decided) return { ...held, list, approval: { ...held.approval, id, ...counts } };
  }
  // A decision about the first changes of the list tells nothing about changes that were held later.
  const covers = (each: FoundApproval): boolean => isSame(each) && upToOf(each.approval.id) >= upToOf(id);
  const found = (held?.approval.id === id ? held : undefined) ?? decided ?? known.find(covers);
  return found && { ...found, approval: { ...found.approval, id } };
}

/** Takes the target from an id that fits no approval. @returns the id of the approval that is open there now; undefined: none is */
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
