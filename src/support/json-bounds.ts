// Checks the size and structure of JSON text before it is parsed. A short text with many brackets and commas
// can need a lot of memory as objects.

export interface JsonBounds {
  /** Largest nesting depth of objects and arrays. */
  maxDepth: number;
  /** Largest number of brackets, braces and commas. */
  maxStructure: number;
  /** Largest string in bytes; default: no limit. */
  maxText?: number;
}

/** Reason why the text must not be parsed. `reason` completes a sentence that begins with "the answer …". */
export interface JsonFault {
  kind: 'depth' | 'structure' | 'text';
  reason: string;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Scans UTF-8 bytes once, without parsing. @returns the first fault, or undefined */
export function scanJson(
  bytes: Uint8Array,
  { maxDepth, maxStructure, maxText = Infinity }: JsonBounds,
): JsonFault | undefined {
  const end = bytes.length;
  let depth = 0;
  let structure = 0;
  for (let at = 0; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const start = ++at;
      for (; at < end && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
      if (at - start > maxText) return { kind: 'text', reason: `holds a text of more than ${maxText} bytes` };
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (++depth > maxDepth) return { kind: 'depth', reason: `is nested deeper than ${maxDepth} levels` };
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    else if (byte !== COMMA) continue;
    if (++structure > maxStructure)
      return { kind: 'structure', reason: `has more than ${maxStructure} brackets and commas` };
  }
  return undefined;
}
