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

export interface JsonScan {
  /** Why the text must not be parsed: `reason` completes a sentence such as "the answer …". */
  fault?: { kind: 'depth' | 'structure' | 'text'; reason: string };
  /** An escape of the form `\u` is in a text: in UTF-8 only such an escape can write half of a surrogate pair. */
  hasUnicodeEscape: boolean;
}

const [QUOTE, BACKSLASH, LETTER_U, COMMA] = [0x22, 0x5c, 0x75, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Reads the UTF-8 bytes once, without parsing them, and ends at the first fault. */
export function scanJson(
  bytes: Uint8Array,
  { maxDepth, maxStructure, maxText = Infinity }: JsonBounds,
): JsonScan {
  const end = bytes.length;
  let hasUnicodeEscape = false;
  let depth = 0;
  let structure = 0;
  for (let at = 0; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const start = ++at;
      for (; at < end && bytes[at] !== QUOTE; at++) {
        if (bytes[at] === BACKSLASH && bytes[++at] === LETTER_U) hasUnicodeEscape = true;
      }
      if (at - start > maxText) return fault('text', `holds a text of more than ${maxText} bytes`);
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (++depth > maxDepth) return fault('depth', `is nested deeper than ${maxDepth} levels`);
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    else if (byte !== COMMA) continue;
    if (++structure > maxStructure)
      return fault('structure', `has more than ${maxStructure} brackets and commas`);
  }
  return { hasUnicodeEscape };

  function fault(kind: 'depth' | 'structure' | 'text', reason: string): JsonScan {
    return { fault: { kind, reason }, hasUnicodeEscape };
  }
}
