// Parses a filter to a tree by recursive descent with limited depth (RFC 7644 §3.4.2.2). One function for each rule: `or` of `and`
// of terms; a term is a group in round brackets, `not` with a group, a comparison, or an attribute with a filter in square
// brackets.
import type { Fields } from '../attributes.ts';
import { excerpt, invalidFilter } from '../errors.ts';
import type { Profile } from '../profiles.ts';
import type { ResourceType } from '../resource-type.ts';
import { toComparison } from './comparison.ts';
import type { CompareOperator, Filter } from './filter.ts';
import { createLexer, type Lexer, type Token } from './lexer.ts';
import {
  elementScope,
  resourceScope,
  toAttribute,
  toComparable,
  unknownElement,
  type Located,
  type NameScope,
} from './scope.ts';

const MAX_LENGTH = 4096;
const MAX_DEPTH = 32;
const OPERATORS: ReadonlySet<string> = new Set(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le']);

interface Parsing {
  readonly lexer: Lexer;
  readonly profile: Profile;
  /** Number of open brackets. */
  depth: number;
}

/**
 * Parses a filter (RFC 7644 §3.4.2.2). Parsed filters are not cached: each request names another person, and a lookup
 * takes as long as parsing.
 * @throws 400 invalidFilter with the position, counted in characters from 0.
 */
export function parseFilter(type: ResourceType, text: string, profile: Profile): Filter {
  if (text.length > MAX_LENGTH) throw invalidFilter(`The filter is longer than ${MAX_LENGTH} characters.`);
  const parsing: Parsing = { lexer: createLexer(text), profile, depth: 0 };
  const filter = parseOr(parsing, resourceScope(type, profile));
  const rest = parsing.lexer.next();
  if (rest.kind !== 'end') throw invalidFilter(`Unexpected "${excerpt(rest.text)}" at position ${rest.at}.`);
  return filter;
}

/**
 * Parses the `[…]` of a value path. `start` is the position of the opening bracket in `text`, `end` the one after the
 * closing bracket.
 * @throws 400 invalidFilter with the position
 */
export function parseElementFilter(
  parts: Fields,
  text: string,
  start: number,
  profile: Profile,
): { filter: Filter; end: number } {
  if (text.length > MAX_LENGTH) throw invalidFilter(`The path is longer than ${MAX_LENGTH} characters.`);
  // The lexer starts after the opening bracket, which counts as one level.
  const parsing: Parsing = { lexer: createLexer(text, start + 1), profile, depth: 1 };
  const filter = parseOr(parsing, elementScope(parts));
  expect(parsing, ']');
  return { filter, end: parsing.lexer.position() };
}

function parseOr(parsing: Parsing, scope: NameScope): Filter {
  return parseBranches(parsing, scope, 'or', parseAnd);
}

function parseAnd(parsing: Parsing, scope: NameScope): Filter {
  return parseBranches(parsing, scope, 'and', parseTerm);
}

function parseBranches(
  parsing: Parsing,
  scope: NameScope,
  kind: 'and' | 'or',
  parseBranch: (parsing: Parsing, scope: NameScope) => Filter,
): Filter {
  const first = parseBranch(parsing, scope);
  if (keyword(parsing.lexer.peek()) !== kind) return first;
  const branches = [first];
  while (keyword(parsing.lexer.peek()) === kind) {
    parsing.lexer.next();
    branches.push(parseBranch(parsing, scope));
  }
  return { kind, branches };
}

function parseTerm(parsing: Parsing, scope: NameScope): Filter {
  const token = parsing.lexer.next();
  if (token.kind === '(') return parseGroup(parsing, scope, token);
  if (token.kind !== 'word') throw invalidFilter(`An attribute is missing at position ${token.at}.`);
  // Elsewhere `not` is the name of an attribute.
  if (keyword(token) === 'not' && parsing.lexer.peek().kind === '(') {
    return { kind: 'not', branch: parseGroup(parsing, scope, parsing.lexer.next()) };
  }
  const located = scope.resolve(token);
  const next = parsing.lexer.peek();
  // A value filter stands directly behind its attribute.
  if (next.kind === '[' && next.at === token.end) return parseElement(parsing, located, token);
  return parseExpression(parsing, located, token);
}

function parseGroup(parsing: Parsing, scope: NameScope, open: Token): Filter {
  enter(parsing, open);
  const filter = parseOr(parsing, scope);
  expect(parsing, ')');
  parsing.depth--;
  return filter;
}

// Parses `attribute[filter]`, and Entra's `attribute[filter].sub op value`, which means `attribute[filter and sub op value]`.
function parseElement(parsing: Parsing, located: Located, token: Token): Filter {
  const parts = located.field?.parts;
  if (!parts || located.isPart) throw unknownElement(token);
  const attribute = toAttribute(located);
  const scope = elementScope(parts);
  enter(parsing, parsing.lexer.next());
  const filter = parseOr(parsing, scope);
  expect(parsing, ']');
  parsing.depth--;
  const end = parsing.lexer.position();
  const after = parsing.lexer.peek();
  // Only a name directly behind the bracket, with a dot before it, continues the value filter.
  if (after.kind !== 'word' || after.at !== end || !after.text.startsWith('.')) {
    return { kind: 'element', attribute, filter };
  }
  if (!parsing.profile.allows('value-path-comparison')) {
    throw invalidFilter(`A logical operator is expected at position ${after.at}.`);
  }
  parsing.lexer.next();
  const name: Token = { ...after, kind: 'word', text: after.text.slice(1) };
  const comparison = parseExpression(parsing, scope.resolve(name), name);
  return { kind: 'element', attribute, filter: { kind: 'and', branches: [filter, comparison] } };
}

function parseExpression(parsing: Parsing, located: Located, token: Token): Filter {
  const operatorToken = parsing.lexer.next();
  const operator = keyword(operatorToken);
  if (operator === 'pr') return { kind: 'present', attribute: toAttribute(located) };
  if (!OPERATORS.has(operator)) {
    throw invalidFilter(`An operator is missing or not known at position ${operatorToken.at}.`);
  }
  const attribute = toComparable(located, token);
  const value = parsing.lexer.next();
  return toComparison(attribute, operator as CompareOperator, value, operatorToken.at, parsing.profile);
}

/** Returns a word in lower case, because keywords and operators ignore case; empty for another token. */
function keyword(token: Token): string {
  return token.kind === 'word' ? token.text.toLowerCase() : '';
}

/** Counts one more level of brackets. @throws 400 invalidFilter beyond MAX_DEPTH */
function enter(parsing: Parsing, token: Token): void {
  if (++parsing.depth > MAX_DEPTH)
    throw invalidFilter(`The filter nests too deeply at position ${token.at}.`);
}

function expect(parsing: Parsing, kind: ')' | ']'): void {
  const token = parsing.lexer.next();
  if (token.kind !== kind) throw invalidFilter(`"${kind}" is missing at position ${token.at}.`);
}
