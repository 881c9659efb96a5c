// Evaluates JSONata expressions of the settings with limits of time, depth and size. An expression that exceeds a limit
// fails for the current user only. Expressions run in the event loop, so the time limit also limits how long requests wait.
// Time and depth are limited by options of JSONata (`parse`), sizes by hooks into its steps and functions (`limitSizes`), the
// result by `bounded`, and regular expressions by expression-patterns.ts.
import process from 'node:process';
import jsonata from 'jsonata';
import { codeOf, ExpressionFailed, faultInText, LIMITS, toFailure } from './expression-failure.ts';
import { createMeter, SIZES } from './expression-size.ts';
import { checkPatterns, createRegexEngine, TIMED_OUT } from './expression-patterns.ts';
import { createPace } from '../../support/pace.ts';

/** Evaluates a compiled expression for one resource. */
type Evaluate = (input: unknown) => Promise<unknown>;

/**
 * Compiles an expression. The returned function evaluates it for one input.
 * @throws Error when the text does not compile, or has a regular expression that RE2 does not support
 */
export function compileExpression(text: string): Evaluate {
  const expression = parse(text);
  checkPatterns(expression.ast());
  limitSizes(expression);
  return async (input) => {
    for (let attempt = 1; ; attempt++) {
      let usage: NodeJS.CpuUsage | undefined;
      try {
        const result = await alone(() => {
          usage = process.cpuUsage();
          return expression.evaluate(input) as Promise<unknown>;
        });
        return bounded(result);
      } catch (error) {
        if (codeOf(error) !== TIMED_OUT || isSlow(attempt, process.cpuUsage(usage))) throw toFailure(error);
      }
    }
  };
}

/** Compiles the text with the limits. @throws Error with a sentence about the fault in the text */
function parse(text: string): jsonata.Expression {
  try {
    return jsonata(text, { ...LIMITS, RegexEngine: createRegexEngine() });
  } catch (error) {
    throw faultInText(error);
  }
}

/** Most attempts at one evaluation: in a process that gets no processor time, a fast expression exceeds the time limit too. */
const ATTEMPTS = 5;

/**
 * Returns whether the expression is slow, and not the machine: it took processor time in the third attempt or a later one, or the
 * last attempt failed too. In the first two, other work of the process may have taken the time, such as garbage collection.
 */
function isSlow(attempt: number, { user, system }: NodeJS.CpuUsage): boolean {
  // Processor time (microseconds) of at least half the limit: the expression was computing, not waiting for the processor.
  const isBusy = user + system >= (LIMITS.timeout * 1000) / 2;
  return attempt === ATTEMPTS || (attempt > 2 && isBusy);
}

/** Resolves when the next evaluation may begin. */
let turn: Promise<void> = Promise.resolve();
const pace = createPace();

/**
 * Runs one evaluation at a time, because concurrent evaluations would count the time of each other. After a slow evaluation
 * the event loop serves other work first.
 */
async function alone<T>(evaluate: () => Promise<T>): Promise<T> {
  const before = turn;
  let end: () => void = () => undefined;
  turn = new Promise((resolve) => (end = resolve));
  await before;
  const slice = pace();
  try {
    return await evaluate();
  } finally {
    if (slice.isOver()) void slice.rest().then(end);
    else end();
  }
}

/**
 * Binding that JSONata calls after each evaluation step. It is not documented, but its maintainer does not plan to remove it
 * (https://github.com/jsonata-js/jsonata/issues/521). Only sizes depend on it: time and depth are limited by documented options.
 */
const AFTER_STEP = Symbol.for('jsonata.__evaluate_exit');

/** Measures the result of each step, and replaces $join and $pad by versions that check the size of their result first. */
function limitSizes(expression: jsonata.Expression): void {
  // `base`: the environment of one evaluation, so that each evaluation is measured by itself.
  const meters = new WeakMap<object, ReturnType<typeof createMeter>>();
  const afterStep = (
    { type }: { type: string },
    _input: unknown,
    { base }: { base: object },
    result: unknown,
  ) => {
    const meter = meters.get(base) ?? createMeter();
    meters.set(base, meter);
    const excess = meter(type, result);
    if (excess !== undefined) throw new ExpressionFailed(excess, { exceeded: true });
  };
  expression.assign(AFTER_STEP as unknown as string, afterStep);
  const refuseTooLong = (letters: number): void => {
    if (letters > SIZES.value)
      throw new ExpressionFailed(`makes a text of more than ${SIZES.value} letters`, { exceeded: true });
  };
  const join = (texts: string[] | undefined, separator: string | undefined): string | undefined => {
    const between = separator ?? '';
    refuseTooLong(texts?.reduce((sum, text) => sum + text.length + between.length, 0) ?? 0);
    return texts?.join(between);
  };
  const pad = (text: string | undefined, width: number, filler: string | undefined): string | undefined => {
    const unit = filler || ' ';
    refuseTooLong(Math.abs(width) * unit.length);
    if (text === undefined) return undefined;
    const missing = Math.max(0, Math.abs(Math.trunc(width)) - [...text].length);
    const padding = [...unit.repeat(missing)].slice(0, missing).join('');
    return width > 0 ? text + padding : padding + text;
  };
  // Signatures of JSONata: (list of texts, optional text) → text; (text, number, optional text) → text.
  expression.registerFunction('join', join, '<a<s>s?:s>');
  expression.registerFunction('pad', pad, '<s-ns?:s>');
}

/**
 * Returns the result of an expression.
 * @throws ExpressionFailed when a text is too long. Its length is read before its characters, because V8 copies the parts of a
 *   concatenated text into one only when the characters are read
 */
function bounded(result: unknown): unknown {
  const values: unknown[] = Array.isArray(result) ? result : [result];
  if (values.some((value) => typeof value === 'string' && value.length > LIMITS.text))
    throw new ExpressionFailed(`makes a text of more than ${LIMITS.text} letters`, { exceeded: true });
  // A list of JSONata (sequence) has extra properties, so a plain copy is returned.
  return Array.isArray(result) ? [...values] : result;
}
