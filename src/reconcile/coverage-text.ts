// Formats the coverage of a target as one line of text.
import type { Coverage } from '../directory/outbox/coverage.ts';

const WORDS = {
  linked: 'linked',
  pending: 'pending',
  held: 'held by the guard',
  deadLetters: 'dead letters',
  exceptions: 'left alone',
  missing: 'missing',
} as const satisfies Partial<Record<Exclude<keyof Coverage, 'seen'>, string>>;

/**
 * Formats counts: `300 desired: 298 linked (298 shown by the platform), 2 pending, 0 missing`. Only linked resources are looked for
 * in the platform's lists: the account of a person whose change is held is there too, and is not counted as shown.
 * @param isStored whether the counts are of now, and what the platform showed is of the last reconcile
 */
export function coverageText(coverage: Coverage, isStored = false): string {
  const { seen } = coverage;
  const shown =
    seen === null || (seen === 0 && coverage.linked === 0)
      ? ''
      : ` (${seen} shown by the platform${isStored ? ' at the last reconcile' : ''})`;
  const parts = (Object.keys(WORDS) as (keyof typeof WORDS)[])
    .filter((name) => coverage[name] > 0 || name === 'linked' || name === 'missing')
    .map(
      (name) =>
        `${coverage[name]} ${coverage[name] === 1 && name === 'deadLetters' ? 'dead letter' : WORDS[name]}` +
        (name === 'linked' ? shown : ''),
    );
  return `${coverage.desired} desired: ${parts.join(', ')}`;
}
