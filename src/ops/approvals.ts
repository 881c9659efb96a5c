// Lists the changes that the guard holds, and records the decision of an operator about them.
import type { Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { Decision } from '../directory/guard/decisions.ts';
import type { ChangeList, Destruction } from '../directory/guard/held-changes.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import type { DestructiveKind, GuardSettings } from '../guard/judge.ts';
import { explainLimits, type ExplainedLimit } from './approval-limits.ts';
import {
  createSelector,
  selectionText,
  type ChangeSelection,
  type SelectPage,
} from './approval-selection.ts';
import { describeChanges, type HeldChange } from './held-change.ts';

export interface Approval {
  /** `<connection>.<target>.<serial>-<last place>`. */
  id: string;
  connection: string;
  target: string;
  state: 'held' | 'approved' | 'rejected' | 'withdrawn';
  /** ISO 8601, while it is held. */
  openedAt?: string;
  expiresAt?: string;
  /** ISO 8601, once it is decided. */
  at?: string;
  by?: string;
  note?: string;
  /** Which part of the list was decided, in words; absent: all. */
  selection?: string;
  kinds: Record<DestructiveKind, number>;
  total: number;
}

/** An approval with one page of its changes. */
export interface ShownApproval extends Approval {
  /** Why it is held; empty once it is decided. */
  limits: ExplainedLimit[];
  /** Number of changes that the selection fits. */
  matching: number;
  items: HeldChange[];
}

/** `expired`: the held changes are judged again. */
export type DecisionOutcome =
  | {
      kind: 'decided';
      id: string;
      items: number;
      kinds: Record<DestructiveKind, number>;
      /** Number of changes that are still held at the target. */
      remaining: number;
    }
  | { kind: 'expired' }
  | { kind: 'unknown' };

export interface ChangePage extends ChangeSelection {
  offset?: number | undefined;
  limit: number;
}

type Found = {
  approval: Approval;
  state: DesiredState;
  outbox: Outbox;
  list?: ChangeList;
  items: Destruction[];
};

const STATES = { approve: 'approved', reject: 'rejected', withdraw: 'withdrawn' } as const;

/** Held changes that wait for a decision, and recent decisions; without the changes themselves. */
export async function listApprovals(states: readonly DesiredState[]): Promise<Approval[]> {
  const found: Approval[] = [];
  for (const state of states)
    for (const [target, outbox] of state.outboxes)
      found.push(...(await approvalsAt(state, target, outbox)).map(({ approval }) => approval));
  return found;
}

/** Returns one page of an approval; undefined for an unknown id. @param guardOf settings of a target's guard */
export async function showApproval(
  states: readonly DesiredState[],
  id: string,
  guardOf: (target: string) => GuardSettings | undefined,
  { offset = 0, limit, ...selection }: ChangePage,
): Promise<ShownApproval | undefined> {
  const found = await findApproval(states, id);
  if (!found) return undefined;
  const { approval, state, outbox } = found;
  const { target } = approval;
  const guard = approval.state === 'held' ? guardOf(target) : undefined;
  const select = await createSelector(state, target, selection);
  const { items, matching } = await readPage(found, select, offset, limit);
  const described = await describeChanges(state, target, items);
  const shown = approval.state === 'held' ? await withTimes(outbox, described) : described;
  const limits = guard ? await explainLimits(state, target, guard) : [];
  return { ...approval, limits, matching, items: shown };
}

/** Returns the number of changes that a decision would reach, and the first of them; undefined for an unknown id. */
export async function previewDecision(
  states: readonly DesiredState[],
  id: string,
  action: Decision['action'],
  selection: ChangeSelection,
  most: number,
): Promise<{ approval: Approval; count: number; items: HeldChange[] } | undefined> {
  const found = await findApproval(states, id);
  if (!found) return undefined;
  const { approval, state, outbox } = found;
  const list = await outbox.guardStore.listOf(action, withinTarget(approval));
  if (!list) return { approval, count: 0, items: [] };
  const select = await createSelector(state, approval.target, selection);
  const { items, matching } = await readPage({ ...found, list }, select, 0, most);
  return { approval, count: matching, items: await describeChanges(state, approval.target, items) };
}

/**
 * Stores a decision about exactly the listed changes, or about a selection of them. `by`: operator for the audit log.
 * @throws UnknownSelection when no person or group has a given name
 */
export async function decideApproval(
  states: readonly DesiredState[],
  id: string,
  { action, selection = {}, ...actor }: Actor & { action: Decision['action']; selection?: ChangeSelection },
): Promise<DecisionOutcome> {
  const found = await findApproval(states, id);
  if (!found) return { kind: 'unknown' };
  const { approval, state, outbox } = found;
  const words = selectionText(selection);
  const note = [words, actor.note].filter(Boolean).join('; ');
  // The script stores decision and audit entry together.
  const act = (count: number): object =>
    state.acts.toArgs([
      {
        ...{ act: action, ...actor, target: approval.target, subject: approval.id, count },
        ...(note === '' ? {} : { note }),
      },
    ]);
  const decided = await outbox.guardStore.decide(action, withinTarget(approval), actor.by, {
    ...{ note: actor.note, selection: words, act },
    choose: await createSelector(state, approval.target, selection),
  });
  if (decided.kind !== 'decided') return decided;
  const remaining = (await outbox.guardStore.open())?.total ?? 0;
  return { ...decided, id: approval.id, remaining };
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Ids are unique within a target of a connection; outside they carry both names. */
const withinTarget = ({ id, connection }: Approval): string => id.slice(connection.length + 1);

async function approvalsAt(state: DesiredState, target: string, outbox: Outbox): Promise<Found[]> {
  const { connection } = state;
  const open = await outbox.guardStore.open();
  const found: Found[] = (await outbox.guardStore.decisions()).map(
    ({ id, action, at, by, note, selection, kinds, items }) => ({
      ...{ state, outbox, items },
      approval: {
        ...{ id: `${connection}.${id}`, connection, target, state: STATES[action], at: iso(at), by },
        ...(note === undefined ? {} : { note }),
        ...(selection === undefined ? {} : { selection }),
        ...{ kinds, total: Object.values(kinds).reduce((sum, each) => sum + each, 0) },
      },
    }),
  );
  if (open) {
    const { id, openedAt, expiresAt, kinds, total } = open;
    const dates = { openedAt: iso(openedAt), expiresAt: iso(expiresAt) };
    const names = { id: `${connection}.${id}`, connection, target, state: 'held' as const };
    found.unshift({ state, outbox, items: [], list: open, approval: { ...names, ...dates, kinds, total } });
  }
  return found;
}

/** Finds an approval by its whole id. Without the part behind the last hyphen it covers all currently held changes. */
async function findApproval(states: readonly DesiredState[], id: string): Promise<Found | undefined> {
  const serialOf = (text: string): string => text.replace(/-\d+$/, '');
  const known: Found[] = [];
  for (const state of states)
    for (const [target, outbox] of state.outboxes)
      if (id.startsWith(`${state.connection}.${target}.`))
        known.push(...(await approvalsAt(state, target, outbox)));
  const isHeld = ({ approval }: Found): boolean => approval.state === 'held';
  const isSame = ({ approval }: Found): boolean => serialOf(approval.id) === serialOf(id);
  const held = known.find((each) => isHeld(each) && isSame(each));
  const decided = known.find(({ approval }) => approval.id === id && approval.state !== 'held');
  if (held?.list && held.approval.id !== id) {
    // Changes that were held after the list was shown are not part of the decision.
    const last = /-(\d+)$/.exec(id)?.[1];
    if (last === undefined) return held;
    const list = { ...held.list, upTo: Number(last) };
    const counts = await held.outbox.guardStore.countOf(list);
    if (counts.total > 0 || !decided) return { ...held, list, approval: { ...held.approval, id, ...counts } };
  }
  const found = (held?.approval.id === id ? held : undefined) ?? decided ?? known.find(isSame);
  return found && { ...found, approval: { ...found.approval, id } };
}

/** Reads one page of the selected changes, and counts them all. */
async function readPage(
  { approval, outbox, list, items }: Found,
  select: SelectPage | undefined,
  offset: number,
  limit: number,
): Promise<{ items: Destruction[]; matching: number }> {
  const chosen: Destruction[] = [];
  let matching = 0;
  const pages = list ? outbox.guardStore.pages(list) : [items];
  for await (const page of pages) {
    const fitting = select ? await select(page) : page;
    const start = Math.max(0, offset - matching);
    if (chosen.length < limit) chosen.push(...fitting.slice(start, start + limit - chosen.length));
    matching += fitting.length;
    if (!select && chosen.length >= limit) break;
  }
  if (select) return { items: chosen, matching };
  return { items: chosen, matching: list ? (await outbox.guardStore.countOf(list)).total : approval.total };
}

/** Adds since when each resource of a page differs. */
const withTimes = async ({ exceptionOf }: Outbox, items: HeldChange[]): Promise<HeldChange[]> =>
  Promise.all(
    items.map(async (item) => {
      const exception = await exceptionOf(item.ref);
      return exception ? { ...item, since: iso(exception.since) } : item;
    }),
  );
