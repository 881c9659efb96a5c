// Handles `POST /v1/load`: one JSON query, or several with `queryType: "multi"` (contract 5.1).
import { own, requireObject, type SandboxJsonObject } from '../json.ts';
import type { LoadResult } from './core-data.ts';
import { userError } from './members.ts';

export type RunQuery = (query: unknown) => Promise<LoadResult>;

const CACHE_MODES = ['stale-if-slow', 'stale-while-revalidate', 'must-revalidate', 'no-cache'];
const MAX_QUERIES = 10;

/** Returns the `query` of a body, which may also be JSON text. Throws 400 when it is missing. */
function queryIn(body: SandboxJsonObject): unknown {
  const sent = own(body, 'query');
  if (sent === undefined || sent === null || sent === '') throw userError('query param is required');
  if (typeof sent !== 'string') return sent;
  try {
    return JSON.parse(sent);
  } catch {
    throw userError(`Unable to decode query param as JSON, error: ${sent.slice(0, 100)}`);
  }
}

/** Returns the default pivot of a result: dimensions as rows, times and measures as columns. */
function pivotOf(results: readonly LoadResult[], queryType: string): SandboxJsonObject {
  const [first] = results;
  return { ...requireObject(first ? own(first, 'query') : {}, 'query'), queryType };
}

/** Returns the answer to the body of `/v1/load`; throws Problem 400. */
export async function load(value: unknown, run: RunQuery): Promise<SandboxJsonObject> {
  const body = requireObject(value ?? {}, 'The request body');
  const cache = own(body, 'cache');
  if (cache !== undefined && cache !== null && !CACHE_MODES.some((mode) => mode === cache)) {
    throw userError(`cache must be one of ${CACHE_MODES.join(', ')}`);
  }
  const query = queryIn(body);
  const isMulti = own(body, 'queryType') === 'multi';
  const isList = Array.isArray(query);
  if (isList && !isMulti) throw userError("'multi' query type should be used for multiple queries");
  if (!isMulti) return run(query);
  const queries: readonly unknown[] = isList ? query : [query];
  if (queries.length === 0 || queries.length > MAX_QUERIES) {
    throw userError(`query must hold 1 to ${MAX_QUERIES} queries`);
  }
  const results: LoadResult[] = [];
  for (const one of queries) results.push(await run(one));
  const queryType = isList ? 'blendingQuery' : 'regularQuery';
  return { queryType, results, pivotQuery: pivotOf(results, queryType), slowQuery: false };
}
