// Handles `POST /v1/cubesql`: streams the schema, the rows and any error as one JSON object per line (contract
// 5.2).
import { own, requireObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { SqlPart, SqlQuery } from './core-data.ts';
import { isTimezone } from './date-range.ts';
import { userError } from './members.ts';

/** Returns the query of a body; throws Problem 400 before the stream begins. */
export function sqlQueryIn(value: unknown): SqlQuery {
  const body = requireObject(value ?? {}, 'The request body');
  const query = own(body, 'query');
  if (typeof query !== 'string' || query.trim() === '') throw userError('query param is required');
  const timezone = own(body, 'timezone') ?? undefined;
  if (timezone === undefined) return { query };
  if (typeof timezone !== 'string' || !isTimezone(timezone)) {
    throw userError('timezone must be the name of a zone');
  }
  return { query, timezone };
}

const toLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Yields the lines of the answer; a failure becomes the last line, because the status was already sent. */
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
    // An empty result has one line of data.
    if (!hasRows) yield toLine({ data: [] });
  } catch (error) {
    if (!(error instanceof SandboxProblem)) throw error;
    yield toLine({ error: error.message, ...(requestId === null ? {} : { requestId }) });
  }
}
