// Judges a JSON text by its bytes before it is parsed. A few bytes of text can become many bytes of memory: how many
// depends on the brackets and commas.

export interface JsonBounds {
  /** Objects and lists inside each other. */
  maxDepth: number;
  /** Brackets, braces and commas. */
  maxStructure: number;
  /** Bytes of one text; default: no bound of its own. */
  maxText?: number;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Reads the UTF-8 bytes once, without parsing them.
 * @returns the reason why the text must not be parsed, for a sentence such as "the answer …", or undefined
 */
export function checkJsonShape(
  bytes: Uint8Array,
  { maxDepth, maxStructure, maxText = Infinity }: JsonBounds,
): string | undefined {
  let depth = 0;
  let structure = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const start = ++at;
      for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
      if (at - start > maxText) return `holds a text of more than ${maxText} bytes`;
    } else if (byte === COMMA) structure++;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      structure++;
      if (++depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      structure++;
      depth--;
    }
    if (structure > maxStructure) return `has more than ${maxStructure} brackets and commas`;
  }
  return undefined;
}
