// Reads, filters and checks the provisioning logs of all connections and targets.
import type { TargetFeed } from '../../directory/fleet/known-targets.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { LogAction, LogEntry, LogStatus, PlacedEntry } from '../../directory/logs/provisioning-log.ts';
import { fold, type Ref } from '../../directory/records.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { LogSpan } from '../../directory/logs/chained-stream.ts';
import { createOrderTest } from './acts.ts';
import { isoTime } from '../../support/sources.ts';
import {
  newestFirst,
  toPublicCheck,
  type MergedSpan,
  type PublicCheck,
  type SearchStep,
} from './newest-first.ts';

export interface LogFilter extends MergedSpan {
  /** Only entries of these resources, or with one of them as added or removed member. */
  refs?: readonly Ref[] | undefined;
  actions?: readonly LogAction[] | undefined;
  statuses?: readonly LogStatus[] | undefined;
  connection?: string | undefined;
  target?: string | undefined;
}

export type LocatedEntry = PlacedEntry & TargetFeed;

type CheckedLog = PublicCheck & TargetFeed;

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
export function searchLog(
  states: readonly LogSource[],
  filter: LogFilter,
): AsyncGenerator<SearchStep<LocatedEntry>> {
  const keep = testOf(filter);
  const logs = logsOf(states, filter).map(({ name, where, log }) => ({
    name,
    where,
    search: (span: LogSpan) => log.search(span, keep),
  }));
  return newestFirst(logs, filter);
}

/** Each resource with an account or group has an entry with one of these actions, unless the limits of the log removed it. */
const FIRST_AND_LAST: readonly LogAction[] = ['create', 'adopt', 'deactivate', 'delete'];

/**
 * Returns the refs of other resources of which the log has an entry of FIRST_AND_LAST with one of the names, such as a former
 * record. Other entries are not read, so that a large log takes less time.
 * @param filter `refs`: the resources that are not meant
 */
export async function othersNamed(
  states: readonly LogSource[],
  { refs, connection, target, since, until }: LogFilter,
  names: readonly string[],
): Promise<Ref[]> {
  const [known, wanted] = [new Set(refs), new Set(names.map(fold))];
  const found = new Set<Ref>();
  const filter = { connection, target, since, until, actions: FIRST_AND_LAST };
  for await (const { ref, name, forgotten } of readLog(states, filter))
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
        .map(([target, { log }]) => ({
          name: `${connection}.${target}`,
          where: { connection, target },
          log,
        })),
    );

/** Returns a sentence for each searched log whose limits have removed entries of the selected span of time. */
export async function removedEntriesTexts(
  states: readonly LogSource[],
  filter: LogFilter = {},
): Promise<string[]> {
  const texts = await Promise.all(
    logsOf(states, filter).map(async ({ where, log }) => {
      // `at`: time of the oldest entry that is left; undefined: none is left.
      const trimmed = await log.trimmedTo();
      if (!trimmed || (trimmed.at ?? Infinity) <= (filter.since ?? 0)) return [];
      const subject = `the log of ${where.connection} → ${where.target}`;
      return trimmed.at === undefined
        ? [`All entries of ${subject} were removed by its limits (provisioningLog).`]
        : [`Older entries of ${subject} were removed by its limits: it begins at ${isoTime(trimmed.at)}.`];
    }),
  );
  return texts.flat();
}

/** Checks the hash chains of all provisioning logs, those of former targets too. */
export async function verifyLogs(
  states: readonly Pick<DesiredState, 'connection' | 'acts' | 'allLogs'>[],
): Promise<CheckedLog[]> {
  const checks = await Promise.all(
    states.map(async ({ connection, acts, allLogs }) =>
      Promise.all(
        logsOf([{ connection, outboxes: await allLogs() }]).map(async ({ name, where, log }) => ({
          ...where,
          ...toPublicCheck(name, await log.verify(createOrderTest(acts))),
        })),
      ),
    ),
  );
  return checks.flat();
}

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
