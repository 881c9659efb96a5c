// Tests JSONata expressions of mapping rules: limits, errors and patterns.
import { ExpressionFailed, LIMITS } from '../../../src/sync/mapping/expression-failure.ts';
import { compileExpression } from '../../../src/sync/mapping/expression.ts';
import { tryRules } from '../../../src/sync/mapping/rule-trial.ts';
import { compilePattern, patternFault } from '../../../src/support/linear-regexp.ts';

const LONG = 'a'.repeat(60_000);

/** Runs the work. @returns its result, and the longest time in which the event loop served nothing else, milliseconds */
async function watched<T>(work: () => Promise<T>): Promise<{ result: T; longest: number }> {
  let last = performance.now();
  let longest = 0;
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  try {
    const result = await work();
    await new Promise((resolve) => setTimeout(resolve, 5));
    return { result, longest };
  } finally {
    clearInterval(watch);
  }
}

/** Returns the failure of an evaluation. Also checks that the evaluation does not block the event loop for long. */
async function failureOf(text: string, input: unknown = {}): Promise<ExpressionFailed> {
  const evaluate = compileExpression(text);
  const { result, longest } = await watched(() => evaluate(input).catch((error: unknown) => error));
  expect(result).toBeInstanceOf(ExpressionFailed);
  // Far above the time limit of 50 ms, because the machine may be busy.
  expect(longest).toBeLessThan(1000);
  return result as ExpressionFailed;
}

test.each([
  ['tail recursion without end', '($f := function($x){ $f($x+1) }; $f(0))'],
  ['recursion without end', '($f := function($x){ $f($x+1)+1 }; $f(0))'],
  ['recursion in $eval', '$eval("($f := function($x){ $f($x) }; $f(0))")'],
  ['a huge range', '[1..1e9]'],
  ['a large range', '[1..9999999]'],
  ['a padded text beyond what the engine can hold', '$pad("x", 1e9)'],
  ['a padded text of 500 MB', '$pad("x", 5e8)'],
  ['a text that doubles 28 times', '$reduce([1..28], function($a, $b){ $a & $a }, "x")'],
  ['a text that doubles 40 times', '$reduce([1..40], function($a, $b){ $a & $a }, "x")'],
  ['a text that doubles and is measured', '$length($reduce([1..28], function($a, $b){ $a & $a }, "x"))'],
  ['a list that doubles', '$count($reduce([1..40], function($a, $b){ $append($a, $a) }, 1))'],
  ['an object that doubles', '$string($reduce([1..28], function($a, $b){ {"a": $a, "b": $a} }, 1))'],
  ['lists that hold themselves twice', '$string($reduce([1..28], function($a, $b){ [[$a], [$a]] }, 1))'],
  ['many copies that are joined', '$join($reduce([1..13], function($a, $b){ $append($a, $a) }, title))'],
  ['a long separator', '$join([1..9000].$string(), title)'],
  ['a long filler', '$pad("x", 9000, title)'],
  ['a replacement of each letter', '$length($replace(title, "a", title))'],
  ['a value that nests itself', '$string($reduce([1..2000], function($a, $b){ [[$a]] }, 1), true)'],
  ['copies that are kept', '$count([1..9000].$uppercase($$.title))'],
  ['a text that doubles in $eval', '$eval("$length($reduce([1..28], function($a, $b){ $a & $a }, \'x\'))")'],
  ['a map over many', '$map([1..100000], function($x){ $map([1..1000], function($y){ $x * $y }) })'],
])('an expression is stopped at its limit: %s', async (_, text) => {
  expect((await failureOf(text, { title: LONG })).exceeded).toBe(true);
});

test('the bounded $join and $pad give the results that JSONata documents', async () => {
  const results = [
    '$join(["a", "b"], "-")',
    '$join("a")',
    '$join(nothing)',
    '$pad("foo", 5)',
    '$pad("foo", -5, "#")',
  ]
    .concat(['$pad("foo", 8, "-+")', '$pad("foo", 2)', '$pad(nothing, 5)', '"foo" ~> $pad(4, "")'])
    .map((text) => compileExpression(text)({}));
  expect(await Promise.all(results)).toEqual([
    ...['a-b', 'a', undefined, 'foo  ', '##foo', 'foo-+-+-', 'foo', undefined, 'foo '],
  ]);
});

test('an expression that fails because of its input is not reported as exceeding a limit', async () => {
  expect(await failureOf('$number(title)', { title: 'x' })).toMatchObject({ exceeded: false });
});

test.each([
  ['$number(title)', 'a value cannot become a number, at character 8'],
  ['title + 1', 'the value before + is no number, at character 7'],
  ['title < 3', 'the values before and after < have different types, at character 7'],
  ['$sum(title)', 'argument 1 of $sum is no list of numbers, at character 5'],
  ['$uppercase(5)', 'argument 1 of $uppercase has the wrong type, at character 11'],
  ['$upper(title)', 'there is no function upper, at character 7'],
  ['$eval("$number(title)")', 'a value cannot become a number, at character 8'],
  ['$assert(false, "title is needed")', 'title is needed, at character 8'],
  ['$formatInteger(1, "#,a")', 'JSONata refuses it with the error D3130, at character 15'],
])('the expression %s fails with a reason that does not quote the value', async (text, message) => {
  const failure = await failureOf(text, { title: 'secret-value' });
  expect(failure).toMatchObject({ message, exceeded: false });
});

