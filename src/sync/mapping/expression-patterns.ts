// Limits the regular expressions of JSONata expressions: their size, which is checked before they are compiled (`checkPatterns`),
// and their time, by a replacement for RegExp that runs in linear time (`createRegexEngine`).
import { ExpressionFailed, LIMITS } from './expression-failure.ts';
import { compilePattern, patternFault, type Pattern } from '../../support/linear-regexp.ts';
import { patternSize } from '../../support/pattern-size.ts';

/** Most steps that the regular expressions of one expression may have together. Compiling more would take seconds. */
const PATTERN_STEPS = 50_000;
/** Most compiled regular expressions that are kept for one expression. */
const MOST_PATTERNS = 100;
const PATTERN_EXCESS = `has regular expressions of more than ${PATTERN_STEPS} steps with their repetitions written out`;

/** Error code of JSONata for an evaluation that exceeds the time limit. */
export const TIMED_OUT = 'D1012';

/** @throws Error when the regular expressions of a compiled expression are too large, or RE2 does not support one of them */
export function checkPatterns(ast: unknown): void {
  const regexps = regexpsIn(ast);
  // Checked before patternFault, which compiles the patterns.
  const steps = regexps.reduce((sum, { source }) => sum + patternSize(source), 0);
  if (steps > PATTERN_STEPS) throw new Error(`The expression ${PATTERN_EXCESS}: repeat less.`);
  // JSONata adds the flag `g` to every pattern.
  const fault = regexps
    .map(({ source, flags }) => patternFault(source, flags.replace('g', '')))
    .find((each) => each !== undefined);
  if (fault !== undefined) throw new Error(fault);
}

/** Returns all regular expressions of a compiled expression. */
function regexpsIn(node: unknown, seen = new Set<unknown>()): RegExp[] {
  if (node instanceof RegExp) return [node];
  if (typeof node !== 'object' || node === null || seen.has(node)) return [];
  seen.add(node);
  return Object.values(node).flatMap((each) => regexpsIn(each, seen));
}

/**
 * Creates a replacement for RegExp with linear time. JSONata creates an object for each evaluation of a pattern; the object limits
 * the time of its matches from then on.
 */
export function createRegexEngine(): RegExpConstructor {
  const patterns = new Map<string, Pattern>();
  /** Steps of the patterns that are kept. */
  let kept = 0;
  const patternOf = ({ source, flags }: RegExp): Pattern => {
    const name = `${flags} ${source}`;
    const known = patterns.get(name);
    if (known) return known;
    // `$eval` can create any number of patterns of any size, so number and size are limited.
    const steps = patternSize(source);
    if (steps > PATTERN_STEPS) throw new ExpressionFailed(PATTERN_EXCESS, { exceeded: true });
    const pattern = compilePattern(source, flags);
    if (patterns.size < MOST_PATTERNS && kept + steps <= PATTERN_STEPS) {
      patterns.set(name, pattern);
      kept += steps;
    }
    return pattern;
  };
  class LinearRegExp {
    lastIndex = 0;
    readonly #pattern: Pattern;
    readonly #until = Date.now() + LIMITS.timeout;
    constructor(regexp: RegExp) {
      this.#pattern = patternOf(regexp);
    }
    exec(text: string): (string | undefined)[] | null {
      // A single match takes linear time, but all matches of a text may take quadratic time.
      if (Date.now() > this.#until) throw Object.assign(new Error('timeout'), { code: TIMED_OUT });
      const found = this.#pattern.find(text, this.lastIndex);
      // The first group is the whole match.
      this.lastIndex = found ? found.index + (found.groups[0] ?? '').length : 0;
      return found ? Object.assign(found.groups, { index: found.index, input: text }) : null;
    }
  }
  return LinearRegExp as unknown as RegExpConstructor;
}
