// Names destructive changes in sentences, one by one and as counts, and the end of a hold that they wait for. Pure.
import type { DestructiveKind } from '../guard/judge.ts';
import { counted } from '../support/counted.ts';
import type { ExplainedFacts } from './explanation.ts';

/** Name of one change of each kind; the words for removed members depend on the resource. */
export const GUARD_WORDS: Record<Exclude<DestructiveKind, 'removeMembers'>, string> = {
  deactivate: 'deactivation',
  delete: 'deletion',
  clearAttributes: 'cleared attribute',
};

/** Returns a number of changes in words, such as `2 removals from groups`. */
function guardText(count: number, change: DestructiveKind, kind: ExplainedFacts['kind']): string {
  if (change !== 'removeMembers') return counted(count, GUARD_WORDS[change]);
  return kind === 'User'
    ? counted(count, 'removal from a group', 'removals from groups')
    : counted(count, 'removal of a member', 'removals of members');
}

/** Returns the number of changes of each kind in words. @param resource kind of the resource that has the changes */
export function guardCounts(changes: ExplainedFacts['guard'], resource: ExplainedFacts['kind']): string[] {
  const counts = new Map<DestructiveKind, number>();
  for (const { kind } of changes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => guardText(count, kind, resource));
}

/** Returns the start of a sentence about a run or sync that a hold of the target delays; '' without a hold. */
export const afterHold = ({ hold, target }: Pick<ExplainedFacts, 'hold' | 'target'>): string =>
  hold ? `after the end of the hold of ${target}, ` : '';
