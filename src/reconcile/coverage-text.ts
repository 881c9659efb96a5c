// Formats the coverage of a target as one line of text.
import type { Coverage } from '../directory/outbox/coverage.ts';

const WORDS = {
  linked: 'linked',
  seen: 'shown by the platform',
  pending: 'pending',
  held: 'held by the guard',
  deadLetters: 'dead letters',
  exceptions: 'left alone',
  missing: 'missing',
} as const satisfies Partial<Record<keyof Coverage, string>>;

/**
 * Formats counts: `300 desired: 298 linked, 298 shown by the platform, 2 pending, 0 missing`.
 * @param isStored whether the counts are of now, and what the platform showed is of the last reconcile
 */
export function coverageText(coverage: Coverage, isStored = false): string {
  const parts = (Object.keys(WORDS) as (keyof typeof WORDS)[])
    .filter((name) => coverage[name] || name === 'linked' || name === 'missing')
    .map(
      (name) =>
        `${coverage[name] ?? 0} ${coverage[name] === 1 && name === 'deadLetters' ? 'dead letter' : WORDS[name]}` +
        (isStored && name === 'seen' ? ' at the last reconcile' : ''),
    );
  return `${coverage.desired} desired: ${parts.join(', ')}`;
}
