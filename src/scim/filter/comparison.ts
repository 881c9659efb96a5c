// Checks one comparison of a filter: operator and literal must fit the type of the attribute (RFC 7644, table 3).
import { foldCase, isNumberText } from '../json.ts';
import type { Field } from '../attributes.ts';
import { invalidFilter } from '../errors.ts';
import type { Profile } from '../profiles.ts';
import type { Token } from './lexer.ts';
import type { CompareOperator, Comparison, FilterAttribute, FilterValue } from './filter.ts';

const TEXTUAL: ReadonlySet<CompareOperator> = new Set(['co', 'sw', 'ew']);
const ORDERED: ReadonlySet<CompareOperator> = new Set(['gt', 'ge', 'lt', 'le']);

/** Returns the literal of a token. @throws 400 invalidFilter if it is missing, or not quoted as the profile requires */
function readLiteral(token: Token, field: Field | undefined, profile: Profile): FilterValue {
  if (token.kind === 'quoted') {
    if (!token.single || profile.allows('single-quotes')) return token.text;
    throw invalidFilter(`The value at position ${token.at} is not in double quotes.`);
  }
  if (token.kind !== 'word') throw invalidFilter(`A value is missing at position ${token.at}.`);
  const text = token.text;
  if (text === 'null') return null;
  // For an attribute with text, an unquoted `true` or `5` is text, which only some profiles accept.
  const textual = field !== undefined && isTextual(field);
  if (!textual && (text === 'true' || text === 'false')) return text === 'true';
  if (!textual && isNumberText(text)) return Number(text);
  if (profile.allows('unquoted-filter-value')) return text;
  if (text === 'true' || text === 'false' || isNumberText(text)) {
    throw invalidFilter(`The value at position ${token.at} must be text in quotes.`);
  }
  throw invalidFilter(`The value at position ${token.at} is not in quotes.`);
}

function isTextual(field: Field): boolean {
  const type = field.attribute.type;
  return type !== 'boolean' && type !== 'decimal' && type !== 'integer';
}

/** Converts a literal to the type of the attribute. @throws 400 invalidFilter */
function convert(value: FilterValue, field: Field, at: number, profile: Profile): FilterValue {
  const type = field.attribute.type;
  if (type === 'boolean') {
    if (typeof value === 'boolean') return value;
    const lower = typeof value === 'string' ? value.toLowerCase() : '';
    if ((lower === 'true' || lower === 'false') && profile.allows('string-booleans')) return lower === 'true';
    throw invalidFilter(`"${field.path}" is boolean; the value at position ${at} is not.`);
  }
  if (type === 'decimal' || type === 'integer') {
    if (typeof value === 'number') return value;
    if (typeof value === 'string' && isNumberText(value) && profile.allows('string-numbers'))
      return Number(value);
    throw invalidFilter(`"${field.path}" is a number; the value at position ${at} is not.`);
  }
  return value;
}

/** Refuses operators that do not apply to the type of the value (RFC 7644, table 3). @throws 400 invalidFilter */
function checkOperator(
  operator: CompareOperator,
  value: FilterValue,
  field: Field | undefined,
  at: number,
): void {
  if (operator === 'eq' || operator === 'ne') return;
  const ordered = ORDERED.has(operator);
  const type = field?.attribute.type;
  if (value === null || typeof value === 'boolean' || (ordered && type === 'binary')) {
    throw invalidFilter(
      `Operator "${operator}" at position ${at} does not apply to null, booleans or binary data.`,
    );
  }
  if (TEXTUAL.has(operator) && typeof value === 'number') {
    throw invalidFilter(`Operator "${operator}" at position ${at} compares text only.`);
  }
}

/**
 * Returns the comparison with its literal converted to the attribute's type. Booleans and numbers in quotes are accepted
 * where the profile allows them (Entra: `active eq "True"`).
 * @param at position of the operator, for error details
 * @throws 400 invalidFilter when operator or literal do not fit the attribute's type, or the literal is missing or not quoted
 */
export function toComparison(
  attribute: FilterAttribute,
  operator: CompareOperator,
  token: Token,
  at: number,
  profile: Profile,
): Comparison {
  const { field } = attribute;
  const literal = readLiteral(token, field, profile);
  const value = field && literal !== null ? convert(literal, field, token.at, profile) : literal;
  checkOperator(operator, value, field, at);
  if (typeof value !== 'string')
    return { kind: 'compare', attribute, operator, value, collation: 'exact', operand: value };
  if (field?.attribute.type === 'dateTime' && !TEXTUAL.has(operator)) {
    const operand = Date.parse(value);
    if (Number.isNaN(operand))
      throw invalidFilter(`The value at position ${token.at} is not a date and time.`);
    return { kind: 'compare', attribute, operator, value, collation: 'time', operand };
  }
  const exact = field === undefined || field.attribute.caseExact;
  const operand = exact ? value : foldCase(value);
  return { kind: 'compare', attribute, operator, value, collation: exact ? 'exact' : 'ignoreCase', operand };
}
