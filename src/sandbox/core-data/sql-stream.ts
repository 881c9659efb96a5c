// Handles `POST /v1/cubesql`: streams the schema, the rows and any error as one JSON object per line (contract 5.2).
import { isJsonObject, own } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { SqlPart, SqlQuery } from './documents.ts';
import { isTimezone } from './time-zone.ts';
import { CACHE_MODES, invalidQuery, oneOf } from './query-form.ts';

/** Returns the query of a body; throws SandboxProblem 400 before the stream begins. */
export function sqlQueryIn(value: unknown): SqlQuery {
  const body = isJsonObject(value) ? value : {};
  const query = own(body, 'query');
  if (query === undefined) throw invalidQuery('query', 'is required');
  if (typeof query !== 'string') throw invalidQuery('query', 'must be a string');
  if (query.trim() === '') throw invalidQuery('query', 'is not allowed to be empty');
  const cache = own(body, 'cache');
  // Checked as at the platform, then ignored, because the sandbox has no cache.
  if (cache !== undefined) oneOf(CACHE_MODES)(cache, 'cache');
  const timezone = own(body, 'timezone') ?? undefined;
  if (timezone === undefined) return { query };
  if (typeof timezone !== 'string' || !isTimezone(timezone)) {
    throw invalidQuery(
      'timezone',
      `must be a valid IANA time zone, got "${typeof timezone === 'string' ? timezone.slice(0, 100) : ''}"`,
    );
  }
  return { query, timezone };
}

const toLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

/**
 * Yields the lines of the answer; a failure becomes the last line, because the status was already sent.
 * @param requestId `X-Request-Id` of the client; null without one
 */
export async function* toLines(
  parts: AsyncIterable<SqlPart>,
  refreshedAt: string,
  requestId: string | null,
): AsyncGenerator<string> {
  let hasRows = false;
  try {
    for await (const part of parts) {
      if (part.kind === 'schema') yield toLine({ schema: part.columns, lastRefreshTime: refreshedAt });
      else yield toLine({ data: part.rows });
      hasRows ||= part.kind === 'rows';
    }
    // No rows: one line with empty `data`.
    if (!hasRows) yield toLine({ data: [] });
  } catch (error) {
    if (!(error instanceof SandboxProblem)) throw error;
    yield toLine({ error: error.message, ...(requestId === null ? {} : { requestId }) });
  }
}
