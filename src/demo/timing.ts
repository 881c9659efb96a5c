// Measures the time from the answer to a push until the platform has the change.
import { systemClock } from '../support/sources.ts';
import { compare } from './comparison.ts';
import type { Company } from './company.ts';
import { isRecordedWrite, type Platform } from './platform.ts';

interface ArrivalOptions {
  /** Description for the error when the change is not applied. */
  what: string;
  limitMs: number;
  signal: AbortSignal;
  /** Called with the number of users that are equal on both sides. */
  onProgress?: (equal: number) => void;
}

/** The platform still differs at the end of the time limit. */
export class NotInTime extends Error {
  override name = 'NotInTime';

  constructor(what: string) {
    super(`Not applied in time: ${what}.`);
  }
}

/** Interval at which the platform is read. */
const POLL_MS = 15;

/**
 * Polls the platform until it equals the company. The time is taken from the platform's own log of calls, so it
 * does not depend on the polling interval.
 * @param answeredAtMs when the bridge answered the push; of the first day: when the first request was sent
 * @returns milliseconds from `answeredAtMs` until the platform's last write; 0 if that write was earlier
 * @throws NotInTime
 */
export async function untilArrived(
  platform: Platform,
  company: Company,
  answeredAtMs: number,
  { what, limitMs, signal, onProgress }: ArrivalOptions,
): Promise<number> {
  for (;;) {
    signal.throwIfAborted();
    const { rows, equal } = compare(company, await platform.state());
    onProgress?.(rows.filter((row) => row.equal).length);
    if (equal) return lastWriteAfter(platform, answeredAtMs);
    if (Date.now() - answeredAtMs > limitMs) throw new NotInTime(what);
    await systemClock.sleep(POLL_MS, signal);
  }
}

async function lastWriteAfter(platform: Platform, answeredAtMs: number): Promise<number> {
  const written = (await platform.calls())
    .filter(isRecordedWrite)
    .map(({ atMs, durationMs }) => atMs + (durationMs ?? 0));
  // The result is zero when the platform had the change before the demo had read the answer.
  return Math.max(0, ...written.map((atMs) => atMs - answeredAtMs));
}

/** Returns the percentile by nearest rank: the smallest value that at least `percent` of all values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}

/** Formats milliseconds for display. */
export const inMs = (ms: number): string => (ms < 1 ? '< 1 ms' : `${Math.round(ms)} ms`);
