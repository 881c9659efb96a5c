// Ends a command whose platform does not answer, so that no command waits for hours (docs/commands.md).
import type { BreakerState } from '../directory/outbox/breaker.ts';
import {
  PlatformAborted,
  PlatformConnection,
  PlatformResponse,
  PlatformTimeout,
} from '../platform/errors.ts';
import type { Clock } from '../support/sources.ts';
import type { Target } from '../sync/target.ts';

/** Time within which the platform has to answer the first call of a command. */
const FIRST_ANSWER_MS = 10_000;
/** Time of an open breaker after which a running command ends. */
const OPEN_MS = 10_000;
const POLL_MS = 1000;

/** Thrown when a platform does not answer; the message says since when, and its last words. */
export class PlatformSilent extends Error {}

/**
 * Resolves when the platform answers a call, whatever it answers; a refusal is left to the command.
 * @throws PlatformSilent after 10 s with no answer but failures
 */
export async function requireAnswer(
  { name, client, breaker }: Pick<Target, 'name' | 'client' | 'breaker'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.timeout(FIRST_ANSWER_MS);
  const either = AbortSignal.any([signal, limit]);
  let lastWords = 'no answer';
  for (;;) {
    try {
      await client.users.list({ startIndex: 1, count: 1 }, { signal: either, timeoutMs: FIRST_ANSWER_MS });
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PlatformAborted)) {
        if (!isSilence(error)) return;
        lastWords = (error as Error).message;
      }
      if (limit.aborted) throw new PlatformSilent(silentText(name, await breaker.read(), lastWords));
      await clock.sleep(POLL_MS, either).catch(() => undefined);
    }
  }
}

/** No answer, or an answer that says that the platform is not there: 5xx. */
const isSilence = (error: unknown): boolean =>
  error instanceof PlatformConnection ||
  error instanceof PlatformTimeout ||
  (error instanceof PlatformResponse && error.status >= 500);

/**
 * Calls `onSilent` once when the breaker of a target stays open, which means that only probes are sent.
 * @returns ends the watch
 */
export function watchSilence(
  targets: readonly Pick<Target, 'name' | 'breaker'>[],
  onSilent: (error: PlatformSilent) => void,
): () => void {
  const openFor = new Map<string, number>();
  const look = async (): Promise<void> => {
    for (const { name, breaker } of targets) {
      const state = await breaker.read();
      openFor.set(name, state.open ? (openFor.get(name) ?? 0) + POLL_MS : 0);
      if ((openFor.get(name) ?? 0) < OPEN_MS) continue;
      const words = state.status ? `it answers ${state.status}` : 'no answer';
      onSilent(new PlatformSilent(silentText(name, state, words)));
    }
  };
  const timer = setInterval(() => void look().catch(() => undefined), POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function silentText(target: string, { since }: BreakerState, lastWords: string): string {
  const when = since === undefined ? '' : ` since ${new Date(since).toISOString()}`;
  return `The platform ${target} does not answer${when}: ${lastWords}. Changes stay marked, and a worker applies them when it answers.`;
}

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Returns milliseconds of a time such as `90s`, `10m` or `2h`. @throws Error with the accepted form */
export function toDeadlineMs(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const ms = Number(digits) * (UNITS[unit] ?? 0);
  if (ms === 0) throw new Error('--deadline is a time such as 90s, 10m or 2h.');
  return ms;
}
