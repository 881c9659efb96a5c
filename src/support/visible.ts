// Text that others chose, made safe to look at: what could move a cursor, forge a line or turn the order of letters round is
// written out, so that it is seen and does nothing.

/**
 * Controls (C0, DEL, C1, which hold escape, line breaks and the one-byte CSI and OSC), line and paragraph separators, letters
 * without width, and what overrides the direction of writing. Marks of direction alone (U+200E, U+200F) and the joiners
 * (U+200C, U+200D) belong to names in many scripts.
 */
const UNSAFE =
  /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff\u061c\u00ad\u{e0000}-\u{e007f}]/gu;

const NAMED = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

const written = (character: string): string =>
  NAMED.get(character) ??
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

/** One line that a terminal shows as it is. JSON stays the JSON that it was: what is written out stands in its strings. */
export const visible = (text: string): string => text.replace(UNSAFE, written);

/** A value of JSON with all its text made visible. */
export function visibleIn<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, each: unknown) =>
    typeof each === 'string' ? visible(each) : each,
  ) as T;
}
