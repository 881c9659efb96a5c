// Fetches and caches the signing keys of an issuer, with a minimum interval so that requests cannot flood the issuer.
import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { readAnswerAtMost } from '../support/limits.ts';
import { timeLimit } from '../support/time-limit.ts';

/** The keys of one fetch. */
export interface KeySet {
  /** Number of the fetch, ascending. */
  serial: number;
  /** Finds the key of a token. */
  select: ReturnType<typeof createLocalJWKSet>;
  /** Unix milliseconds. */
  fetchedAt: number;
}

/** Age from which keys are fetched again. */
const FRESH_MS = 10 * 60_000;
/** Minimum time between two fetches; shorter while there are no keys. */
const COOLDOWN_MS = 30_000;
const FIRST_COOLDOWN_MS = 5000;
/** Longest use of keys without a successful fetch: the issuer may have withdrawn them. */
const LONGEST_MS = 24 * 3_600_000;
/** Longest wait for an answer of the issuer. */
const TIMEOUT_MS = 5000;
/** Largest answer of the issuer that is read. */
const MAX_BYTES = 512 * 1024;

/** @param uri address of the issuer's JWK set (RFC 7517 §5) */
export function createJwks(deps: { clock: Clock; logger: Logger }, uri: string) {
  const { clock, logger } = deps;
  let keys: KeySet | undefined;
  let serial = 0;
  let triedAt = -Infinity;
  let isFailing = false;
  let running: Promise<void> | undefined;

  /** Fetches the keys once. Never rejects. */
  async function attempt(): Promise<void> {
    try {
      const select = createLocalJWKSet(await fetchKeys(uri));
      keys = { serial: ++serial, select, fetchedAt: clock.now() };
      if (isFailing) logger.info({ issuerKeys: uri }, 'signing keys of the issuer can be fetched again');
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        logger.warn({ issuerKeys: uri, reason: reasonOf(error) }, 'signing keys cannot be fetched');
      isFailing = true;
    }
  }

  /** Fetches the keys unless the last fetch was within the cooldown; concurrent callers share one fetch. */
  function renew(): Promise<void> {
    if (running) return running;
    if (clock.now() - triedAt < (keys ? COOLDOWN_MS : FIRST_COOLDOWN_MS)) return Promise.resolve();
    triedAt = clock.now();
    running = attempt().finally(() => (running = undefined));
    return running;
  }

  /** Returns the keys of the last successful fetch; undefined without one within LONGEST_MS. */
  const usableKeys = (): KeySet | undefined =>
    keys && clock.now() - keys.fetchedAt < LONGEST_MS ? keys : undefined;

  return {
    /** Returns the keys; undefined when there are none. Keys older than FRESH_MS are fetched again in the background. */
    async current(): Promise<KeySet | undefined> {
      const known = usableKeys();
      if (!known) await renew();
      else if (clock.now() - known.fetchedAt >= FRESH_MS) void renew();
      return known ?? usableKeys();
    },
    /**
     * Fetches keys for a token whose key is not in `than`, unless the last fetch was within COOLDOWN_MS.
     * @returns the newest keys, also of an earlier fetch; undefined when no keys are newer than `than`
     */
    async newer(than: KeySet): Promise<KeySet | undefined> {
      await renew();
      const latest = usableKeys();
      return latest && latest.serial > than.serial ? latest : undefined;
    },
    /** Whether the last fetch failed. */
    get isFailing(): boolean {
      return isFailing;
    },
  };
}

async function fetchKeys(uri: string): Promise<JSONWebKeySet> {
  // Redirects are refused, because their target may not use https.
  const answer = await fetch(uri, {
    redirect: 'manual',
    signal: timeLimit(TIMEOUT_MS),
    headers: { accept: 'application/jwk-set+json, application/json' },
  });
  if (answer.status !== 200) {
    await answer.body?.cancel();
    throw new Error(`status ${answer.status}`);
  }
  const { bytes, isWhole } = await readAnswerAtMost(answer, MAX_BYTES);
  if (!isWhole) throw new Error(`more than ${MAX_BYTES} bytes`);
  return JSON.parse(bytes.toString()) as JSONWebKeySet;
}

/** Returns the cause of a failed fetch; the message `fetch failed` does not contain it. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
