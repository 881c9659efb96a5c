// Leaves out writes that were refused for good: a run would send the same write, get the same refusal, and change nothing
// but the log. Pure.
import type { Ref } from '../directory/records.ts';
import { isChange, isDrift, type PlanEntry } from './entry.ts';
import type { VerifiedUsers } from './verify-users.ts';

export interface Refusals {
  /** Dead letters, with the moment of the last refusal; Unix milliseconds. One that was dropped is not among them. */
  blocked: ReadonlyMap<Ref, number>;
  /** The settings map everybody by other rules than last time: what was refused may be another write now. */
  rulesChanged: boolean;
}

/**
 * Takes the orders out of what was refused and is as it was then. A dead letter becomes one conflict that says what it
 * waits to become; one that a person dropped is only shown.
 */
export function heedRefusals(examined: VerifiedUsers[], refusals: Refusals): VerifiedUsers[] {
  return examined.map((each) => {
    const { refusal, entries } = each;
    if (refusal === undefined) return each;
    const since = refusals.blocked.get(each.ref);
    const answered = entries.filter((entry) => isAnswered(entry, each, refusals));
    if (answered.length === 0) return each;
    const others = entries.filter((entry) => !answered.includes(entry));
    const reason = `${refusal.reason}: ${refusal.message}`;
    if (since !== undefined) return { ...each, entries: [...others, toConflict(answered, reason)] };
    const shown = answered.map((entry): PlanEntry => ({
      ...entry,
      effect: 'report',
      reason: `${entry.reason}; dropped from the dead letters after ${reason}`,
    }));
    return { ...each, entries: [...others, ...shown] };
  });
}

/** Whether the platform, or a rule of ours, has said no to just this already. */
function isAnswered(
  entry: PlanEntry,
  { ref, changedAt }: VerifiedUsers,
  { blocked, rulesChanged }: Refusals,
): boolean {
  if (!isChange(entry) || entry.attribution.cause === 'not applied') return false;
  if (!isDrift(entry)) return entry.attribution.cause === 'source changed' || !rulesChanged;
  // An account that shall be closed is worth one call in every run.
  if (entry.action === 'deactivate') return false;
  // A resource that is gone is created anew once: a create that is refused leaves no id in the link.
  if ((entry.action === 'create' || entry.action === 'relink') && entry.platformId !== null) return false;
  const since = blocked.get(ref);
  if (since === undefined || changedAt === undefined) return since !== undefined;
  return Date.parse(changedAt) <= since;
}

function toConflict(answered: PlanEntry[], reason: string): PlanEntry {
  const [first] = answered as [PlanEntry, ...PlanEntry[]];
  const { attribute: _attribute, member: _member, ...common } = first;
  const own = answered.filter(({ member }) => member === undefined);
  const merged = (values: PlanEntry['before'][]): PlanEntry['before'] =>
    values.every((value) => value === null)
      ? null
      : Object.fromEntries(values.flatMap((value) => Object.entries(value ?? {})));
  return {
    ...common,
    action: 'conflict',
    before: merged(own.map(({ before }) => before)),
    after: merged(own.map(({ after }) => after)),
    effect: 'report',
    reason,
    attribution: { cause: 'none' },
  };
}
