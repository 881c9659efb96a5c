// Provides the sandbox's clock: real time plus the offset that the control port sets.
import { systemClock, type Clock } from '../support/sources.ts';

export interface SandboxClock {
  /** Returns Unix time in milliseconds including the offset. */
  now(): number;
  offsetMs(): number;
  /** Adds whole milliseconds to the offset; negative values move the clock back. */
  advance(ms: number): void;
  reset(): void;
}

/** Creates a movable clock over `base`. Expiry, time stamps and stale reads use it; delays of the sandbox take real time. */
export function createSandboxClock(base: Clock = systemClock): SandboxClock {
  let offset = 0;
  return {
    now: () => base.now() + offset,
    offsetMs: () => offset,
    advance: (ms) => {
      offset += ms;
    },
    reset: () => {
      offset = 0;
    },
  };
}
