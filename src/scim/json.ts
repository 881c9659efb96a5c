// JSON as it arrives: what is an object, and what no body may hold.
import { invalidSyntax, invalidValue } from './errors.ts';

export type JsonObject = Record<string, unknown>;

const MAX_DEPTH = 32;

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

function countOf(character: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count++;
  return count;
}

/**
 * Whether the text alone tells that its value passes `checkBody`, which costs less than a walk through it: only an escape
 * writes half of a character pair in UTF-8, and nothing nests deeper than there are brackets.
 */
export const isSound = (json: string): boolean =>
  !json.includes('\\u') && countOf('{', json) + countOf('[', json) <= MAX_DEPTH;

/** An own member by name without regard to case (RFC 7643 section 2.1); the exact spelling first. */
export function member(body: JsonObject, name: string): unknown {
  if (Object.hasOwn(body, name)) return body[name];
  const lower = name.toLowerCase();
  const key = Object.keys(body).find((each) => each.toLowerCase() === lower);
  return key === undefined ? undefined : body[key];
}
