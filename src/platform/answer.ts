// Interprets answers of the platform: JSON, error messages, headers (contract 7). Pure functions.
import { parseRetryAfter } from '../support/retry-after.ts';
import type { RedactText } from './redact.ts';

export type AnswerHeaders = Record<string, string | string[] | undefined>;

/** Longest text, in characters, that is taken from a body without an error message. */
const RAW_LENGTH = 200;
/** Longest error message of a body, in characters. */
const MESSAGE_LENGTH = 1000;

/** Returns true for a JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is text, else ''. */
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns those of the named properties that are text. */
export function textsIn<Name extends string>(
  record: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): { [key in Name]?: string } {
  const texts: { [key in Name]?: string } = {};
  for (const name of names) {
    const value = record[name];
    if (typeof value === 'string') texts[name] = value;
  }
  return texts;
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Returns a text, or the texts of a list joined by `; `; undefined when there is none. */
function messageText(value: unknown): string | undefined {
  if (!Array.isArray(value)) return nonEmptyText(value);
  return nonEmptyText(value.filter((entry) => typeof entry === 'string').join('; '));
}

/** Returns the parsed JSON in `value`, which may be null; undefined when the text is not JSON. */
export function parseJson(body: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(body) as unknown };
  } catch {
    return undefined; // The parser's message quotes the body, so it is dropped.
  }
}

/** Returns true for an HTML page, which a tenant returns with status 200 for an endpoint that it does not have. */
export function isWebPage(body: string): boolean {
  return body.trimStart().startsWith('<');
}

/** Returns the title of a web page, or else its text without tags. */
function webPageText(page: string): string {
  const title = /<title[^<>]*>([^<]*)</i.exec(page)?.[1] ?? '';
  const text = title.trim() === '' ? page.replaceAll(/<[^<>]*>/g, ' ') : title;
  return text.replaceAll(/\s+/g, ' ').trim();
}

/**
 * Returns the platform's error message: the first of SCIM `detail`, `error` as text, `error.message`, `message`
 * as text or list. Without these it is the title of a web page, or else the text of the body; of both at most 200 characters.
 * Tokens are removed before the text is shortened, so no part of a token is left.
 */
export function platformMessage(body: string, redact: RedactText): string {
  const json = parseJson(body)?.value;
  const fields = isRecord(json) ? json : {};
  const nested = isRecord(fields['error']) ? nonEmptyText(fields['error']['message']) : undefined;
  const words =
    nonEmptyText(fields['detail']) ??
    nonEmptyText(fields['error']) ??
    nested ??
    messageText(fields['message']);
  if (words !== undefined) return redact(words).slice(0, MESSAGE_LENGTH);
  const raw = redact(body);
  return (isWebPage(raw) ? webPageText(raw) : raw).slice(0, RAW_LENGTH);
}

/** Returns the RFC 7644 `scimType` of an error body, or undefined. */
export function scimTypeOf(body: string): string | undefined {
  const json = parseJson(body)?.value;
  return isRecord(json) ? nonEmptyText(json['scimType']) : undefined;
}

/** Returns the first value of a header. `name` is in lower case. */
export function header(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Returns the wait that the header Retry-After asks for, in milliseconds, or undefined. @param now Unix milliseconds */
export const retryAfterMs = (headers: AnswerHeaders, now: number): number | undefined =>
  parseRetryAfter({ value: header(headers, 'retry-after'), date: header(headers, 'date') }, now);
