// What an answer says, whatever family of the platform it comes from (contract 7). Pure.
import type { RedactText } from './redact.ts';

export type AnswerHeaders = Record<string, string | string[] | undefined>;

const RAW_LENGTH = 200;
const MESSAGE_LENGTH = 1000;

/** True for objects that are neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function messageText(value: unknown): string | undefined {
  if (!Array.isArray(value)) return text(value);
  return text(value.filter((entry) => typeof entry === 'string').join('; '));
}

/** JSON of the text, or undefined when it is none. */
export function parseJson(body: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(body) as unknown };
  } catch {
    return undefined; // the parser's message quotes the body, so it must not travel
  }
}

/** True when the body is a web page: what a tenant without the endpoint answers with status 200. */
export function isWebPage(body: string): boolean {
  return body.trimStart().startsWith('<');
}

/**
 * The platform's own words: the first of SCIM `detail`, `error` as text, `error.message`, `message` as text or
 * list, else the first 200 characters. Tokens are cut before the text is shortened, so no part of one is left.
 */
export function platformMessage(body: string, redact: RedactText): string {
  const json = parseJson(body)?.value;
  const members = isRecord(json) ? json : {};
  const nested = isRecord(members['error']) ? text(members['error']['message']) : undefined;
  const words =
    text(members['detail']) ??
    text(members['error']) ??
    nested ??
    messageText(members['message']) ??
    undefined;
  return words === undefined ? redact(body).slice(0, RAW_LENGTH) : redact(words).slice(0, MESSAGE_LENGTH);
}

/** RFC 7644 `scimType` of an error body, if it has one. */
export function scimTypeOf(body: string): string | undefined {
  const json = parseJson(body)?.value;
  return isRecord(json) ? text(json['scimType']) : undefined;
}

/** The first value of a header; names are lower case. */
export function header(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * Milliseconds to wait as Retry-After asks: whole seconds, or an HTTP-date (RFC 9110 §10.2.3). A date is
 * read against the answer's own Date header, so that skewed clocks cancel out; `now` (Unix ms) stands in for it.
 */
export function retryAfterMs(headers: AnswerHeaders, now: number): number | undefined {
  const value = header(headers, 'retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const until = Date.parse(value);
  if (Number.isNaN(until) || !/[a-z]/i.test(value)) return undefined;
  const answered = Date.parse(header(headers, 'date') ?? '');
  return Math.max(0, until - (Number.isNaN(answered) ? now : answered));
}