test.each([
  ['title(', 'The expression is not valid: ")" is missing at the end, at character 6.'],
  ['a b', 'The expression is not valid: "b" is not expected, at character 3.'],
  ['"abc', 'The expression is not valid: a quotation mark is not closed, at character 4.'],
  ['1 +', 'The expression is not valid: the expression ends too early, at character 3.'],
])('compiling the expression %s reports the fault and its position', (text, message) => {
  expect(() => compileExpression(text)).toThrow(message);
});

test('regular expressions in an expression take linear time, and a search for all matches has the time limit', async () => {
  const input = { title: `${LONG}!` };
  expect(await compileExpression('$contains(title, /^(a+)+$/)')(input)).toBe(false);
  expect(await compileExpression('$replace("a-b-c", /-/, "+")')({})).toBe('a+b+c');
  expect(await compileExpression('$match("k1=v1,k2=v2", /(\\w+)=(\\w+)/).groups')({})).toEqual([
    'k1',
    'v1',
    'k2',
    'v2',
  ]);
  expect(await compileExpression('$split("a1b22c", /[0-9]+/)')({})).toEqual(['a', 'b', 'c']);
  expect(
    await compileExpression('groups.display[$match($, /^REGION-/i)]')({ groups: [{ display: 'region-eu' }] }),
  ).toBe('region-eu');
  expect((await failureOf('$match(title, /a.*b|a/)', input)).message).toBe(
    `takes longer than ${LIMITS.timeout} ms`,
  );
});

test('look-around and backreferences are refused when an expression is compiled', () => {
  expect(() => compileExpression('$match(title, /(?=x)y/)')).toThrow('Look-around');
  expect(() => compileExpression('title ~> /(a)\\1/')).toThrow('backreferences');
});

test('regular expressions in an expression match as in JavaScript', () => {
  expect(compilePattern('^(a+)+$').test(`${LONG}!`)).toBe(false);
  expect(compilePattern('^acme-(.*)$').replace('acme-sales', '$1')).toBe('sales');
  expect(compilePattern('(\\w+) (\\w+)').replace('one two three', '$2 $1')).toBe('two one three');
  expect(compilePattern('/team/').replace('x/team/y', '-')).toBe('x-y');
  expect(compilePattern('(?<unit>[A-Z]+)-').replace('EU-ops', '$<unit>.')).toBe('EU.ops');
  expect(patternFault('^(?!hidden)')).toContain('RE2');
  expect(patternFault('(')).toContain('Not a regular expression');
  expect(patternFault('^region-[a-z]{2}$')).toBeUndefined();
});

test('a trial of the mapping rules reports the paths of an expression that never ends and of one that always fails', async () => {
  const rule = (expression: string) => ({ type: 'string' as const, onEmpty: 'clear' as const, expression });
  const attributes = {
    good: rule('$uppercase(title)'),
    numeric: rule('$number(title)'),
    endless: rule('($f := function($x){ $f($x+1) }; $f(0))'),
    misspelt: rule('$upper(title)'),
  };
  const faults = await tryRules({ main: { attributes } });
  expect(faults.map(({ path }) => path)).toEqual([
    '/targets/main/attributes/endless/expression',
    '/targets/main/attributes/misspelt/expression',
  ]);
  expect(faults[0]?.message).toContain('takes longer than');
});

test('matching 100,000 names, and evaluating an expression 1,000 times, take less than 5 s of processor time each', async () => {
  const include = compilePattern('^(acme|globex)-[a-z]+-\\d+$');
  const evaluate = compileExpression('groups.display[$match($, /^region-/)]');
  const usedMs = (since?: NodeJS.CpuUsage): number => {
    const { user, system } = process.cpuUsage(since);
    return (user + system) / 1000;
  };
  const atFirst = process.cpuUsage();
  for (let at = 0; at < 100_000; at++) include.test(`acme-sales-${at}`);
  expect(usedMs(atFirst)).toBeLessThan(5000);
  const between = process.cpuUsage();
  const input = { groups: [{ display: 'region-eu' }, { display: 'team-a' }] };
  for (let at = 0; at < 1000; at++) await evaluate(input);
  expect(usedMs(between)).toBeLessThan(5000);
});

test('slow expressions run at the same time → their delays do not add up, and a quick expression succeeds', async () => {
  const slow = compileExpression('$string($sort([1..9000], function($a, $b){ $a < $b })[0])');
  const quick = compileExpression('$uppercase(title)');
  const { result: all, longest } = await watched(() =>
    Promise.allSettled([...Array.from({ length: 12 }, () => slow({})), quick({ title: 'lead' })]),
  );
  expect(all.at(-1)).toEqual({ status: 'fulfilled', value: 'LEAD' });
  expect(all[0]?.status).toBe('rejected');
  // The 12 slow evaluations, with three attempts each (expression.ts), together take 36 times the limit.
  expect(longest).toBeLessThan(6 * LIMITS.timeout);
});
