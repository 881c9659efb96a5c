// Tests the filter parser and evaluator with random filters against a reference evaluator.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { evaluateFilter, evaluateInSteps, parseFilter, ScimError } from '../../../../src/scim/index.ts';
import { ATTRIBUTES, atOnce, auto, rfc, user, userType } from '../sample.ts';

// A reference implementation: filters as data, written as text, and evaluated by simple code.
type Reference =
  | { is: 'text'; path: 'userName' | 'title' | 'emails.value' | 'emails.type'; op: string; value: string }
  | { is: 'number'; op: string; value: number }
  | { is: 'active'; op: string; value: boolean }
  | { is: 'present'; path: 'title' | 'emails' | 'active' }
  | { is: 'element'; type: string; part: string }
  | { is: 'and' | 'or'; left: Reference; right: Reference }
  | { is: 'not'; inner: Reference };

interface Person {
  userName: string;
  title?: string | undefined;
  active?: boolean | undefined;
  clearance?: number | undefined;
  emails: { value: string; type: string }[];
}

const word = fc.constantFrom('a', 'A', 'ab', 'b', 'B"c', 'a\\b', 'é', 'x y', 'and', ')]', '0');
const textOp = fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le');
const orderOp = fc.constantFrom('eq', 'ne', 'gt', 'ge', 'lt', 'le');

const filters = fc.letrec<{ filter: Reference }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      is: fc.constant('text' as const),
      path: fc.constantFrom(
        'userName' as const,
        'title' as const,
        'emails.value' as const,
        'emails.type' as const,
      ),
      op: textOp,
      value: word,
    }),
    fc.record({ is: fc.constant('number' as const), op: orderOp, value: fc.integer({ min: -3, max: 3 }) }),
    fc.record({ is: fc.constant('active' as const), op: fc.constantFrom('eq', 'ne'), value: fc.boolean() }),
    fc.record({
      is: fc.constant('present' as const),
      path: fc.constantFrom('title' as const, 'emails' as const, 'active' as const),
    }),
    fc.record({ is: fc.constant('element' as const), type: word, part: word }),
    fc.record({
      is: fc.constantFrom('and' as const, 'or' as const),
      left: tie('filter'),
      right: tie('filter'),
    }),
    fc.record({ is: fc.constant('not' as const), inner: tie('filter') }),
  ),
})).filter;

const person: fc.Arbitrary<Person> = fc.record({
  userName: word,
  title: fc.option(word, { nil: undefined }),
  active: fc.option(fc.boolean(), { nil: undefined }),
  clearance: fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined }),
  emails: fc.array(fc.record({ value: word, type: word }), { maxLength: 3 }),
});

function write(filter: Reference): string {
  switch (filter.is) {
    case 'text':
      return `${filter.path} ${filter.op} ${JSON.stringify(filter.value)}`;
    case 'number':
      return `${ATTRIBUTES}:clearance ${filter.op} ${filter.value}`;
    case 'active':
      return `active ${filter.op} ${filter.value}`;
    case 'present':
      return `${filter.path} pr`;
    case 'element':
      return `emails[type eq ${JSON.stringify(filter.type)} and value co ${JSON.stringify(filter.part)}]`;
    case 'and':
      return `${bracket(filter.left)} and ${bracket(filter.right)}`;
    case 'or':
      return `${write(filter.left)} or ${write(filter.right)}`;
    case 'not':
      return `not (${write(filter.inner)})`;
  }
}

const bracket = (filter: Reference): string => (filter.is === 'or' ? `(${write(filter)})` : write(filter));

function compare(op: string, actual: string | number | boolean, wanted: string | number | boolean): boolean {
  if (op === 'eq') return actual === wanted;
  if (op === 'ne') return actual !== wanted;
  if (op === 'co') return String(actual).includes(String(wanted));
  if (op === 'sw') return String(actual).startsWith(String(wanted));
  if (op === 'ew') return String(actual).endsWith(String(wanted));
  if (op === 'gt') return actual > wanted;
  if (op === 'ge') return actual >= wanted;
  return op === 'lt' ? actual < wanted : actual <= wanted;
}

function any(op: string, values: (string | number | boolean)[], wanted: string | number | boolean): boolean {
  return (op === 'ne' && values.length === 0) || values.some((value) => compare(op, value, wanted));
}

function valuesAt(subject: Person, path: string): (string | boolean)[] {
  if (path === 'emails.value') return subject.emails.map((email) => email.value);
  if (path === 'emails.type') return subject.emails.map((email) => email.type);
  if (path === 'emails') return subject.emails.map(() => true);
  const value = subject[path as 'userName' | 'title' | 'active'];
  return value === undefined ? [] : [value];
}

function judge(filter: Reference, subject: Person): boolean {
  switch (filter.is) {
    case 'text': {
      const values = valuesAt(subject, filter.path).map((value) => String(value).toLowerCase());
      return any(filter.op, values, filter.value.toLowerCase());
    }
    case 'number':
      return any(filter.op, subject.clearance === undefined ? [] : [subject.clearance], filter.value);
    case 'active':
      return any(filter.op, subject.active === undefined ? [] : [subject.active], filter.value);
    case 'present':
      return valuesAt(subject, filter.path).length > 0;
    case 'element':
      return subject.emails.some(
        ({ type, value }) =>
          type.toLowerCase() === filter.type.toLowerCase() &&
          value.toLowerCase().includes(filter.part.toLowerCase()),
      );
    case 'and':
      return judge(filter.left, subject) && judge(filter.right, subject);
    case 'or':
      return judge(filter.left, subject) || judge(filter.right, subject);
    case 'not':
      return !judge(filter.inner, subject);
  }
}

test('evaluateFilter and evaluateInSteps agree with a reference evaluator on any filter and any user', () => {
  fc.assert(
    fc.property(filters, person, (filter, subject) => {
      const { clearance, ...core } = subject;
      const resource = user({ ...core, [ATTRIBUTES]: { clearance } });
      const parsed = parseFilter(userType, write(filter), rfc);
      expect(evaluateFilter(parsed, resource)).toBe(judge(filter, subject));
      expect(atOnce(evaluateInSteps(parsed, resource))).toBe(judge(filter, subject));
    }),
    { numRuns: 1000 },
  );
});

test('any quoted text in a filter is parsed unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (value) => {
      fc.pre(value.trim() !== '');
      const text = `title eq ${JSON.stringify(value)}`;
      expect(evaluateFilter(parseFilter(userType, text, rfc), user({ title: value }))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('any text as filter gives a parsed filter or a ScimError', () => {
  const piece = fc.constantFrom(
    'userName', 'emails', '[', ']', '(', ')', '"', '\\', ' ', 'eq', 'pr', 'and', 'or', 'not', '.', ':', '"x"', 'true', '1', '\u0000',
  ); // prettier-ignore
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 20 }).map((all) => all.join('')),
    fc.array(piece, { maxLength: 20 }).map((all) => all.join(' ')),
  );
  fc.assert(
    fc.property(text, (candidate) => {
      try {
        evaluateFilter(parseFilter(userType, candidate, auto), user({}));
      } catch (error) {
        expect(error).toBeInstanceOf(ScimError);
      }
    }),
    { numRuns: 1000 },
  );
});
