// Reads and filters the audit entries of all connections, newest first, and checks their hash chains.
import type { Act, ACTS, Acts, PlacedAct } from '../../directory/logs/acts.ts';
import type { OrderTest } from '../../directory/logs/chain-check.ts';
import type { LogSpan } from '../../directory/logs/chained-stream.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import {
  newestFirst,
  toPublicCheck,
  type MergedSpan,
  type PublicCheck,
  type SearchStep,
} from './newest-first.ts';
import { isoTime } from '../../support/sources.ts';

/** An audit entry with its connection. `id` is unique over all connections; `at` is ISO 8601. */
export type LocatedAct = Omit<PlacedAct, 'at'> & { connection: string; at: string };

export interface ActFilter extends MergedSpan {
  connection?: string | undefined;
  /** Only orders about this target, and orders about a whole connection. */
  target?: string | undefined;
  actions?: readonly (typeof ACTS)[number][] | undefined;
  /** Interfaces by which the order came. */
  ways?: readonly Act['via'][] | undefined;
  /** Part of the operator's name, in any letter case. */
  by?: string | undefined;
}

type ActSource = Pick<DesiredState, 'connection' | 'acts'>;

/** Yields matching audit entries over all connections, newest first. */
export async function* readActs(
  states: readonly ActSource[],
  filter: ActFilter = {},
): AsyncGenerator<LocatedAct> {
  for await (const { entry } of searchActs(states, filter)) if (entry) yield entry;
}

/** Yields matching audit entries as readActs does, and between them the place up to which the logs were searched. */
export async function* searchActs(
  states: readonly ActSource[],
  filter: ActFilter,
): AsyncGenerator<SearchStep<LocatedAct>> {
  const keep = testOf(filter);
  const logs = states
    .filter(({ connection }) => filter.connection === undefined || connection === filter.connection)
    .map(({ connection, acts }) => ({
      name: connection,
      where: { connection },
      search: (span: LogSpan) => acts.search(span, keep),
    }));
  for await (const { place, entry } of newestFirst(logs, filter)) {
    if (entry) {
      // `place` replaces the id of the entry, which is unique within one connection only.
      const { id: _, at, connection, ...act } = entry;
      yield { place, entry: { id: place, at: isoTime(at), connection, ...act } };
    } else yield { place };
  }
}

/**
 * Returns the test whether an audit entry fits the filter. The test may not use `subject` and `note`: a search reads this personal
 * data only for the entries that the test accepts.
 */
function testOf({ target, actions, ways, by }: ActFilter): (act: Act) => boolean {
  const name = by?.toLocaleLowerCase();
  return (act) =>
    // An order about a whole connection has no target, and fits every one.
    (target === undefined || act.target === undefined || act.target === target) &&
    (actions?.includes(act.act) ?? true) &&
    (ways?.includes(act.via) ?? true) &&
    (name === undefined || act.by.toLocaleLowerCase().includes(name));
}

/** Returns the ids of all orders to forget a person. */
async function forgetOrders(acts: Acts): Promise<Set<string>> {
  const orders = new Set<string>();
  for await (const portion of acts.newest())
    for (const { act, order } of portion) if (act === 'forget' && order !== undefined) orders.add(order);
  return orders;
}

/**
 * Returns the test whether an order to forget a person removed personal data; without such an order its removal breaks a hash
 * chain. For one check of a log, during which no audit entry is removed.
 */
export function createOrderTest(acts: Acts): OrderTest {
  let known: ReadonlySet<string> = new Set();
  /** Time of the oldest audit entry if older ones were removed: they may be orders, each younger than the data that it removed. */
  let oldest: Promise<number> | undefined;
  const readOldest = async (): Promise<number> => {
    const trimmed = await acts.trimmedTo();
    return trimmed ? (trimmed.at ?? Infinity) : -Infinity;
  };
  return async (order, at) => {
    if (known.has(order)) return true;
    oldest ??= readOldest();
    if (at <= (await oldest)) return true;
    // An order may have been given during the check.
    known = await forgetOrders(acts);
    return known.has(order);
  };
}

/** Checks the hash chains of all connections. */
export const verifyActs = (states: readonly ActSource[]): Promise<(PublicCheck & { connection: string })[]> =>
  Promise.all(
    states.map(async ({ connection, acts }) => {
      const check = await acts.verify(createOrderTest(acts));
      return { connection, ...toPublicCheck(connection, check) };
    }),
  );

/** Columns of the CSV export. */
export const ACT_COLUMNS = [
  'id',
  'at',
  'connection',
  'target',
  'act',
  'by',
  'via',
  'subject',
  'count',
  'note',
  'order',
  'forgotten',
] as const;

/** Returns an audit entry as cells in the order of ACT_COLUMNS; the cell of a missing value is empty. */
export const actCells = (act: LocatedAct): string[] => ACT_COLUMNS.map((column) => String(act[column] ?? ''));
