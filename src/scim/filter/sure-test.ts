// The other quick look at the stored text of a resource (text-test.ts turns away, this one lets in): where a filter asks
// for one plain attribute, as most do, the text itself shows that it matches, and nothing has to be parsed.
import type { ResourceType } from '../resource-type.ts';
import type { Comparison, Filter, FilterAttribute } from './filter.ts';
import { PLAIN, type TextTest } from './text-test.ts';

/** True when the resource of this canonical JSON text certainly matches the filter; false says nothing. Undefined: never. */
export function sureTest(type: ResourceType, filter: Filter): TextTest | undefined {
  switch (filter.kind) {
    case 'and': {
      const tests = filter.branches.map((branch) => sureTest(type, branch));
      return tests.includes(undefined) ? undefined : (text) => tests.every((test) => test?.(text));
    }
    case 'or': {
      const tests = filter.branches.flatMap((branch) => sureTest(type, branch) ?? []);
      return tests.length === 0 ? undefined : (text) => tests.some((test) => test(text));
    }
    case 'compare':
      return isPlainCore(type, filter.attribute) ? comparisonTest(filter) : undefined;
    case 'element':
    case 'not':
    case 'present':
      return undefined;
  }
}

/** A single value right below the resource, whose name means nothing else in the core schema. */
function isPlainCore({ core }: ResourceType, { steps, field }: FilterAttribute): boolean {
  const [name = '', ...deeper] = steps;
  if (deeper.length > 0 || !field || core.fields.byName.get(name) !== field) return false;
  return core.plain.has(name) && field.attribute.mutability !== 'readOnly';
}

function comparisonTest(comparison: Comparison): TextTest | undefined {
  const value = valuePattern(comparison);
  if (value === undefined) return undefined;
  const pattern = new RegExp(`"${comparison.attribute.steps[0] ?? ''}":${value}`);
  return (text) => {
    const at = text.search(pattern);
    return at >= 0 && at < endOfCore(text);
  };
}

function valuePattern({ operator, value, collation, attribute }: Comparison): string | undefined {
  if (typeof value === 'boolean') return operator === 'eq' ? `${value}[,}]` : undefined;
  if (attribute.field?.attribute.type !== 'string' || collation === 'time') return undefined;
  if (typeof value !== 'string' || !PLAIN.test(value)) return undefined;
  const wanted = [...value]
    .map((each) => (collation === 'exact' ? literal(each) : eitherCase(each)))
    .join('');
  switch (operator) {
    case 'eq':
      return `"${wanted}"`;
    case 'sw':
      return `"${wanted}${UNCOMPOSED}`;
    // Digits behind a backslash are part of another character, so none may stand before.
    case 'co':
      return `"[^"\\\\]*${wanted}${UNCOMPOSED}`;
    case 'ew':
      return `"[^"\\\\]*${wanted}"`;
    case 'ne':
    case 'gt':
    case 'ge':
    case 'lt':
    case 'le':
      return undefined;
  }
}

/** An extension's key is the first with a colon, whether it is configured or not: a quote within a text has a backslash before it. */
const EXTENSION = /,"[^"\\]*:[^"\\]*":\{/;

function endOfCore(text: string): number {
  const at = text.search(EXTENSION);
  return at < 0 ? text.length : at;
}

/** What follows must not combine with the last character to another one. */
const UNCOMPOSED = '(?=[\\0-\\x7f])';

const literal = (character: string): string => `[${escaped(character)}]`;
const eitherCase = (character: string): string =>
  `[${escaped(character.toLowerCase())}${escaped(character.toUpperCase())}]`;
const escaped = (character: string): string => character.replace(/[\]\\^-]/, '\\$&');
