// Reads, filters and checks the provisioning logs of all connections and targets.
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { LogAction, LogEntry, LogStatus, PlacedEntry } from '../../directory/logs/provisioning-log.ts';
import { fold, type Ref } from '../../directory/records.ts';
import { ACT_LIMITS, type Acts } from '../../directory/logs/acts.ts';
import type { ChainCheck } from '../../directory/logs/chain-check.ts';
import type { LogSpan } from '../../directory/logs/chained-stream.ts';
import { forgetOrders } from './acts.ts';
import { isoTime } from '../../support/sources.ts';
import { newestFirst, publicBreak, type MergedSpan, type SearchStep } from './newest-first.ts';

export interface LogFilter extends MergedSpan {
  /** Only entries of these resources, or with one of them as added or removed member. */
  refs?: readonly Ref[] | undefined;
  actions?: readonly LogAction[] | undefined;
  statuses?: readonly LogStatus[] | undefined;
  connection?: string | undefined;
  target?: string | undefined;
}

export type LocatedEntry = PlacedEntry & { connection: string; target: string };

/** One connection with the outboxes of its targets, each of which has a log. */
export interface LogSource {
  connection: string;
  outboxes: ReadonlyMap<string, Pick<Outbox, 'log'>>;
}

/** Yields matching entries over all connections and targets, newest first. */
export async function* readLog(
  states: readonly LogSource[],
  filter: LogFilter = {},
): AsyncGenerator<LocatedEntry> {
  for await (const { entry } of searchLog(states, filter)) if (entry) yield entry;
}

/** Yields matching entries as readLog does, and between them the place up to which the logs were searched. */
export async function* searchLog(
  states: readonly LogSource[],
  filter: LogFilter,
): AsyncGenerator<SearchStep<LocatedEntry>> {
  const logs = logsOf(states, filter);
  const places = new Map(logs.map(({ name, connection, target }) => [name, { connection, target }]));
  const keep = testOf(filter);
  const searched = logs.map(({ name, search }) => ({ name, search: (span: LogSpan) => search(span, keep) }));
  for await (const { place, entry: found } of newestFirst(searched, filter)) {
    const where = found && places.get(found.log);
    if (where) {
      const { log: _, ...entry } = found;
      yield { place, entry: { ...entry, ...where } };
    } else yield { place };
  }
}

/**
 * Returns the refs of other resources of which the log has entries with one of the names: a former record, or one that was renamed.
 * @param filter `refs` are left out
 */
export async function othersNamed(
  states: readonly LogSource[],
  { refs, connection, target, since, until }: LogFilter,
  names: readonly string[],
): Promise<Ref[]> {
  const [known, wanted] = [new Set(refs), new Set(names.map(fold))];
  const found = new Set<Ref>();
  for await (const { ref, name, forgotten } of readLog(states, { connection, target, since, until }))
    if (!forgotten && !known.has(ref) && wanted.has(fold(name))) found.add(ref);
  return [...found];
}

const logsOf = (
  states: readonly LogSource[],
  { connection: onlyConnection, target: onlyTarget }: LogFilter = {},
) =>
  states
    .filter(({ connection }) => onlyConnection === undefined || connection === onlyConnection)
    .flatMap(({ connection, outboxes }) =>
      [...outboxes]
        .filter(([target]) => onlyTarget === undefined || target === onlyTarget)
        .map(([target, { log }]) => ({ ...log, name: `${connection}.${target}`, connection, target })),
    );

/** Returns a sentence for each searched log whose limits have removed entries of the selected span of time. */
export async function removedEntriesTexts(
  states: readonly LogSource[],
  filter: LogFilter = {},
): Promise<string[]> {
  const texts = await Promise.all(
    logsOf(states, filter).map(async ({ connection, target, trimmedTo }) => {
      // `at`: time of the oldest entry that is left; undefined: none is left.
      const trimmed = await trimmedTo();
      if (!trimmed || (trimmed.at ?? Infinity) <= (filter.since ?? 0)) return [];
      const log = `the log of ${connection} → ${target}`;
      return trimmed.at === undefined
        ? [`All entries of ${log} were removed by its limits (provisioningLog).`]
        : [`Older entries of ${log} were removed by its limits: it begins at ${isoTime(trimmed.at)}.`];
    }),
  );
  return texts.flat();
}

/** Check of a hash chain. `broken`: id of the first entry that does not fit; `the end`: the last are missing; null: it is whole. */
interface CheckedLog extends Omit<ChainCheck, 'broken'> {
  connection: string;
  target: string;
  broken: string | null;
}

/** Checks the hash chains of all provisioning logs. */
export const verifyLogs = (states: readonly (LogSource & { acts: Acts })[]): Promise<CheckedLog[]> =>
  Promise.all(
    logsOf(states).map(async ({ connection, target, verify, limits }) => {
      const acts = states.find((state) => state.connection === connection)?.acts;
      // Removed personal data breaks the chain, unless the audit log has an order of `forget` for it. If this log is kept longer
      // than the audit log, the order may be gone, so every removal is accepted (undefined).
      const isComparable = acts !== undefined && limits.maxAgeMs <= ACT_LIMITS.maxAgeMs;
      const { broken, ...check } = await verify(isComparable ? await forgetOrders(acts) : undefined);
      return { connection, target, ...check, broken: publicBreak(`${connection}.${target}`, broken) };
    }),
  );

/**
 * Returns the test whether an entry fits the filter; undefined: all entries fit. The test may not use names and values: a
 * search reads this personal data only for the entries that the test accepts.
 */
function testOf({ refs, actions, statuses }: LogFilter): ((entry: LogEntry) => boolean) | undefined {
  if (!refs && !actions && !statuses) return undefined;
  const wanted = new Set<string>(refs);
  const concerns = ({ ref, members }: LogEntry): boolean =>
    wanted.has(ref) || (members?.some((user) => wanted.has(`User:${user}`)) ?? false);
  return (entry) =>
    (refs === undefined || concerns(entry)) &&
    (actions?.includes(entry.action) ?? true) &&
    (statuses?.includes(entry.status) ?? true);
}
