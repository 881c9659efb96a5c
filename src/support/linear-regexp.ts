// Compiles regular expressions from settings with RE2 syntax (no look-around, no backreferences). Matching
// takes time linear in the length of the text, so a pattern cannot block the process.
import { RE2JS } from 're2js';

export interface Pattern {
  test(text: string): boolean;
  /** Replaces the first match; `$1`, `$2` ... in `to` stand for groups. */
  replace(text: string, to: string): string;
  /** Returns the first match at index `from` or later. `groups`: the whole match, then the groups of the pattern. */
  find(text: string, from: number): { index: number; groups: (string | undefined)[] } | undefined;
}

const FLAGS: Record<string, number> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
};

/**
 * Compiles a pattern.
 * @param flags flags of JavaScript; `g`, `u` and `y` have no effect
 * @throws Error when the pattern is not valid RE2 syntax
 */
export function compilePattern(source: string, flags = ''): Pattern {
  let options = 0;
  for (const flag of flags) options |= FLAGS[flag] ?? 0;
  const compiled = RE2JS.compile(RE2JS.translateRegExp(source), options);
  return {
    test: (text) => compiled.test(text),
    replace: (text, to) => compiled.matcher(text).replaceFirst(to),
    find(text, from) {
      const matcher = compiled.matcher(text);
      if (from > text.length || !matcher.find(from)) return undefined;
      const groups = Array.from(
        { length: compiled.groupCount() + 1 },
        (_, at) => matcher.group(at) ?? undefined,
      );
      return { index: matcher.start(), groups };
    },
  };
}

/** Returns a sentence that describes the fault of a pattern; undefined for a valid one. */
export function patternFault(source: string, flags?: string): string | undefined {
  try {
    // Operators write patterns in the syntax of JavaScript, so a pattern must be valid there too.
    new RegExp(source, flags);
  } catch {
    return 'Not a regular expression. Check brackets, and put a backslash before special characters.';
  }
  try {
    compilePattern(source, flags);
    return undefined;
  } catch {
    return 'Not a pattern in RE2 syntax. Look-around ((?=, (?!, (?<=, (?<!) and backreferences (\\1) are not supported, and a count is at most 1000.';
  }
}
