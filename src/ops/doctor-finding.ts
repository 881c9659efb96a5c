// Defines a finding of doctor: what was checked, the result, and advice.
import { CLOCK_ADVICE, clockOff } from './clocks.ts';

export interface DoctorFinding {
  /**
   * `redis`, `clock`, `config`, `fleet`, `target <name>`, `hold`, `sync` or `reconcile` with `<connection> → <target>`, or `data`,
   * `tokens` or `log` with `<connection>`. A check that was not made may have the first word alone.
   */
  area: string;
  level: 'ok' | 'warning' | 'error';
  message: string;
  /** Advice for the operator; null when nothing has to be done. */
  advice: string | null;
}

/** Returns a finding that needs no action. */
export const okFinding = (area: string, message: string): DoctorFinding => ({
  area,
  level: 'ok',
  message,
  advice: null,
});

/** Returns a finding about a risk. */
export const warningFinding = (area: string, message: string, advice: string): DoctorFinding => ({
  area,
  level: 'warning',
  message,
  advice,
});

/** Returns a finding about a fault. */
export const errorFinding = (area: string, message: string, advice: string): DoctorFinding => ({
  area,
  level: 'error',
  message,
  advice,
});

/** Compares a clock with the clock of this process. Both times are Unix milliseconds. */
export function clockFinding(whose: string, theirs: number, ours: number): DoctorFinding {
  const off = clockOff(theirs - ours);
  return off === undefined
    ? okFinding('clock', `agrees with ${whose}`)
    : warningFinding('clock', `${whose} is ${off}`, CLOCK_ADVICE);
}
