// Reads and filters the audit entries of all connections, newest first, and checks their hash chains.
import type { ACTS, Acts, PlacedAct } from '../directory/logs/acts.ts';
import type { ChainCheck } from '../directory/logs/chained-stream.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { newestFirst, publicBreak, publicId, type MergedSpan } from './newest-first.ts';

/** An audit entry with its connection. `id` is unique over all connections; `at` is ISO 8601. */
export type LocatedAct = Omit<PlacedAct, 'at'> & { connection: string; at: string };

export interface ActFilter extends MergedSpan {
  connection?: string | undefined;
  /** Only orders about this target, and orders about a whole connection. */
  target?: string | undefined;
  actions?: readonly (typeof ACTS)[number][] | undefined;
}

type Kept = Pick<DesiredState, 'connection' | 'acts'>;

/** Yields matching audit entries over all connections, newest first. */
export async function* readActs(states: readonly Kept[], filter: ActFilter = {}): AsyncGenerator<LocatedAct> {
  const logs = states
    .filter(({ connection }) => connection === (filter.connection ?? connection))
    .map(({ connection, acts }) => ({ ...acts, name: connection }));
  for await (const { log: connection, id, at, ...act } of newestFirst(logs, filter)) {
    if (filter.target !== undefined && act.target !== undefined && act.target !== filter.target) continue;
    if (!(filter.actions?.includes(act.act) ?? true)) continue;
    yield { id: publicId(connection, id), at: new Date(at).toISOString(), connection, ...act };
  }
}

/** Returns the ids of all orders to forget a person. */
export async function forgetOrders(acts: Pick<Acts, 'newest'>): Promise<Set<string>> {
  const orders = new Set<string>();
  for await (const portion of acts.newest())
    for (const { act, order } of portion) if (act === 'forget' && order !== undefined) orders.add(order);
  return orders;
}

/** Checks the hash chains; `broken` names the first entry that does not fit, or the end. */
export const verifyActs = (
  states: readonly Kept[],
): Promise<({ connection: string; broken: string | null } & Omit<ChainCheck, 'broken'>)[]> =>
  Promise.all(
    states.map(async ({ connection, acts }) => {
      const { broken, ...check } = await acts.verify(await forgetOrders(acts));
      return { connection, ...check, broken: publicBreak(connection, broken) };
    }),
  );
