// Defines a finding of doctor: what was checked, the result, and advice.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import { isStoreFailure, isWithoutConnection, whyAway } from '../../directory/redis/why-away.ts';
import { capital } from '../../support/sentence-parts.ts';

export interface DoctorFinding {
  /**
   * Subject of the finding, one of these:
   * - `redis`, `clock`, `config`, `fleet`, `target <name>`, `notices <channel>`;
   * - `hold`, `address`, `sync` or `reconcile`, followed by `<connection> → <target>`;
   * - `data`, `forget`, `tokens`, `events` or `log`, followed by `<connection>`.
   *
   * The finding that a check could not be made (`orUnmade`) may have the first word alone.
   */
  area: string;
  level: 'ok' | 'warning' | 'error';
  message: string;
  /** Advice for the operator; null when nothing has to be done. */
  advice: string | null;
}

/** Returns the functions that make findings about an area: nothing to do (`ok`), a risk (`warning`) and a fault (`error`). */
export const findingFor = (area: string) => ({
  ok: (message: string): DoctorFinding => ({ area, level: 'ok', message, advice: null }),
  warning: (message: string, advice: string): DoctorFinding => ({ area, level: 'warning', message, advice }),
  error: (message: string, advice: string): DoctorFinding => ({ area, level: 'error', message, advice }),
});

/** Returns a sentence part as a sentence. */
export const toSentence = (part: string): string => `${capital(part)}.`;

/** Returns the findings of a check that is made for each connection and target; undefined: the check finds nothing. */
export async function findingsByTarget(
  states: readonly DesiredState[],
  check: (state: DesiredState, target: string, outbox: Outbox) => Promise<DoctorFinding | undefined>,
): Promise<DoctorFinding[]> {
  const findings: (DoctorFinding | undefined)[] = [];
  for (const state of states)
    for (const [target, outbox] of state.outboxes) findings.push(await check(state, target, outbox));
  return findings.filter((each) => each !== undefined);
}

/**
 * Largest accepted difference between two clocks. Leases and due times go by the clock of Redis alone. A process compares its own
 * clock with times that others stored: the expiry of tokens, and the delay before an account is deleted.
 */
const SKEW_LIMIT_MS = 30_000;
export const CLOCK_ADVICE =
  'Set the clocks by NTP: delays, the expiry of tokens and the dates of logs are wrong otherwise.';

/** Returns how far a clock is off, such as `45 s ahead`; undefined when it is close enough. */
export function clockOff(differenceMs: number): string | undefined {
  if (Math.abs(differenceMs) <= SKEW_LIMIT_MS) return undefined;
  return `${Math.round(Math.abs(differenceMs) / 1000)} s ${differenceMs > 0 ? 'ahead' : 'behind'}`;
}

/** Compares a clock with the clock of this process. Both times are Unix milliseconds. */
export function clockFinding(whose: string, theirs: number, ours: number): DoctorFinding {
  const { ok, warning } = findingFor('clock');
  const off = clockOff(theirs - ours);
  return off === undefined ? ok(`agrees with ${whose}`) : warning(`${whose} is ${off}`, CLOCK_ADVICE);
}

/** Returns the findings of a check, or one finding with the reason if the check fails, so that doctor still lists it. */
export async function orUnmade(
  area: string,
  check: () => Promise<DoctorFinding[]>,
): Promise<DoctorFinding[]> {
  try {
    return await check();
  } catch (error) {
    return [{ area, level: 'error', ...whyUnmade(error) }];
  }
}

function whyUnmade(error: unknown): Pick<DoctorFinding, 'message' | 'advice'> {
  if (!isStoreFailure(error)) {
    const { message } = error as Error;
    return { message: `not checked: ${message.replace(/\.$/, '')}`, advice: 'Repeat the check.' };
  }
  if (isWithoutConnection(error))
    return {
      message: 'not checked: there is no connection to Redis',
      advice: 'See the finding about redis, then repeat the check.',
    };
  const cause = (error as { previousErrors?: Error[] }).previousErrors?.[0] ?? error;
  return {
    message: `not checked: Redis does not answer, or takes no writes (${whyAway(cause)})`,
    advice:
      'Repeat the check when Redis answers and takes writes. If it is a replica, point redis.url at the primary.',
  };
}
