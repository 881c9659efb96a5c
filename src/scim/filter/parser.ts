// Tokens to a filter tree: recursive descent, `or` under `and` under `not`, depth-limited (RFC 7644 section 3.4.2.2).
import { resolveAttribute } from '../attribute-path.ts';
import { findField, type Field, type Fields, type Section } from '../attributes.ts';
import { invalidFilter } from '../errors.ts';
import type { DeviationName, Profile } from '../profiles.ts';
import type { ResourceType } from '../resource-type.ts';
import { toComparison } from './comparison.ts';
import type { CompareOperator, Filter, FilterAttribute } from './filter.ts';
import { createLexer, type Lexer, type Token } from './lexer.ts';

const MAX_LENGTH = 4096;
const MAX_DEPTH = 32;
const CACHE_SIZE = 500;
const CACHED_LENGTH = 512;
const OPERATORS: ReadonlySet<string> = new Set(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le']);

/** What names mean at this place: the resource, or the element inside `[…]`. */
interface Scope {
  /** @throws 400 invalidFilter when no schema declares the name. */
  resolve(token: Token): Located;
}

interface Located {
  readonly field: Field | undefined;
  readonly steps: readonly string[];
  /** Path without an implied `.value`. */
  readonly path: string;
  /** Named by a sub-attribute already, so nothing is implied. */
  readonly isPart: boolean;
}

interface Parsing {
  readonly lexer: Lexer;
  readonly profile: Profile;
  depth: number;
}

function keyword(token: Token): string {
  return token.kind === 'word' ? token.text.toLowerCase() : '';
}

function unknown(token: Token): Error {
  return invalidFilter(
    `"${token.text.slice(0, 200)}" at position ${token.at} is not an attribute known here.`,
  );
}

function resourceScope(type: ResourceType, profile: Profile): Scope {
  return {
    resolve(token) {
      const found = resolveAttribute(type, token.text);
      if (found.kind === 'member') {
        const path = `${found.section.urn}:${found.name}`;
        return { field: undefined, steps: [found.section.urn, found.name], path, isPart: false };
      }
      if (found.kind !== 'attribute') throw unknown(token);
      if (found.field.attribute.returned === 'never') throw unknown(token);
      if (found.unqualified && !profile.allows('unqualified-extension')) throw unknown(token);
      const field = found.sub ?? found.field;
      return {
        field,
        steps: stepsOf(found.section, found.field, found.sub),
        path: field.path,
        isPart: !!found.sub,
      };
    },
  };
}

function stepsOf(section: Section, field: Field, sub: Field | undefined): readonly string[] {
  const steps = section.core ? [field.name] : [section.urn, field.name];
  return sub ? [...steps, sub.name] : steps;
}

function elementScope(parts: Fields): Scope {
  return {
    resolve(token) {
      const field = findField(parts, token.text);
      if (!field) throw unknown(token);
      return { field, steps: [field.name], path: field.path, isPart: true };
    },
  };
}

function toAttribute(located: Located): FilterAttribute {
  return { steps: located.steps, field: located.field, key: located.path.toLowerCase() };
}

// `emails eq "x"` means `emails.value eq "x"`; a simple multi-valued attribute compares its elements.
function toComparable(located: Located, token: Token): FilterAttribute {
  if (located.field?.attribute.type !== 'complex') return toAttribute(located);
  const value = located.field.parts?.byName.get('value');
  if (!value)
    throw invalidFilter(
      `"${token.text.slice(0, 200)}" at position ${token.at} is complex: name a sub-attribute.`,
    );
  return { steps: [...located.steps, value.name], field: value, key: value.path.toLowerCase() };
}

function parseOr(parsing: Parsing, scope: Scope): Filter {
  return parseBranches(parsing, scope, 'or', parseAnd);
}

function parseAnd(parsing: Parsing, scope: Scope): Filter {
  return parseBranches(parsing, scope, 'and', parseTerm);
}

function parseBranches(
  parsing: Parsing,
  scope: Scope,
  kind: 'and' | 'or',
  parseBranch: (parsing: Parsing, scope: Scope) => Filter,
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

function parseTerm(parsing: Parsing, scope: Scope): Filter {
  const token = parsing.lexer.next();
  if (token.kind === '(') return parseGroup(parsing, scope, token);
  if (token.kind !== 'word') throw invalidFilter(`An attribute is missing at position ${token.at}.`);
  if (keyword(token) === 'not' && parsing.lexer.peek().kind === '(') {
    return { kind: 'not', branch: parseGroup(parsing, scope, parsing.lexer.next()) };
  }
  const located = scope.resolve(token);
  if (parsing.lexer.peek().kind === '[') return parseElement(parsing, located, token);
  return parseExpression(parsing, located, token);
}

function enter(parsing: Parsing, token: Token): void {
  if (++parsing.depth > MAX_DEPTH)
    throw invalidFilter(`The filter nests too deeply at position ${token.at}.`);
}

function expect(parsing: Parsing, kind: ')' | ']'): void {
  const token = parsing.lexer.next();
  if (token.kind !== kind) throw invalidFilter(`"${kind}" is missing at position ${token.at}.`);
}

function parseGroup(parsing: Parsing, scope: Scope, open: Token): Filter {
  enter(parsing, open);
  const filter = parseOr(parsing, scope);
  expect(parsing, ')');
  parsing.depth--;
  return filter;
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

// attribute[filter], and Entra's attribute[filter].sub op value, which means attribute[filter and sub op value].
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

function unknownElement(token: Token): Error {
  return invalidFilter(`"${token.text.slice(0, 200)}" at position ${token.at} has no elements to select.`);
}

function parseText(type: ResourceType, text: string, profile: Profile): Filter {
  const parsing: Parsing = { lexer: createLexer(text), profile, depth: 0 };
  const filter = parseOr(parsing, resourceScope(type, profile));
  const rest = parsing.lexer.next();
  if (rest.kind !== 'end')
    throw invalidFilter(`Unexpected "${rest.text.slice(0, 200)}" at position ${rest.at}.`);
  return filter;
}

interface Cached {
  readonly filter: Filter;
  readonly deviations: readonly DeviationName[];
}

/**
 * Parses a filter (RFC 7644 section 3.4.2.2), from the resource type's bounded cache when it was seen before.
 * @throws 400 invalidFilter with the position, counted in characters from 0.
 */
export function parseFilter(type: ResourceType, text: string, profile: Profile): Filter {
  const key = `${profile.name} ${text}`;
  const cached = type.filterCache.get(key) as Cached | undefined;
  if (cached) {
    for (const deviation of cached.deviations) profile.allows(deviation);
    return cached.filter;
  }
  if (text.length > MAX_LENGTH) throw invalidFilter(`The filter is longer than ${MAX_LENGTH} characters.`);
  const deviations: DeviationName[] = [];
  const recording: Profile = {
    name: profile.name,
    allows: (deviation) => profile.allows(deviation) && deviations.push(deviation) > 0,
  };
  const filter = parseText(type, text, recording);
  if (text.length <= CACHED_LENGTH) remember(type.filterCache, key, { filter, deviations });
  return filter;
}

function remember(cache: Map<string, unknown>, key: string, entry: Cached): void {
  const oldest = cache.size >= CACHE_SIZE ? cache.keys().next().value : undefined;
  if (oldest !== undefined) cache.delete(oldest);
  cache.set(key, entry);
}

/**
 * Parses the `[…]` of a value path in `text`, whose opening bracket is at `start`; `end` is after the closing one.
 * @throws 400 invalidFilter.
 */
export function parseElementFilter(
  parts: Fields,
  text: string,
  start: number,
  profile: Profile,
): { filter: Filter; end: number } {
  if (text.length > MAX_LENGTH) throw invalidFilter(`The path is longer than ${MAX_LENGTH} characters.`);
  const parsing: Parsing = { lexer: createLexer(text, start + 1), profile, depth: 1 };
  const filter = parseOr(parsing, elementScope(parts));
  expect(parsing, ']');
  return { filter, end: parsing.lexer.position() };
}
