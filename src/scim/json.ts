// JSON as it arrives: what is an object, and what no body may hold.
import { invalidSyntax, invalidValue, payloadTooLarge } from './errors.ts';

export type JsonObject = Record<string, unknown>;

const MAX_DEPTH = 32;
/** A group of 65,000 members with all their sub-attributes has 390,000. */
const MAX_MARKS = 500_000;

const [QUOTE, BACKSLASH, LETTER_U, COMMA] = [0x22, 0x5c, 0x75, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Half of a character pair is what JSON can escape and UTF-8 can not carry. */
function checkText(text: string): void {
  if (!text.isWellFormed()) throw invalidValue('A text in the body is not valid Unicode.');
}

/** @throws 400 invalidSyntax when `value` nests deeper than 32 objects or lists, invalidValue for broken text. */
export function checkBody(value: unknown, depth = 0): void {
  if (typeof value === 'string') checkText(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= MAX_DEPTH) throw invalidSyntax(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  if (Array.isArray(value)) {
    for (const item of value) checkBody(item, depth + 1);
    return;
  }
  for (const key of Object.keys(value)) {
    checkText(key);
    checkBody((value as JsonObject)[key], depth + 1);
  }
}

export interface Scan {
  /** `checkBody` has nothing to refuse: no text can hold half of a character pair, which only an escape can write in UTF-8. */
  isSound: boolean;
}

/**
 * Looks at the bytes of a JSON text in one pass, before they are parsed. Parsed, a few bytes of text become many bytes of
 * memory, and how many depends on the brackets and commas.
 * @throws 400 invalidSyntax when it nests deeper than 32 levels, 413 when it has more brackets and commas than any body needs
 */
export function scanJson(bytes: Uint8Array): Scan {
  let depth = 0;
  let marks = 0;
  let isText = false;
  let isSound = true;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText) {
      if (byte === QUOTE) isText = false;
      else if (byte === BACKSLASH && bytes[++at] === LETTER_U) isSound = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === COMMA) marks++;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      marks++;
      if (++depth > MAX_DEPTH) throw invalidSyntax(`The body is nested deeper than ${MAX_DEPTH} levels.`);
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      marks++;
      depth--;
    }
  }
  if (marks > MAX_MARKS) throw payloadTooLarge(`The body has more than ${MAX_MARKS} brackets and commas.`);
  return { isSound };
}

/** An own member by name without regard to case (RFC 7643 section 2.1); the exact spelling first. */
export function member(body: JsonObject, name: string): unknown {
  if (Object.hasOwn(body, name)) return body[name];
  const lower = name.toLowerCase();
  const key = Object.keys(body).find((each) => each.toLowerCase() === lower);
  return key === undefined ? undefined : body[key];
}
