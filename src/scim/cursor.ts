// Encodes and decodes cursors (RFC 9865), which are opaque to clients.
import { createHash } from 'node:crypto';
import { invalidCursor } from './errors.ts';

/** Position of the last resource of a page. The next page starts behind it. */
interface CursorPosition {
  /** Name of the type of that resource; `sorted` in a sorted list (provider/pages.ts). */
  readonly type: string;
  /**
   * Place of that resource in the order of creation of its type, which never changes. In a sorted list: its position in the list,
   * from 1.
   */
  readonly after: number;
  /** Number of all matches, counted for the first page. Undefined when each page can count them again at little cost. */
  readonly totalResults: number | undefined;
}

/** Longest text that is decoded, in characters; a cursor of this service is much shorter. */
const MAX_LENGTH = 300;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * Returns 16 characters (96 bits) of a hash of the query that a cursor belongs to. Attributes and page size are left out, because
 * they may change between pages.
 */
const queryHash = (query: readonly (string | undefined)[]): string =>
  createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, 16);

/** Encodes a cursor in URL-safe characters (RFC 9865 §2). `query`: all parameters that select and sort the resources. */
export function toCursor(position: CursorPosition, query: readonly (string | undefined)[]): string {
  const { type, after, totalResults } = position;
  const parts = [type, after, totalResults ?? null, queryHash(query)];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Decodes a cursor. @throws 400 invalidCursor when the text is no cursor of this service or belongs to another query */
export function parseCursor(text: string, query: readonly (string | undefined)[]): CursorPosition {
  const parts = text.length <= MAX_LENGTH && BASE64URL.test(text) ? parseJson(text) : undefined;
  const [type, after, totalResults, hash] = Array.isArray(parts) ? (parts as unknown[]) : [];
  const isTotalValid = totalResults === null || isCount(totalResults);
  if (typeof type !== 'string' || !isCount(after) || !isTotalValid || typeof hash !== 'string') {
    throw invalidCursor('The cursor is not valid: start again with an empty one.');
  }
  if (hash !== queryHash(query)) {
    throw invalidCursor(
      'The cursor belongs to another query: keep the filter and the path from page to page.',
    );
  }
  return { type, after, totalResults: totalResults ?? undefined };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown;
  } catch {
    // The caller throws invalidCursor.
    return undefined;
  }
}
