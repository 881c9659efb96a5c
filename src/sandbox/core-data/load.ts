// Handles `/v1/load`, `/v1/sql` and `/v1/dry-run`: one query, several that are blended, or one over several date ranges
// (contract 5.1).
import { isJsonObject, own, type SandboxJsonObject } from '../json.ts';
import type { SandboxProblem } from '../problem.ts';
import type { LoadResult } from './documents.ts';
import type { QueryAccess } from './core-data.ts';
import type { Query } from './json-query.ts';
import { sortStepsOf } from './load-sql.ts';
import { showQuery } from './load-result.ts';
import type { ResultRole } from './documents.ts';
import { userError } from './members.ts';
import { CACHE_MODES, checkForm, oneOf, type QueryForm } from './query-form.ts';

type QueryType = 'regularQuery' | 'blendingQuery' | 'compareDateRangeQuery';

/** A request of several queries, which all clients of Cube send. */
interface QueryRequest {
  readonly queryType: QueryType;
  readonly queries: readonly Query[];
  /** Whether `query` is a list. */
  readonly isList: boolean;
  readonly isMulti: boolean;
}

const MAX_QUERIES = 10;
const ROLES: Readonly<Record<QueryType, ResultRole>> = {
  regularQuery: 'single',
  blendingQuery: 'blending',
  compareDateRangeQuery: 'compareDateRange',
};

/** Returns the `query` of a body or an address, which may also be JSON text. Throws 400 when it is missing. */
function queryIn(source: SandboxJsonObject): unknown {
  const sent = own(source, 'query');
  if (sent === undefined || sent === null || sent === '') throw userError('Query param is required');
  if (typeof sent !== 'string') return sent;
  try {
    return JSON.parse(sent);
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    throw userError(`Unable to decode query param as JSON, error: ${reason.slice(0, 200)}`);
  }
}

/** Returns one form per range of `compareDateRange`, or the form itself. */
function expand(form: QueryForm): QueryForm[] {
  const { timeDimensions = [] } = form;
  const compared = timeDimensions.filter(({ compareDateRange }) => compareDateRange !== undefined);
  const [first] = compared;
  if (compared.length > 1) throw userError('compareDateRange can only exist for one timeDimension');
  if (first?.compareDateRange === undefined) return [form];
  return first.compareDateRange.map((dateRange) =>
    checkForm({
      ...form,
      timeDimensions: timeDimensions.map((each) => {
        const { compareDateRange: _compared, ...rest } = each;
        return each === first ? { ...rest, dateRange } : each;
      }),
    }),
  );
}

function requireBlendable(queries: readonly Query[]): void {
  const named = queries.flatMap(({ timeDimensions }) =>
    timeDimensions.flatMap(({ granularity }) => granularity ?? []),
  );
  const granularities = new Set(named);
  if (granularities.size > 1) throw userError('Data blending query granularities must match');
  if (granularities.size === 0) throw userError('Data blending query without granularity is not supported');
}

function parseRequest(source: SandboxJsonObject, access: QueryAccess): QueryRequest {
  const value = queryIn(source);
  const cache = own(source, 'cache');
  if (cache !== undefined && cache !== null) oneOf(CACHE_MODES)(cache, 'cache');
  const isList = Array.isArray(value);
  const sent: readonly unknown[] = isList ? value : [value];
  if (sent.length === 0 || sent.length > MAX_QUERIES)
    throw userError(`Invalid query format: "query" must contain 1 to ${MAX_QUERIES} queries`);
  const forms = sent.map(checkForm);
  const expanded = forms.flatMap(expand);
  const queries = expanded.map((form) => access.resolve(form));
  if (isList) requireBlendable(queries);
  const isCompared = forms.some(({ timeDimensions = [] }) =>
    timeDimensions.some(({ compareDateRange }) => compareDateRange !== undefined),
  );
  const queryType = isList ? 'blendingQuery' : isCompared ? 'compareDateRangeQuery' : 'regularQuery';
  return { queryType, queries, isList, isMulti: own(source, 'queryType') === 'multi' };
}

/** Returns the query over which a client pivots all results. */
function pivotOf({ queryType, queries }: QueryRequest): SandboxJsonObject {
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
    return { measures: all('measures'), dimensions: all('dimensions'), timeDimensions, queryType };
  }
  if (queryType === 'regularQuery') return { ...first, queryType };
  const dimensions = ['compareDateRange', ...((own(first, 'dimensions') ?? []) as unknown[])];
  return { ...first, dimensions, queryType };
}

const notSupported = (queryType: QueryType): SandboxProblem =>
  userError(`'${queryType}' query type is not supported by the client.Please update the client.`);

/** Returns the answer of `/v1/load`; throws Problem 400. */
export async function load(source: SandboxJsonObject, access: QueryAccess): Promise<LoadResult> {
  const request = parseRequest(source, access);
  const { queryType, queries, isMulti } = request;
  if (queryType !== 'regularQuery' && !isMulti) throw notSupported(queryType);
  const results: LoadResult[] = [];
  for (const query of queries) results.push(await access.run(query, ROLES[queryType]));
  const [first] = results;
  if (!isMulti && first) return first;
  return { queryType, results, pivotQuery: pivotOf(request), slowQuery: false };
}

const showOrder = (query: Query): SandboxJsonObject =>
  Object.fromEntries(sortStepsOf(query).map(({ id, isDescending }) => [id, isDescending ? 'desc' : 'asc']));

/** Returns the answer of `/v1/sql`: statements and their parameters; nothing runs. */
export async function showSql(source: SandboxJsonObject, access: QueryAccess): Promise<unknown> {
  const { queries, isList, queryType } = parseRequest(source, access);
  if (queryType === 'compareDateRangeQuery') throw notSupported(queryType);
  const answers: unknown[] = [];
  for (const query of queries) {
    const { sql, values } = await access.statementOf(query);
    // Schemas of branches are internal names.
    const text = sql.replace(/\bmemory\.store_\d+\./g, '');
    const named = [...query.dimensions, ...query.timeDimensions, ...query.measures].map(({ name }) => name);
    const aliasNameToMember = Object.fromEntries(named.map((name) => [name.replace('.', '__'), name]));
    const order = showOrder(query);
    const detail = { sql: [text, values], order, external: false, dataSource: 'default', aliasNameToMember };
    answers.push({ sql: detail, dataSource: 'default' });
  }
  return isList ? answers : answers[0];
}

/** Returns the answer of `/v1/dry-run`: the queries as they were understood; nothing runs. */
export function dryRun(source: SandboxJsonObject, access: QueryAccess): LoadResult {
  const request = parseRequest(source, access);
  const { queryType, queries } = request;
  const normalizedQueries = queries.map((query) => ({
    ...showQuery(query),
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
    pivotQuery: pivotOf(request),
  };
}

/** Returns the query part of a request: the JSON body of a POST, the address of a GET. */
export const sourceOf = (method: string, body: unknown, address: unknown): SandboxJsonObject => {
  const source = method === 'GET' ? address : body;
  return isJsonObject(source) ? source : {};
};
