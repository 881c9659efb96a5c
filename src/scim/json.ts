// JSON as it arrives: what is an object, and what no body may hold.
import { scanJson } from '../support/json-bounds.ts';
import { invalidSyntax, invalidValue, payloadTooLarge } from './errors.ts';

export type JsonObject = Record<string, unknown>;

const MAX_DEPTH = 32;
/** A group of 65,000 members with all their sub-attributes has 390,000. */
const MAX_STRUCTURE = 500_000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON can escape half of a surrogate pair, which UTF-8 cannot carry. */
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

/**
 * Looks at the bytes of a body before they are parsed.
 * @throws 400 invalidSyntax when it nests deeper than 32 levels, 413 when it has more brackets and commas than any body needs
 */
export function scanBody(bytes: Uint8Array): void {
  const fault = scanJson(bytes, { maxDepth: MAX_DEPTH, maxStructure: MAX_STRUCTURE });
  if (fault?.kind === 'depth') throw invalidSyntax(`The body ${fault.reason}.`);
  if (fault) throw payloadTooLarge(`The body ${fault.reason}.`);
}

/** An own member by name without regard to case (RFC 7643 §2.1); the exact spelling first. */
export function member(body: JsonObject, name: string): unknown {
  if (Object.hasOwn(body, name)) return body[name];
  const lower = name.toLowerCase();
  const key = Object.keys(body).find((each) => each.toLowerCase() === lower);
  return key === undefined ? undefined : body[key];
}
