// Judges the difference of two clocks, for doctor and for the list of processes.

/** Largest accepted clock difference: leases, delays, "since", "expires" and the times of logs depend on it. */
const SKEW_LIMIT_MS = 30_000;
export const CLOCK_ADVICE = 'Set the clocks by NTP: delays and the dates of logs are wrong otherwise.';

/** Returns how far a clock is off, such as `45 s ahead`; undefined when it is close enough. */
export function clockOff(differenceMs: number): string | undefined {
  if (Math.abs(differenceMs) <= SKEW_LIMIT_MS) return undefined;
  return `${Math.round(Math.abs(differenceMs) / 1000)} s ${differenceMs > 0 ? 'ahead' : 'behind'}`;
}
