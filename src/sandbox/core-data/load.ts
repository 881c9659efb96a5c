// Handles `/v1/load`, `/v1/sql` and `/v1/dry-run`: one query, several that are blended, or one over several date ranges
// (contract 5.1).
import { isJsonObject, own, type SandboxJsonObject } from '../json.ts';
import type { SandboxProblem } from '../problem.ts';
import type { LoadResult, ResultRole } from './documents.ts';
import type { QueryAccess } from './core-data.ts';
import type { Query } from './json-query.ts';
import { columnsOf, sortStepsOf } from './load-sql.ts';
import { showQuery } from './load-result.ts';
import { userError } from './members.ts';
import { checkCache, checkForm } from './query-form.ts';

type QueryType = 'regularQuery' | 'blendingQuery' | 'compareDateRangeQuery';

interface QueryRequest {
  readonly queryType: QueryType;
  readonly queries: readonly Query[];
  /** Whether the client accepts an answer with several results; all clients of Cube do. */
  readonly isMulti: boolean;
}

/** Largest number of queries or date ranges in one request. */
const MAX_QUERIES = 10;
const ROLES: Readonly<Record<QueryType, ResultRole>> = {
  regularQuery: 'single',
  blendingQuery: 'blending',
  compareDateRangeQuery: 'compareDateRange',
};

/** Returns the answer of `/v1/load`; throws SandboxProblem 400. */
export async function load(source: SandboxJsonObject, access: QueryAccess): Promise<LoadResult> {
  const request = parseRequest(source, access);
  const { queryType, queries, isMulti } = request;
  if (queryType !== 'regularQuery' && !isMulti) throw notSupported(queryType);
  if (queryType === 'blendingQuery') requireTimes(queries);
  const results: LoadResult[] = [];
  for (const query of queries) results.push(await access.run(query, ROLES[queryType]));
  const [first] = results;
  if (!isMulti && first) return first;
  return { queryType, results, pivotQuery: pivotOf(request, true), slowQuery: false };
}

/** Returns the answer of `/v1/sql`: statements and their parameters; nothing runs. */
export async function showSql(source: SandboxJsonObject, access: QueryAccess): Promise<unknown> {
  const { queries, queryType } = parseRequest(source, access);
  const answers: unknown[] = [];
  for (const query of queries) {
    const { sql, values } = await access.statementOf(query);
    // The schema of the branch is an internal name, which clients do not see.
    const text = sql.replace(/\bmemory\.store_\d+\./g, '');
    const names = columnsOf(query).map(({ name }) => name);
    // The alias of `orders.created_at.month` is `orders__created_at_month`.
    const aliasNameToMember = Object.fromEntries(
      names.map((name) => [name.replace('.', '__').replace('.', '_'), name]),
    );
    const order = showOrder(query);
    const detail = { sql: [text, values], order, external: false, dataSource: 'default', aliasNameToMember };
    answers.push({ sql: detail, dataSource: 'default' });
  }
  return queryType === 'regularQuery' ? answers[0] : answers;
}

/** Returns the answer of `/v1/dry-run`: the normalized queries; nothing runs. */
export function dryRun(source: SandboxJsonObject, access: QueryAccess): LoadResult {
  const request = parseRequest(source, access);
  const { queryType, queries } = request;
  const pivotQuery = pivotOf(request, false);
  const normalizedQueries = queries.map((query, index) => ({
    ...showQuery(query),
    // Cube makes one query of each compared date range, and lists `compareDateRange` in the dimensions of the first one only.
    ...(index === 0 && queryType === 'compareDateRangeQuery'
      ? { dimensions: own(pivotQuery, 'dimensions') }
      : {}),
    cacheMode: 'stale-if-slow',
    queryType,
  }));
  return {
    queryType,
    normalizedQueries,
    queryOrder: queries.map(showOrder),
    transformedQueries: queries.map((query) => ({
      sortedDimensions: query.dimensions.map(({ name }) => name).sort(),
      sortedTimeDimensions: query.timeDimensions.map(({ name, granularity }) => [name, granularity ?? 'day']),
      measures: query.measures.map(({ name }) => name),
    })),
    pivotQuery,
  };
}

/** Returns the JSON body of a POST, or the parsed query string of a GET. */
export const sourceOf = (method: string, body: unknown, queryString: unknown): SandboxJsonObject => {
  const source = method === 'GET' ? queryString : body;
  return isJsonObject(source) ? source : {};
};

/** Returns the checked queries of a request and their kind. @throws 400 */
function parseRequest(source: SandboxJsonObject, access: QueryAccess): QueryRequest {
  const value = queryIn(source);
  const cache = own(source, 'cache');
  if (cache !== undefined && cache !== null) checkCache(cache);
  let queryType: QueryType = 'regularQuery';
  let sent: readonly unknown[] = [value];
  const comparisons = comparedQueries(value);
  if (Array.isArray(value)) {
    queryType = 'blendingQuery';
    sent = value;
  } else if (comparisons) {
    queryType = 'compareDateRangeQuery';
    sent = comparisons;
  }
  if (sent.length > MAX_QUERIES)
    throw userError(`Invalid query format: "query" must contain less than or equal to ${MAX_QUERIES} items`);
  const queries = sent.map((form) => access.resolve(checkForm(form)));
  if (queryType === 'blendingQuery') requireBlendable(queries);
  return { queryType, queries, isMulti: own(source, 'queryType') === 'multi' };
}

