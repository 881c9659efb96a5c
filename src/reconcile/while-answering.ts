// Ends work when a target does not answer, judged by the calls of this process and by the breaker that all replicas share.
import type { Breaker } from '../directory/outbox/breaker.ts';
import type { Budget } from '../directory/outbox/budget.ts';
import type { Clock } from '../support/sources.ts';
import type { Answering, RateLimited, TargetSilence } from '../sync/answering.ts';

/** Time without a good answer after which a command gives up, milliseconds; with its start it stays below 15 s. */
const SILENCE_MS = 9000;
const LOOK_MS = 250;
/** Failures in a row that count as silence while the breaker is closed. */
const FEW = 3;
const UNAVAILABLE = 503;
/** The same limit for answers 429 that follow good answers; it is longer than the usual window of a rate limit. */
const LIMITED_MS = 120_000;
/** Wait for the rate limit after which it is reported, and interval of the reports, milliseconds. */
const TELL_AFTER_MS = 3000;
const TELL_EVERY_MS = 10_000;

/** The platform gave no good answer for SILENCE_MS. */
export class TargetSilent extends Error {
  override name = 'TargetSilent';
  /** @param since Unix milliseconds */
  constructor(target: string, since: number, last: TargetSilence['last']) {
    const at = new Date(since).toISOString();
    super(
      `The target ${target} does not answer since ${at}: ${lastWords(last)}. Check it with scim-bridge doctor, then repeat the command.`,
    );
  }
}

/** The platform answered every call with 429. */
export class TargetRefusesRate extends TargetSilent {
  constructor(target: string, { since, last }: RateLimited) {
    super(target, since, { status: 429 });
    this.message =
      `The target ${target} refuses every call with HTTP 429 (its rate limit) since ${new Date(since).toISOString()}, ` +
      `last at ${new Date(last).toISOString()}. Repeat the command later; if it stays, lower targets.${target}.rateLimit ` +
      'or find what else uses the limit.';
  }
}

const lastWords = (last: TargetSilence['last']): string =>
  last === undefined || last.error === 'PlatformTimeout'
    ? 'a call got no answer in time'
    : last.status > 0
      ? `the last answer was HTTP ${last.status}`
      : 'no connection was possible, or it broke';

const isOver = ({ failures, last }: TargetSilence, isOpen: boolean): boolean =>
  isOpen || failures === 0 || failures >= FEW || last?.status === UNAVAILABLE;

const isRefused = ({ since, last, wasAnswered }: RateLimited): boolean =>
  last - since >= (wasAnswered ? LIMITED_MS : SILENCE_MS);

interface Watched {
  target: {
    name: string;
    breaker: Pick<Breaker, 'read'>;
    answering: Answering;
    budget: Pick<Budget, 'pausedMs'>;
  };
  clock: Clock;
}

/**
 * Runs work with a signal that is aborted when the target does not answer.
 * @param tell called every few seconds while the work waits for the rate limit of the platform
 * @throws TargetSilent; the reason of `signal`; what `work` throws
 */
export async function whileAnswering<T>(
  { target, clock }: Watched,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  tell: (text: string) => void,
): Promise<T> {
  const silent = new AbortController();
  const either = AbortSignal.any([signal, silent.signal]);
  const tellWait = createWaitTeller(tell);
  let openSince: number | undefined;
  let isLooking = false;
  async function look(): Promise<void> {
    const now = clock.now();
    const [{ open, since, status }, pausedMs] = await Promise.all([
      target.breaker.read(),
      target.budget.pausedMs(),
    ]);
    openSince = open ? (openSince ?? now) : undefined;
    const silence = target.answering.read();
    const isSilent =
      (openSince !== undefined && now - openSince >= SILENCE_MS) ||
      (silence !== undefined && now - silence.since >= SILENCE_MS && isOver(silence, open));
    if (isSilent) {
      const last = silence?.last ?? (open ? { status: status ?? 0 } : undefined);
      const begin = Math.min(silence?.since ?? now, open ? (since ?? now) : now);
      silent.abort(new TargetSilent(target.name, begin, last));
      return;
    }
    const limited = target.answering.readLimited();
    if (limited && isRefused(limited)) silent.abort(new TargetRefusesRate(target.name, limited));
    else if (!open) tellWait(now, pausedMs, limited);
  }
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch(() => undefined)
      .finally(() => (isLooking = false));
  }, LOOK_MS);
  try {
    return await Promise.race([work(either), afterAbort(either, clock)]);
  } catch (error) {
    throw either.aborted ? either.reason : error;
  } finally {
    clearInterval(timer);
  }
}

/** Returns a function that reports a wait for the rate limit after it has lasted some seconds. */
function createWaitTeller(tell: (text: string) => void) {
  let since: number | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;
  return (now: number, pausedMs: number, limited: RateLimited | undefined): void => {
    since = limited || pausedMs > 0 ? (since ?? now) : undefined;
    if (since === undefined || now - since < TELL_AFTER_MS || now - toldAt < TELL_EVERY_MS) return;
    toldAt = now;
    const at = limited ? `, HTTP 429 since ${new Date(limited.since).toISOString()}` : '';
    const until = pausedMs > 0 ? `: all calls pause until ${new Date(now + pausedMs).toISOString()}` : '';
    tell(`waits for the rate limit of the platform${at}${until}`);
  };
}

/** Time that aborted work has to store its last results, milliseconds. */
const LAST_NOTES_MS = 1000;

/** Rejects some time after the abort, for work that does not end by itself. */
function afterAbort(signal: AbortSignal, clock: Clock): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => void clock.sleep(LAST_NOTES_MS).then(() => reject(signal.reason as Error));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
