// Reads the facts for notices: the same counts that status, metrics and `token list` show.
import type { DesiredState } from '../directory/desired-state.ts';
import type { Backlog } from '../directory/outbox/backlog.ts';
import type { Breaker, BreakerState } from '../directory/outbox/breaker.ts';
import type { Clock } from '../support/sources.ts';
import type { SettingsToken } from '../tokens/keyring.ts';
import { listTokens } from '../tokens/operations.ts';

export interface NoticeFacts {
  /** Unix milliseconds of Redis. */
  now: number;
  backlogs: {
    connection: string;
    target: string;
    backlog: Pick<
      Backlog,
      'held' | 'exceptions' | 'blocked' | 'blockedSince' | 'failedRuns' | 'failingSince' | 'lastRun'
    >;
  }[];
  breakers: { target: string; state: BreakerState }[];
  /** Expiry of each token of a connection, Unix milliseconds; null: never. */
  tokens: { connection: string; expiresAt: (number | null)[] }[];
}

interface NoticeSources {
  states: readonly DesiredState[];
  breakers: ReadonlyMap<string, Pick<Breaker, 'read'>>;
  /** The tokens that the settings name. */
  tokensOf: (connection: string) => readonly SettingsToken[];
  clock: Clock;
}

/** Reads the facts of all connections and targets. @throws errors of Redis */
export async function readNoticeFacts({
  states,
  breakers,
  tokensOf,
  clock,
}: NoticeSources): Promise<NoticeFacts> {
  const places = states.flatMap(({ connection, outboxes }) =>
    [...outboxes].map(([target, outbox]) => ({ connection, target, outbox })),
  );
  const [backlogs, breakerStates, tokens] = await Promise.all([
    Promise.all(places.map(async ({ outbox, ...place }) => ({ ...place, backlog: await outbox.backlog() }))),
    Promise.all([...breakers].map(async ([target, each]) => ({ target, state: await each.read() }))),
    Promise.all(
      states.map(async ({ connection, tokens: stored }) => {
        const found = await listTokens(clock, { settings: tokensOf(connection), stored });
        return { connection, expiresAt: found.map(({ expiresAt }) => toMs(expiresAt)) };
      }),
    ),
  ]);
  // Without any backlog there is no time of Redis, and the clock of this process is used.
  const now = Math.max(0, ...backlogs.map(({ backlog }) => backlog.now)) || clock.now();
  return { now, backlogs, breakers: breakerStates, tokens };
}

const toMs = (time: string | null): number | null => (time === null ? null : Date.parse(time));