/** Returns the `query` of a body or of a query string, which may be JSON text. Throws 400 when it is missing. */
function queryIn(source: SandboxJsonObject): unknown {
  const sent = decoded(own(source, 'query'));
  // A query may be JSON text that was encoded as JSON once more.
  return typeof sent === 'string' ? decoded(sent) : sent;
}

/** Returns parsed JSON text, or any other value unchanged. @throws 400 for a missing query and invalid JSON */
function decoded(sent: unknown): unknown {
  if (sent === undefined || sent === null || sent === '') throw userError('Query param is required');
  if (typeof sent !== 'string') return sent;
  try {
    return JSON.parse(sent);
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    throw userError(`Unable to decode query param as JSON, error: ${reason.slice(0, 200)}`);
  }
}

/** Returns one query, not checked yet, for each range of `compareDateRange`; undefined for a query without this key. */
function comparedQueries(value: unknown): SandboxJsonObject[] | undefined {
  const timeDimensions: unknown = isJsonObject(value) ? own(value, 'timeDimensions') : undefined;
  if (!isJsonObject(value) || !Array.isArray(timeDimensions)) return undefined;
  const entries: readonly unknown[] = timeDimensions;
  const rangesOf = (entry: unknown): unknown =>
    isJsonObject(entry) ? (own(entry, 'compareDateRange') ?? undefined) : undefined;
  const [first, second] = entries.filter((entry) => rangesOf(entry) !== undefined);
  if (second !== undefined) throw userError('compareDateRange can only exist for one timeDimension');
  const ranges = rangesOf(first);
  if (!Array.isArray(ranges)) return undefined;
  return ranges.map((dateRange: unknown) => ({
    ...value,
    timeDimensions: entries.map((entry) => {
      if (entry !== first || !isJsonObject(entry)) return entry;
      const { compareDateRange: _compared, ...rest } = entry;
      return { ...rest, dateRange };
    }),
  }));
}

/** Checks that the blended queries have one granularity. @throws 400 */
function requireBlendable(queries: readonly Query[]): void {
  const named = queries.flatMap(({ timeDimensions }) =>
    timeDimensions.flatMap(({ granularity }) => granularity ?? []),
  );
  const granularities = new Set(named);
  if (granularities.size > 1) throw userError('Data blending query granularities must match');
  if (granularities.size === 0) throw userError('Data blending query without granularity is not supported');
}

/**
 * Checks that the first time dimension of each blended query has a granularity.
 * @throws 400 as for every invalid query; Cube answers 500
 */
function requireTimes(queries: readonly Query[]): void {
  if (queries.some(({ timeDimensions: [first] }) => !first?.granularity))
    throw userError(
      'Error: Inconsistent QueryTimeDimension configuration for the blending query, granularity required',
    );
}

const notSupported = (queryType: QueryType): SandboxProblem =>
  userError(`'${queryType}' query type is not supported by the client.Please update the client.`);

/**
 * Returns `pivotQuery` of the answer: one query that names the columns of all results, so that a client can pivot them.
 * @param keepsRest whether the `pivotQuery` of blended queries also has the other properties of the first query, as in the answer
 *   of `/v1/load`
 */
function pivotOf({ queryType, queries }: QueryRequest, keepsRest: boolean): SandboxJsonObject {
  const shown = queries.map(showQuery);
  const [first = {}] = shown;
  const all = (name: string): unknown[] => [
    ...new Set(shown.flatMap((query) => (own(query, name) ?? []) as unknown[])),
  ];
  if (queryType === 'blendingQuery') {
    const time = queries
      .flatMap(({ timeDimensions }) => timeDimensions)
      .find(({ granularity }) => granularity !== null);
    const timeDimensions = [{ dimension: 'time', granularity: time?.granularity }];
    const rest = keepsRest ? first : {};
    return { ...rest, measures: all('measures'), dimensions: all('dimensions'), timeDimensions, queryType };
  }
  if (queryType === 'regularQuery') return { ...first, queryType };
  const dimensions = ['compareDateRange', ...((own(first, 'dimensions') ?? []) as unknown[])];
  return { ...first, dimensions, queryType };
}

/** Returns the order of the query, or the default order, as direction by member name without granularity. */
function showOrder(query: Query): SandboxJsonObject {
  const steps = query.order ?? sortStepsOf(query).map((step) => ({ ...step, id: memberOf(step.id) }));
  return Object.fromEntries(steps.map(({ id, isDescending }) => [id, isDescending ? 'desc' : 'asc']));
}

/** Returns `orders.created_at` for the column `orders.created_at.month`. */
const memberOf = (column: string): string => column.split('.', 2).join('.');
