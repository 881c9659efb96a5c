// Regular expressions of settings, on an engine whose time grows with the length of the text and not beyond (RE2's
// syntax: no look-around and no backreferences). A careless pattern must not stop the process on a hostile value.
import { RE2JS } from 're2js';

export interface Pattern {
  test(text: string): boolean;
  /** Replaces the first match; `$1`, `$2` ... stand for groups. */
  replace(text: string, to: string): string;
  /** The first match at `from` or later. */
  find(text: string, from: number): { index: number; groups: (string | undefined)[] } | undefined;
}

const FLAGS: Record<string, number> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
};

/**
 * @param flags those of JavaScript; `g`, `u` and `y` say nothing here
 * @throws Error when the pattern is not in RE2's syntax
 */
export function compilePattern(source: string, flags = ''): Pattern {
  const compiled = RE2JS.compile(
    RE2JS.translateRegExp(source),
    [...flags].reduce((sum, flag) => sum | (FLAGS[flag] ?? 0), 0),
  );
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

/** @returns a sentence on what is wrong with the pattern, or undefined */
export function patternFault(source: string, flags?: string): string | undefined {
  try {
    // JavaScript knows what the engine below does not: only a pattern that both read alike means what it says.
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
