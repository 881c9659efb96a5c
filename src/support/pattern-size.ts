// Estimates how large a regular expression becomes when it is compiled: RE2 copies a repeated part for each repetition, so a short
// pattern may take much time and memory. Callers refuse patterns that are too large before they compile them.

/** An escape such as `\d`, `\p{Lu}` or `\x{41}`. */
const ESCAPE = /\\(?:[pPx]\{[^}]*\}|[^])/y;
/** A repetition such as `{3}`, `{3,}` or `{3,6}`. */
const REPETITION = /\{(\d+)(?:,(\d*))?\}/y;
/** Largest repetition that RE2 compiles. */
const MOST_REPEATED = 1000;

/** Returns the number of steps of a pattern, with a copy for each repetition: 36 for `(\d{4}-){6}`, as a group counts as a step. */
export function patternSize(source: string): number {
  /** `sum` before each open group, outermost first. */
  const outer: number[] = [];
  /** Number of steps of the innermost open group so far. */
  let sum = 0;
  /** Number of steps of the last element, which a following repetition copies. */
  let last = 0;
  const add = (size: number): void => {
    last = size;
    sum += size;
  };
  for (let at = 0; at < source.length;) {
    const letter = source[at];
    const repetition = letter === '{' ? matchAt(REPETITION, source, at) : undefined;
    if (repetition) {
      const [whole, least, most = ''] = repetition;
      const times = Math.max(1, Number(least), Number(most));
      const repeated = last * Math.min(times, MOST_REPEATED);
      sum += repeated - last;
      last = repeated;
      at += whole.length;
    } else if (letter === '(') {
      outer.push(sum);
      sum = 0;
      last = 0;
      at++;
    } else if (letter === ')') {
      // The group itself is one step.
      const inner = sum + 1;
      sum = outer.pop() ?? 0;
      add(inner);
      at++;
    } else if (letter === '[') {
      add(1);
      at = endOfClass(source, at);
    } else {
      add(1);
      at += letter === '\\' ? (matchAt(ESCAPE, source, at)?.[0].length ?? 1) : 1;
    }
  }
  return outer.reduce((total, size) => total + size, sum);
}

/** Returns the match of a sticky pattern (flag `y`) that begins at an index; undefined when there is none. */
function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/** Returns the index behind a character class; inside it `*`, `+` and braces are no repetitions. */
function endOfClass(source: string, start: number): number {
  let at = start + (source[start + 1] === '^' ? 2 : 1);
  while (at < source.length && source[at] !== ']') at += source[at] === '\\' ? 2 : 1;
  return at + 1;
}
