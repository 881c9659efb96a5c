// Tells of held, pending and rejected changes that somebody has already made at the platform, so that no decision about them is
// awaited. Two of the facts (ExplainedFacts) are about them: `platform.done` is the number of held or rejected changes that are
// made; `leftByHand` has the groups that a person is no longer in, although the removal is pending, held or rejected. Pure.
import { counted } from '../support/counted.ts';
import { capital, someOf } from '../support/sentence-parts.ts';
import type { ExplainedFacts } from './explanation.ts';
import { afterHold, guardCounts } from './guard-words.ts';

/**
 * Returns who made held or rejected changes of a person at the platform. After a restore this may have been the bridge itself,
 * because it no longer knows what it wrote between backup and restore. Not used for the members of a group: a member who is missing
 * there was perhaps never added by the bridge, so it is not certain that somebody removed the member.
 */
export const doneBy = ({ restored }: Pick<ExplainedFacts, 'restored'>): string =>
  restored ? `by others, or by the bridge between ${restored.backup} and the restore` : 'by hand';

/**
 * Returns whether somebody made every held and rejected change of the resource at the platform, so that no decision is awaited.
 * False for a group with other members that are still to be added or removed.
 */
export function isDoneByHand({ kind, memberships, platform, guard }: ExplainedFacts): boolean {
  const undone = guard.filter(({ state }) => state !== 'approved').length;
  const isPending = ({ state }: (typeof memberships)[number]): boolean =>
    state === 'toAdd' || state === 'toRemove';
  const hasOthers = kind === 'Group' && memberships.some(isPending);
  return platform !== null && platform.done > 0 && platform.done >= undone && !hasOthers;
}

/** Returns the summary of a resource whose held and rejected changes somebody made at the platform. */
export function doneByHandSummary(facts: ExplainedFacts): string {
  const { guard, kind, name, ref, target } = facts;
  const waiting = guard.filter(({ state }) => state !== 'approved');
  const isOne = waiting.length === 1;
  const which = waiting.every(({ state }) => state === 'rejected')
    ? 'which a person rejected'
    : `which ${isOne ? 'waits' : 'wait'} for a decision`;
  const done =
    kind === 'User'
      ? `${isOne ? 'was' : 'were'} made there ${doneBy(facts)}`
      : `${isOne ? 'is' : 'are'} done there already`;
  return `${name} is at ${target} as the source wants it: ${guardCounts(waiting, kind).join(' and ')}, ${which}, ${done}. ${capital(`${afterHold(facts)}the`)} next reconcile, or scim-bridge sync ${ref}, takes ${isOne ? 'it' : 'them'} off the list.`;
}

/** Returns a sentence with the number of held and rejected changes that somebody made at the platform, if others are left. */
export function partlyDone(facts: ExplainedFacts): string | undefined {
  const done = facts.platform?.done ?? 0;
  if (done === 0 || isDoneByHand(facts)) return undefined;
  const by = facts.kind === 'User' ? `, ${doneBy(facts)}` : '';
  return `${counted(done, 'change')} of these ${done === 1 ? 'is' : 'are'} done at the platform already${by}: ${afterHold(facts)}the next reconcile, or scim-bridge sync ${facts.ref}, takes ${done === 1 ? 'it' : 'them'} off the list.`;
}

/** Returns a sentence with the groups that the person is not in, although the removal from them is pending, held or rejected. */
export function leftReason(facts: ExplainedFacts): string | undefined {
  const { leftByHand, platform } = facts;
  if (leftByHand.length === 0) return undefined;
  if (platform?.accountGone)
    return `Nothing is left to remove from ${someOf(leftByHand)}: the membership ended with the account.`;
  return `At the platform it is not in ${someOf(leftByHand)}: ${afterHold(facts)}the next reconcile takes ${leftByHand.length === 1 ? 'this removal' : 'these removals'} off the list of what waits or was rejected.`;
}
