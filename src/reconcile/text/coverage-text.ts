// Formats the coverage of a target as one line of text.
import type { Coverage } from '../../directory/outbox/coverage.ts';

const WORDS = {
  linked: 'linked',
  pending: 'pending',
  held: 'held by the guard',
  deadLetters: 'dead letters',
  exceptions: 'left alone',
  missing: 'missing',
} as const satisfies Partial<Record<Exclude<keyof Coverage, 'seen'>, string>>;

/**
 * Formats counts: `300 in all: 298 linked (298 shown by the platform), 2 pending, 0 missing`. Only linked resources count
 * as shown: a resource in another state, such as held, may have an account too, and is not looked for in the platform's
 * lists. The sum is not called desired: a leaver counts until the account is closed.
 * @param isStored true: the counts are current, and the number of shown resources is from the last reconcile
 */
export function coverageText(coverage: Coverage, isStored = false): string {
  const { seen } = coverage;
  const shown =
    seen === null || (seen === 0 && coverage.linked === 0)
      ? ''
      : ` (${seen} shown by the platform${isStored ? ' at the last reconcile' : ''})`;
  const parts: string[] = [];
  for (const name of Object.keys(WORDS) as (keyof typeof WORDS)[]) {
    const count = coverage[name];
    if (count === 0 && name !== 'linked' && name !== 'missing') continue;
    const words = name === 'deadLetters' && count === 1 ? 'dead letter' : WORDS[name];
    parts.push(`${count} ${words}${name === 'linked' ? shown : ''}`);
  }
  return `${coverage.desired} in all: ${parts.join(', ')}`;
}
