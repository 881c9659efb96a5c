// A quick look at the stored text of a resource: most of a large directory can not match a filter, and finding that
// out is much cheaper than parsing.
import type { Comparison, Filter } from './filter.ts';

/** False when the resource of this canonical JSON text certainly does not match; true says nothing. */
export type TextTest = (text: string) => boolean;

/** Attributes that are answered, but are not in the stored text. */
const BESIDE = new Set(['id', 'meta', 'groups', 'members']);
const TEXT_OPERATORS = new Set(['eq', 'co', 'sw', 'ew']);
/** Characters that JSON writes as they are. */
export const PLAIN = /^[ !#-[\]-~]+$/;
/** Everything else that becomes the ASCII character when it is folded (NFC, lower case). */
const FOLDED: Readonly<Record<string, string>> = { i: '\u0130', k: '\u212a', ';': '\u037e', '`': '\u1fef' };

/** What of the filter can be seen in a text; undefined when nothing can. */
export function textTest(filter: Filter): TextTest | undefined {
  switch (filter.kind) {
    case 'and':
      return all(filter.branches.flatMap((branch) => textTest(branch) ?? []));
    case 'or': {
      const tests = filter.branches.map(textTest);
      if (tests.includes(undefined)) return undefined;
      return (text) => tests.some((test) => test?.(text));
    }
    case 'element':
      return BESIDE.has(filter.attribute.steps[0] ?? '') ? undefined : textTest(filter.filter);
    case 'compare':
      return comparisonTest(filter);
    case 'not':
    case 'present':
      return undefined;
  }
}

function all(tests: readonly TextTest[]): TextTest | undefined {
  return tests.length === 0 ? undefined : (text) => tests.every((test) => test(text));
}

// The value has to be somewhere in the text, in any case: where, is for the filter to say.
function comparisonTest({ operator, attribute, value, collation }: Comparison): TextTest | undefined {
  if (BESIDE.has(attribute.steps[0] ?? '') || !TEXT_OPERATORS.has(operator)) return undefined;
  if (typeof value !== 'string' || collation === 'time' || !PLAIN.test(value)) return undefined;
  const pattern = new RegExp([...value].map(anyForm).join(''));
  return (text) => pattern.test(text);
}

function anyForm(character: string): string {
  const lower = character.toLowerCase();
  return `[${[lower, character.toUpperCase(), FOLDED[lower] ?? ''].map(escaped).join('')}]`;
}

const escaped = (character: string): string => character.replace(/[\]\\^-]/, '\\$&');
