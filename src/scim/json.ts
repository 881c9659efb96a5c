// Checks and compares JSON values by the rules of SCIM: structure of a body, names and text without regard to case.
import { scanJson } from '../support/limits.ts';
import { invalidSyntax, invalidValue, payloadTooLarge } from './errors.ts';
import type { Field } from './attributes.ts';
import type { Profile } from './profiles.ts';

export type JsonObject = Record<string, unknown>;

/** Largest nesting of objects and lists in a body. */
const MAX_DEPTH = 32;
/** Largest number of brackets and commas; a group of 65,000 members with all sub-attributes has 390,000. */
const MAX_STRUCTURE = 500_000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an own property of an object; undefined for an inherited property, and for a value that is no object. */
export const ownValue = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as JsonObject)[name]
    : undefined;

/** Returns the elements of a list, or the value as the only element; null and undefined are no value. */
export const toList = (value: unknown): unknown[] => {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? (value as unknown[]) : [value];
};

/** Refuses lone surrogates, which JSON can escape and UTF-8 cannot encode. */
function checkText(text: string): void {
  if (!text.isWellFormed()) throw invalidValue('A text in the body is not valid Unicode.');
}

/** Checks a parsed body. @throws 400 invalidSyntax above 32 nested objects or lists, 400 invalidValue for lone surrogates */
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
 * Checks depth and structure of a body before parsing.
 * @throws 400 invalidSyntax above 32 levels, 413 above MAX_STRUCTURE brackets and commas
 */
export function scanBody(bytes: Uint8Array): void {
  const fault = scanJson(bytes, { maxDepth: MAX_DEPTH, maxStructure: MAX_STRUCTURE });
  if (fault?.kind === 'depth') throw invalidSyntax(`The body ${fault.reason}.`);
  if (fault) throw payloadTooLarge(`The body ${fault.reason}.`);
}

/** Returns the value of a key without regard to case (RFC 7643 §2.1); an exact match wins. Undefined without the key. */
export function member(body: JsonObject, name: string): unknown {
  if (Object.hasOwn(body, name)) return body[name];
  const lower = name.toLowerCase();
  const key = Object.keys(body).find((each) => each.toLowerCase() === lower);
  return key === undefined ? undefined : body[key];
}

/**
 * Returns the body of a message (RFC 7644 §8.2), such as a PatchOp.
 * @throws 400 invalidSyntax when it is no object, or `schemas` lacks this URN and the profile does not accept that
 */
export function messageOf(body: unknown, urn: string, profile: Profile): JsonObject {
  if (!isObject(body)) throw invalidSyntax('The body must be a JSON object.');
  const schemas = member(body, 'schemas');
  const isNamed = Array.isArray(schemas) && schemas.includes(urn);
  if (!isNamed && !profile.allows('message-schema')) throw invalidSyntax(`"schemas" must be ["${urn}"].`);
  return body;
}

/**
 * Returns the operations of a PatchOp or BulkRequest.
 * @param tooMany returns the error for more than `most` operations
 * @throws the error of `tooMany`, 400 invalidSyntax without a list, 400 invalidValue for an empty list that the profile refuses
 */
export function operationsOf(
  message: JsonObject,
  profile: Profile,
  most: number,
  tooMany: () => Error,
): unknown[] {
  const listed = member(message, 'Operations');
  if (!Array.isArray(listed)) throw invalidSyntax('"Operations" must be a list.');
  if (listed.length > most) throw tooMany();
  if (listed.length === 0 && !profile.allows('empty-operations'))
    throw invalidValue('"Operations" is empty.');
  return listed as unknown[];
}

/**
 * Folds text for comparison where `caseExact` is false: NFC, lower case. Uniqueness and filters use the same form, so that
 * a filter finds every name that a conflict reports.
 */
export const foldCase = (text: string): string =>
  (BEYOND_ASCII.test(text) ? text.normalize('NFC') : text).toLowerCase();

/** Only characters beyond ASCII need normalization. */
const BEYOND_ASCII = /[^\0-\x7f]/;

/** Returns whether two values are equal for the attribute, with or without case. */
export function isEqual(field: Field | undefined, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (field?.attribute.caseExact !== false || typeof a !== 'string' || typeof b !== 'string') return false;
  return foldCase(a) === foldCase(b);
}

/** Returns the value of a sub-attribute in the form in which it is compared: folded, unless case counts. */
export function foldPart(field: Field, part: string, value: unknown): unknown {
  const ignoresCase = field.parts?.byName.get(part)?.attribute.caseExact === false;
  return ignoresCase && typeof value === 'string' ? foldCase(value) : value;
}

/**
 * Returns the identity of an element of a multi-valued attribute as text: value and canonical type, or the whole element
 * when it has no value (RFC 7643 §2.4).
 */
export function identity(field: Field, element: JsonObject): string {
  if (element.value === undefined) return JSON.stringify(element);
  const value = foldPart(field, 'value', element.value);
  const type = foldPart(field, 'type', element.type);
  // With its length in front, the type is told apart from the value. This text is made faster than JSON.
  if (typeof value === 'string' && typeof type === 'string') return `${type.length} ${type} ${value}`;
  return JSON.stringify([value, type]);
}

/** Returns whether a text is a JSON number with a bounded number of digits. */
export const isNumberText = (text: string): boolean => NUMBER_TEXT.test(text);

const NUMBER_TEXT = /^-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/;

/** Returns whether an open schema (attributes.ts) accepts the name of a member; names such as `__proto__` are refused. */
export function isMemberName(name: string): boolean {
  return MEMBER_NAME.test(name) && !FORBIDDEN_NAMES.has(name);
}

const MEMBER_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;
const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype']);
