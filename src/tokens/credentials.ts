// Keeps the credentials of each connection in memory: the tokens of the settings, the stored tokens, and the verifier of JWTs.
// Requests need no call to Redis; while Redis is unavailable the last known tokens are used. Two rounds run beside the requests:
// `poll` reads the stored tokens every second, `checkExpiryAndUses` logs tokens that expire soon and exchanges last uses every
// minute.
import { failureReason } from '../directory/redis/why-away.ts';
import type { StoredTokens } from '../directory/stored-tokens.ts';
import { type Bucket, createBucket } from '../support/limits.ts';
import { startRounds } from '../support/rounds.ts';
import { isoTime, type Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { daysUntil, warningOf } from './expiry.ts';
import { createJwtVerifier, type JwtSettings, type JwtVerifier } from './jwt.ts';
import { createKeyring, type Keyring, type SettingsToken } from './keyring.ts';

interface CredentialSettings {
  /** Name of the connection. */
  name: string;
  /** Tokens of the settings. The list is changed in place when a secret is rotated; `renew` reads it again. */
  tokens: readonly SettingsToken[];
  /** Issuer of JWTs; null or undefined: JWTs are refused. */
  jwt?: JwtSettings | null;
  /** Rate limit of one token in this process; undefined: no limit. */
  rateLimit?: { requestsPerSecond: number; burst: number };
}

export interface ConnectionCredentials {
  keyring: Keyring;
  /** JWT verifier, if an issuer is configured; all JWTs of the connection share one rate limit (`budget`). */
  jwt?: { verifier: JwtVerifier; budget: Bucket };
}

/**
 * Times of a token in Unix milliseconds. `expiresAt` Infinity: never. `lastUsedAt` 0: never; uses at other processes are known
 * within two minutes.
 */
export interface TokenTimes {
  connection: string;
  /** Name of the token. */
  token: string;
  expiresAt: number;
  lastUsedAt: number;
}

/** Pause between two reads of the stored tokens. While Redis answers, a revoked token is refused within two seconds. */
const POLL_MS = 1000;
/** Interval at which last uses are stored and read, and expiry is checked. */
const CHECK_MS = 60_000;
/** Bucket without a limit: the wait before a request is 0 ms. */
const UNLIMITED: Bucket = { take: () => 0 };

type ConnectionEntry = ConnectionCredentials & {
  settings: CredentialSettings;
  stored: StoredTokens;
  /** Last uses of all processes, as stored in Redis: token name → Unix milliseconds. */
  storedUses: Map<string, number>;
};

export type CredentialStore = Awaited<ReturnType<typeof createCredentialStore>>;

/** Creates the store and starts its periodic work. Resolves when the stored tokens were read, or Redis failed. */
export async function createCredentialStore(
  deps: { clock: Clock; logger: Logger },
  connections: readonly { settings: CredentialSettings; stored: StoredTokens }[],
) {
  const { clock, logger } = deps;
  const warnOfExpiry = createExpiryWarnings(logger);
  /** Work that failed the last time, as `<connection> <failure>`. */
  const failing = new Set<string>();
  const byConnection = new Map<string, ConnectionEntry>(
    connections.map(({ settings, stored }) => {
      const { name, jwt, rateLimit } = settings;
      const newBudget = (): Bucket =>
        rateLimit ? createBucket({ ...rateLimit, perSecond: rateLimit.requestsPerSecond }) : UNLIMITED;
      const verifier = jwt
        ? createJwtVerifier({ clock, logger: logger.child({ connection: name }) }, jwt)
        : undefined;
      // The keys of the issuer are fetched before the first request needs them.
      void verifier?.prepare();
      const credentials = {
        keyring: createKeyring(newBudget),
        settings,
        stored,
        storedUses: new Map<string, number>(),
      };
      return [name, verifier ? { ...credentials, jwt: { verifier, budget: newBudget() } } : credentials];
    }),
  );

  /** Reads the tokens of the settings again. */
  const renew = (): void => {
    for (const { keyring, settings } of byConnection.values()) keyring.setSettings(settings.tokens);
  };

  /**
   * Runs work with Redis for one connection. An error is not thrown, because the last known tokens are used; it is logged
   * once until the same work succeeds.
   * @param failure what could not be done, for the log
   */
  async function attempt(
    { settings: { name: connection } }: ConnectionEntry,
    failure: string,
    work: () => Promise<void>,
  ): Promise<void> {
    const key = `${connection} ${failure}`;
    try {
      await work();
      failing.delete(key);
    } catch (error) {
      if (!failing.has(key)) logger.warn({ connection, reason: failureReason(error) }, failure);
      failing.add(key);
    }
  }

  const read = (entry: ConnectionEntry): Promise<void> =>
    attempt(entry, 'stored tokens cannot be read from Redis: the last known ones are used', async () =>
      entry.keyring.setStored(await entry.stored.all()),
    );

  /**
   * Stores the last uses that are not stored yet; with `onlyFirst`, only of tokens without a stored use. After a failure the
   * next interval stores them.
   */
  async function storeUses(entry: ConnectionEntry, { onlyFirst = false } = {}): Promise<void> {
    const { keyring, stored, storedUses } = entry;
    const unstored = keyring
      .all()
      .filter(({ name, lastUsedAt }) => lastUsedAt > (storedUses.get(name) ?? 0))
      .filter(({ name }) => !onlyFirst || !storedUses.has(name));
    // Without a write, `attempt` must not count a success: it would forget that the last write failed.
    if (unstored.length === 0) return;
    const uses = new Map(unstored.map(({ name, lastUsedAt }) => [name, lastUsedAt]));
    await attempt(entry, 'last uses of tokens cannot be stored in Redis: tried again', async () => {
      await stored.noteUses(uses);
      for (const [name, at] of uses) storedUses.set(name, at);
    });
  }

  /** Reads the last uses at all processes, so that the metric of a new process shows the earlier ones. */
  const readUses = (entry: ConnectionEntry): Promise<void> =>
    attempt(entry, 'last uses of tokens cannot be read from Redis: tried again', async () => {
      entry.storedUses = await entry.stored.lastUses();
    });

  /**
   * Warns of tokens that expire soon, stores the last uses of this process, and reads those of all.
   * @returns the wait before the next round, milliseconds
   */
  async function checkExpiryAndUses(): Promise<number> {
    for (const [connection, { keyring }] of byConnection) warnOfExpiry(connection, keyring, clock.now());
    await Promise.all(
      [...byConnection.values()].map(async (each) => {
        await storeUses(each);
        await readUses(each);
      }),
    );
    return CHECK_MS;
  }

  /** Reads the stored tokens. @returns the wait before the next round, milliseconds */
  async function poll(): Promise<number> {
    await Promise.all([...byConnection.values()].map(read));
    // A first use is stored early: if the process is killed, a token in use must not look unused.
    await Promise.all([...byConnection.values()].map((each) => storeUses(each, { onlyFirst: true })));
    return POLL_MS;
  }

  renew();
  await Promise.all([...byConnection.values()].map(read));
  const stops = [startRounds(clock, checkExpiryAndUses), startRounds(clock, poll, POLL_MS)];
  return {
    /** Returns the credentials of a connection; undefined for an unknown one. */
    of: (connection: string): ConnectionCredentials | undefined => byConnection.get(connection),
    /** Returns the times of all tokens of all connections. */
    tokens: (): TokenTimes[] =>
      [...byConnection].flatMap(([connection, { keyring, storedUses }]) =>
        keyring.all().map(({ name, expiresAt, lastUsedAt }) => ({
          connection,
          token: name,
          expiresAt,
          lastUsedAt: Math.max(lastUsedAt, storedUses.get(name) ?? 0),
        })),
      ),
    /** Reads the stored tokens of a connection now. Never rejects. */
    refresh: async (connection: string): Promise<void> => {
      const credentials = byConnection.get(connection);
      if (credentials) await read(credentials);
    },
    renew,
    stop: async (): Promise<void> => {
      await Promise.all(stops.map((stop) => stop()));
      await Promise.all([...byConnection.values()].map((each) => storeUses(each)));
    },
  };
}

/** Returns a function that logs tokens that expire soon, once for each token and limit of days (expiry.ts). */
function createExpiryWarnings(logger: Logger): (connection: string, keyring: Keyring, now: number) => void {
  const logged = new Map<string, number>();
  return (connection, keyring, now) => {
    for (const { name, source, expiresAt } of keyring.all()) {
      const days = warningOf(expiresAt, now);
      const key = `${connection} ${source} ${name} ${expiresAt}`;
      if (days === undefined || days >= (logged.get(key) ?? Infinity)) continue;
      logged.set(key, days);
      const fields = { connection, tokenName: name, source, expiresAt: isoTime(expiresAt) };
      if (days === 0) logger.warn(fields, 'token expired: pushes with it get 401');
      else
        logger.warn(
          { ...fields, daysLeft: daysUntil(expiresAt, now) },
          'token expires soon: make the next one beside it',
        );
    }
  };
}
