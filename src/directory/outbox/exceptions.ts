// Defines the reasons and counts of the exceptions of a target: resources that differ from the desired state until a person acts,
// and a hold of the target. exception-list.ts reads the single exceptions. The writers are lua/holds.lua and the scripts with
// lua/exceptions.lua, such as those for the end of a sync, a verdict of the guard, or a decision of an operator.
import type { Hold } from '../guard/operator-hold.ts';
import type { Condition } from './link-condition.ts';

/**
 * `Rejected`: an operator rejected the change. `LastAdministrator`: no other administrator would be left. `Dropped`: an
 * operator dropped the dead letter. `NotAdopted`: the account or group exists, and `adopt` does not allow to take it over; the
 * resource is a dead letter too. `Held`: the guard holds a change until an operator decides or the approval expires. `Protected`:
 * the account is protected.
 */
export const RESOURCE_REASONS = [
  'Rejected',
  'LastAdministrator',
  'Dropped',
  'NotAdopted',
  'Held',
  'Protected',
] as const;
/** `OnHold`: a hold stops all writes to the target. */
export const EXCEPTION_REASONS = [...RESOURCE_REASONS, 'OnHold'] as const;
export type ResourceReason = (typeof RESOURCE_REASONS)[number];
export type ExceptionReason = (typeof EXCEPTION_REASONS)[number];

/** Number of exceptions by reason and in total, and the age of the oldest in milliseconds; 0 when there is none. */
export type ExceptionCounts = Record<ExceptionReason, number> & {
  total: number;
  oldestMs: number;
  /** Age of the oldest exception of each reason, milliseconds; 0 when there is none. */
  ages: Record<ExceptionReason, number>;
};

/** Returns the reason under which a condition is listed as an exception; undefined: it is none. */
export const exceptionReasonOf = (condition: Condition | undefined): ResourceReason | undefined =>
  RESOURCE_REASONS.find((reason) => reason === condition?.reason) ?? condition?.besides;

/**
 * Converts the part of a reply of backlog.lua that is about exceptions.
 * @param found for each reason, in the order of RESOURCE_REASONS: number of exceptions, and time of the oldest ('' = none)
 * @param hold the hold of the target as stored (JSON of `Hold`); '' = none
 * @param now Unix milliseconds
 */
export function toExceptionCounts(
  found: readonly (readonly [count: number, since: string])[],
  hold: string,
  now: number,
): ExceptionCounts {
  const counts = zeroByReason();
  const ages = zeroByReason();
  let total = 0;
  const add = (reason: ExceptionReason, count: number, since: string): void => {
    counts[reason] = count;
    ages[reason] = since === '' ? 0 : Math.max(0, now - Number(since));
    total += count;
  };
  for (const [index, reason] of RESOURCE_REASONS.entries()) {
    const [count, since] = found[index] ?? [0, ''];
    add(reason, count, since);
  }
  if (hold !== '') add('OnHold', 1, String((JSON.parse(hold) as Hold).since));
  return { ...counts, total, oldestMs: Math.max(...Object.values(ages)), ages };
}

/** Adds the counts of several connections; ages are those of the oldest. */
export function addExceptionCounts(all: readonly ExceptionCounts[]): ExceptionCounts {
  const sums = zeroByReason();
  const ages = zeroByReason();
  let total = 0;
  let oldestMs = 0;
  for (const counts of all) {
    for (const reason of EXCEPTION_REASONS) {
      sums[reason] += counts[reason];
      ages[reason] = Math.max(ages[reason], counts.ages[reason]);
    }
    total += counts.total;
    oldestMs = Math.max(oldestMs, counts.oldestMs);
  }
  return { ...sums, total, oldestMs, ages };
}

const zeroByReason = (): Record<ExceptionReason, number> =>
  Object.fromEntries(EXCEPTION_REASONS.map((reason) => [reason, 0])) as Record<ExceptionReason, number>;
