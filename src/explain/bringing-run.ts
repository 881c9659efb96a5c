// Names the reconcile or sync that writes the differences of a resource, or why none does, for the summary of explain. Pure.
import type { ExplainedFacts } from './explanation.ts';
import { DESTRUCTIVE } from '../reconcile/entry.ts';
import { needsPerson } from './membership-reasons.ts';
import { isSettledValue } from './value-reasons.ts';

/** Returns which run writes the differences of a resource, or why none does, as words behind a colon. */
export function bringsIt(facts: ExplainedFacts): string {
  const { differences = [], toBeHeld = 0 } = facts.platform ?? {};
  const whyNone = whyNoRun(facts);
  if (whyNone !== undefined) return whyNone;
  const { reconcile, either } = runsOf(facts);
  const except = exceptText(facts);
  // The sync of a person asks the guard for each group alone, so some differences may stay within its limit.
  const asking = facts.kind === 'User' && toBeHeld > 1 ? reconcile : `${either},`;
  if (toBeHeld > 0 && toBeHeld === differences.length)
    return `${asking} asks the guard, which will hold it: a person has to approve it then`;
  if (toBeHeld > 0) return `${asking} brings it${except}`;
  if (cannotBeMapped(facts)) return 'no run brings it before the rule or the value is corrected';
  // A reconcile asks the guard for all changes of the target, which may exceed a limit that these alone do not.
  const isAsked = differences.some(({ action }) => DESTRUCTIVE.has(action));
  const unlessHeld = isAsked ? ', unless the guard holds it with other changes of the run' : '';
  return `${either}, brings it${except}${unlessHeld}`;
}

/** Returns why no run writes any of the differences; undefined: a run does, unless the guard or the mapping prevents it. */
function whyNoRun({ hold, platform, policy, target }: ExplainedFacts): string | undefined {
  const { differences = [] } = platform ?? {};
  const areAllConflicts = differences.length > 0 && differences.every(isConflict);
  if (areAllConflicts) return 'no run brings it before a person has acted, see reasons';
  if (platform?.accountGone && policy.policy === 'create-only')
    return 'the policy create-only makes no account anew';
  return hold ? `nothing is written there while ${target} is on hold` : undefined;
}

/** Returns the words for the reconcile that writes the differences, and for either this reconcile or a sync. */
function runsOf({ platform, ref }: ExplainedFacts): { reconcile: string; either: string } {
  const sync = `scim-bridge sync ${ref}`;
  // The words do not promise the next run of the schedule, because with `reconcile.onDrift: report` it writes nothing.
  if (!platform?.readInTurn) {
    const reconcile = 'the next reconcile that repairs';
    return { reconcile, either: `${reconcile}, or ${sync}` };
  }
  const reconcile =
    'a reconcile that repairs, as soon as it reads the truth values and lists of this person (with --full at once)';
  return { reconcile, either: `${sync} at once, or ${reconcile}` };
}

/** Returns whether values that cannot be mapped are the only differences. */
function cannotBeMapped({ condition, platform, values }: ExplainedFacts): boolean {
  const differing = values.filter(({ state }) => !isSettledValue(state));
  const areAllUnmappable = differing.length > 0 && differing.every(({ state }) => state === 'unmappable');
  return areAllUnmappable && (platform?.differences.length ?? 0) === 0 && condition?.reason !== 'Rejected';
}

/** Returns `, except …` with the kinds of differences that no reconcile writes; '': a reconcile writes all of them. */
function exceptText({ condition, memberships, platform, values }: ExplainedFacts): string {
  const waiting = memberships.filter(({ state }) => state === 'toAdd' || state === 'toRemove');
  const has = (reason: string): boolean => waiting.some((each) => each.condition === reason);
  const hasConflict = platform?.differences.some(isConflict) === true;
  const parts = [
    ...((platform?.toBeHeld ?? 0) > 0 ? ['what the guard will hold'] : []),
    ...(has('Held') ? ['what the guard holds'] : []),
    ...(condition?.reason === 'Rejected' || has('Rejected') ? ['what a person rejected'] : []),
    ...(waiting.some(needsPerson) || hasConflict ? ['what needs a person first'] : []),
    ...(values.some(({ state }) => state === 'unmappable') ? ['what cannot be mapped'] : []),
  ];
  return parts.length === 0 ? '' : `, except ${parts.join(' and ')}`;
}

/** Returns whether the difference is one that no run writes before a person has acted. */
const isConflict = ({ action }: NonNullable<ExplainedFacts['platform']>['differences'][number]): boolean =>
  action === 'conflict';
