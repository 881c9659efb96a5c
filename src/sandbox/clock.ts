// The sandbox's own time: real time plus whatever the control port has added.
import { systemClock, type Clock } from '../support/clock.ts';

export interface SandboxClock {
  /** Unix time in milliseconds, shifted. */
  now(): number;
  offsetMs(): number;
  /** Moves the clock forward (or back) by whole milliseconds. */
  advance(ms: number): void;
  reset(): void;
}

/** A movable clock over `base`; only expiry, time stamps and stale reads follow it, waiting stays real. */
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
