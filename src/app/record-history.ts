// Adds the counts of this process to the history every few seconds. Levels, such as sizes of queues, are the same in all
// processes. So only the process that `store.note` chooses reads and adds them. Values that cannot be stored are dropped,
// because later they would count for the wrong time.
import { failureReason } from '../directory/redis/why-away.ts';
import { createHistoryStore, type HistoryNote } from '../directory/history/history-store.ts';
import type { Backlog } from '../directory/outbox/backlog.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { total } from '../support/counted.ts';
import { loggedRound, startRounds } from '../support/rounds.ts';
import { settledWithin } from '../support/within.ts';
import type { Parts } from './parts.ts';
import { outboxesOf } from './targets.ts';
import type { Tallies } from './instruments.ts';

/** Half of the shortest slot of the history (slots.ts), so that each slot gets values. */
const NOTE_MS = 5000;
/** Longest time that the stop of the service waits for the last values. */
const LAST_MS = 1000;

/** Records until the service stops. */
export function recordHistory(parts: Parts, tallies: Tallies, states: DesiredState[]): void {
  const { clock, config, logger, releasers } = parts;
  const store = createHistoryStore(parts, config.redis);
  const takeCounts = countsSince(tallies);

  /** Stores the counts; the chosen process also stores the levels, except at the stop, when there is no signal. */
  async function note(signal?: AbortSignal): Promise<void> {
    const isChosen = await store.note(takeCounts());
    if (!isChosen || !signal || signal.aborted) return;
    const levels = Object.keys(config.targets).map(async (name): Promise<HistoryNote<'target'>> => {
      const backlogs = [...outboxesOf(states, name).values()].map((outbox) => outbox.backlog());
      return { kind: 'target', name, values: levelsOf(await Promise.all(backlogs)) };
    });
    await store.note(await Promise.all(levels));
  }

  const noteLater = async (signal: AbortSignal): Promise<number> => {
    await note(signal);
    return NOTE_MS;
  };
  const failure = { failedMs: NOTE_MS, message: 'history not stored', reasonOf: failureReason };
  const stop = startRounds(clock, loggedRound(logger, noteLater, failure));
  releasers.add('history', async () => {
    // The counts since the last round are still stored.
    await settledWithin(
      clock,
      stop().then(() => note()),
      LAST_MS,
    );
  });
}

/** Returns a function that returns the increase of each count since the previous call. */
function countsSince({ pushes, calls }: Tallies): () => HistoryNote[] {
  const before = new Map<object, Record<string, number>>();
  const increase = <Tally extends object>(tally: Tally): Tally => {
    const previous = before.get(tally) ?? {};
    const current = { ...tally } as Record<string, number>;
    before.set(tally, current);
    return Object.fromEntries(
      Object.entries(current).map(([name, count]) => [name, count - (previous[name] ?? 0)]),
    ) as Tally;
  };
  return () => [
    ...[...pushes].map(([name, tally]) => ({ kind: 'connection' as const, name, values: increase(tally) })),
    ...[...calls].map(([name, tally]) => ({ kind: 'target' as const, name, values: increase(tally) })),
  ];
}

/** Returns the levels of a target: the sum over its connections, and the highest of their ages. */
function levelsOf(backlogs: readonly Backlog[]): HistoryNote<'target'>['values'] {
  const sum = (of: (backlog: Backlog) => number): number => total(backlogs.map(of));
  return {
    lagMs: Math.max(0, ...backlogs.map(({ oldestMs }) => oldestMs)),
    deactivation: sum(({ priorities }) => priorities.deactivation),
    edit: sum(({ priorities }) => priorities.edit),
    new: sum(({ priorities }) => priorities.new),
    reconcile: sum(({ priorities }) => priorities.reconcile),
    inflight: sum(({ inflight }) => inflight),
    held: sum(({ held }) => total(Object.values(held))),
    deadLetters: sum(({ blocked }) => blocked),
    exceptions: sum(({ exceptions }) => exceptions.total),
    drift: sum(({ lastRun }) => total((lastRun?.drift ?? []).map(({ count }) => count))),
  };
}
