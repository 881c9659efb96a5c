// Parses and evaluates conditions of access policies: `{ userAttributes.is_manager }` and comparisons.
import type { CoreDataSecurityContext } from './security-context.ts';

/** Returns the value of the condition for a context; policy.ts decides about values that are not boolean. */
export type PolicyTest = (context: CoreDataSecurityContext) => unknown;

const PATH =
  /^(?:(?:securityContext|security_context)\.(?:cubeCloud|cube_cloud)\.)?(?:userAttributes|user_attributes)\.([A-Za-z_]\w*)$/;
const INCLUDES = /^(.+)\.includes\((.+)\)$/s;
const CONTAINED = /^(.+?)\s+in\s+(.+)$/s;
const COMPARED = /^(.+?)\s*(===?|!==?)\s*(.+)$/s;
/** Longer conditions are not read, because the regular expressions of this file take longer than linear time. */
const MAX_CONDITION = 1000;

/** Parses a literal or an attribute; undefined for other text. */
function parseValue(text: string): PolicyTest | undefined {
  const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(text);
  if (quoted) return () => quoted[1] ?? quoted[2];
  if (/^-?\d+(\.\d+)?$/.test(text)) return () => Number(text);
  if (/^(true|false)$/i.test(text)) return () => text.toLowerCase() === 'true';
  const [, name] = PATH.exec(text) ?? [];
  if (name === undefined) return undefined;
  return ({ groups, userAttributes }) => {
    // Conditions may also read `userAttributes.groups` (contract 5).
    if (Object.hasOwn(userAttributes, name)) return userAttributes[name];
    return name === 'groups' ? groups : undefined;
  };
}

const contains = (list: unknown, item: unknown): boolean =>
  Array.isArray(list) ? list.includes(item) : typeof list === 'string' && list.includes(String(item));

/** Returns a condition over two values in the text; `left` and `right` are their capture groups in `match`. */
function pair(
  match: RegExpExecArray | null,
  [left, right]: readonly [number, number],
  test: (left: unknown, right: unknown) => boolean,
): PolicyTest | undefined {
  const [first, second] = [match?.[left], match?.[right]].map((text) => parseValue(text?.trim() ?? ''));
  return first && second ? (context) => test(first(context), second(context)) : undefined;
}

/** Parses a condition without `and` and `or`; undefined for text that the sandbox cannot read. */
function parseTerm(text: string): PolicyTest | undefined {
  const negated = /^(?:!(?!=)|not\s)\s*(.+)$/s.exec(text);
  if (negated) {
    const negatedTerm = parseTerm(negated[1]?.trim() ?? '');
    return negatedTerm && ((context) => !negatedTerm(context));
  }
  const value = parseValue(text);
  if (value) return value;
  const compared = COMPARED.exec(text);
  if (compared) {
    // The second group is the sign: `==` and `===`, or `!=` and `!==`.
    const isEqual = compared[2]?.startsWith('=') ?? false;
    return pair(compared, [1, 3], (left, right) => (left === right) === isEqual);
  }
  // `a.includes(b)` and `b in a` ask the same.
  return pair(INCLUDES.exec(text), [1, 2], contains) ?? pair(CONTAINED.exec(text), [2, 1], contains);
}

/** Returns the condition of a text in braces, or undefined for text that the sandbox cannot read. */
export function parseCondition(text: string): PolicyTest | undefined {
  const [, inside] = /^\s*\{(.*)\}\s*$/s.exec(text) ?? [];
  if (inside === undefined || inside.length > MAX_CONDITION) return undefined;
  const alternatives = inside.split(/\|\||\sor\s/).map((part) => part.split(/&&|\sand\s/));
  const tests = alternatives.map((terms) => terms.map((term) => parseTerm(term.trim())));
  if (tests.flat().some((test) => test === undefined)) return undefined;
  const [only] = tests.length === 1 && tests[0]?.length === 1 ? tests[0] : [];
  return only ?? ((context) => tests.some((terms) => terms.every((test) => Boolean(test?.(context)))));
}
