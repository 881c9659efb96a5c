// Escapes characters of untrusted text that could move a cursor, forge a line or reverse the direction of
// writing in a terminal.

/**
 * Control characters (C0, DEL, C1), line and paragraph separators, characters without width, soft hyphens (U+00AD), tags (from
 * U+E0000), and characters that set the direction. The marks U+200E and U+200F and the joiners U+200C and U+200D are allowed: names
 * in many scripts need them.
 */
const UNSAFE =
  /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff\u061c\u00ad\u{e0000}-\u{e007f}]/gu;

const NAMED = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** Returns the escape of a character: `\n`, or `\u` with four digits for each UTF-16 code unit. */
const escaped = (character: string): string =>
  NAMED.get(character) ??
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

/** Returns the text as one line that is safe to print. JSON text on one line stays valid JSON, with escapes in its strings. */
export const visible = (text: string): string => text.replace(UNSAFE, escaped);

/**
 * Returns a copy of a JSON value with all its strings escaped; names of properties stay.
 * @param change applied to each string before it is escaped
 */
export function visibleIn<T>(value: T, change: (text: string) => string = (text) => text): T {
  return JSON.parse(JSON.stringify(value), (_key, each: unknown) =>
    typeof each === 'string' ? visible(change(each)) : each,
  ) as T;
}
