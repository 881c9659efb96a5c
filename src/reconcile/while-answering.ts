// Ends work when a target does not answer, judged by the calls of this process and by the breaker that all replicas share.
import type { Breaker } from '../directory/outbox/breaker.ts';
import type { Clock } from '../support/sources.ts';
import type { Answering, TargetSilence } from '../sync/answering.ts';

/** Time without a good answer after which a command gives up, milliseconds; with its start it stays below 15 s. */
const SILENCE_MS = 9000;
const LOOK_MS = 250;
/** Failures in a row that count as silence while the breaker is closed. */
const FEW = 3;
const UNAVAILABLE = 503;

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

const lastWords = (last: TargetSilence['last']): string =>
  last === undefined || last.error === 'PlatformTimeout'
    ? 'a call got no answer in time'
    : last.status > 0
      ? `the last answer was HTTP ${last.status}`
      : 'no connection was possible, or it broke';

const isOver = ({ failures, last }: TargetSilence, isOpen: boolean): boolean =>
  isOpen || failures === 0 || failures >= FEW || last?.status === UNAVAILABLE;

/**
 * Runs work with a signal that is aborted when the target does not answer.
 * @throws TargetSilent; the reason of `signal`; what `work` throws
 */
export async function whileAnswering<T>(
  {
    target,
    clock,
  }: { target: { name: string; breaker: Pick<Breaker, 'read'>; answering: Answering }; clock: Clock },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const silent = new AbortController();
  const either = AbortSignal.any([signal, silent.signal]);
  let openSince: number | undefined;
  let isLooking = false;
  async function look(): Promise<void> {
    const now = clock.now();
    const { open, since, status } = await target.breaker.read();
    openSince = open ? (openSince ?? now) : undefined;
    const silence = target.answering.read();
    const isSilent =
      (openSince !== undefined && now - openSince >= SILENCE_MS) ||
      (silence !== undefined && now - silence.since >= SILENCE_MS && isOver(silence, open));
    if (!isSilent) return;
    const last = silence?.last ?? (open ? { status: status ?? 0 } : undefined);
    const begin = Math.min(silence?.since ?? now, open ? (since ?? now) : now);
    silent.abort(new TargetSilent(target.name, begin, last));
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

/** Time that aborted work has for its last notes, milliseconds. */
const LAST_NOTES_MS = 1000;

/** Rejects some time after the abort, for work that does not end by itself. */
function afterAbort(signal: AbortSignal, clock: Clock): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => void clock.sleep(LAST_NOTES_MS).then(() => reject(signal.reason as Error));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
