// Implements the Core Data client: queries and metadata of one deployment, with the rights of the token's owner (contract 5).
import { randomIds } from '../support/sources.ts';
import { isRecord, platformMessage, textOrEmpty, listOf, under, unread, type Reader } from './readers.ts';
import {
  readDataSources,
  readEntity,
  readEntityName,
  readGeneratedSql,
  readDryRun,
  toLoadAnswer,
  type DataRow,
  type LoadAnswer,
  type LoadQuery,
  type SqlColumn,
} from './core-data-records.ts';
import { PlatformAborted, PlatformDecode, PlatformTimeout, type CallContext } from './errors.ts';
import { jsonLines } from './lines.ts';
import { QueryRefused } from './refusals.ts';
import { callsOf, type CallOptions } from './request.ts';
import { listRest } from './rest-list.ts';
import { createService, type Service, type ServiceOptions, type TokenSource } from './service.ts';
import type { OpenAnswer } from './streams.ts';

/** The call that runs a query, also as context for errors. */
const LOAD = { method: 'POST', route: '/v1/load' } as const satisfies CallContext;
/** Error text of an answer that means: the query still runs, poll again. */
const CONTINUE = 'Continue wait';
/** Pauses between two polls of one query, milliseconds; each pause is twice the previous one. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;
/** Longest error message that is taken from an answer, in characters. */
const MAX_MESSAGE = 1000;

export interface CoreDataOptions extends ServiceOptions {
  /** Address with its base path, such as `https://host/data-api`. */
  url: string;
  /** JWT of the deployment, sent without prefix. */
  token: TokenSource;
  /** Time for one query including all polls, milliseconds; default 300,000. */
  queryTimeoutMs?: number;
}

export interface QueryOptions extends CallOptions {
  /** Use of the query cache; default `stale-if-slow`. */
  cache?: 'stale-if-slow' | 'stale-while-revalidate' | 'must-revalidate' | 'no-cache';
}

export interface SqlOptions extends QueryOptions {
  /** IANA name of the time zone of dates; default UTC. */
  timezone?: string;
  /** Called with the columns before the first row, also when there are no rows. */
  onColumns?: (columns: SqlColumn[]) => void;
}

export type CoreDataClient = ReturnType<typeof createCoreDataClient>;

/**
 * Creates the client; it connects on the first call. Every call throws PlatformError; missing scopes and invalid tokens are both
 * PlatformResponse 403. @throws PlatformConfiguration for invalid or unsafe options
 */
export function createCoreDataClient(options: CoreDataOptions) {
  const service = createService(options.url, options.token, (token) => ({ authorization: token }), options);
  const queryTimeoutMs = options.queryTimeoutMs ?? 300_000;
  const refuse = (reason: string): PlatformDecode => new PlatformDecode(reason, LOAD);
  const call = callsOf(service.send, 'data');
  /** Sends a query to a route that does not run the query. */
  const describe = <T>(
    route: string,
    query: LoadQuery,
    read: Reader<T>,
    callOptions: CallOptions | undefined,
  ): Promise<T> => call('POST', route, { isSafe: true, body: { query }, read }, callOptions);

  return {
    /**
     * Runs one query and polls while the platform returns "Continue wait".
     * @throws QueryRefused for an answer with another error, PlatformTimeout after `queryTimeoutMs`
     */
    async load(query: LoadQuery, { cache, ...callOptions }: QueryOptions = {}): Promise<LoadAnswer> {
      const answer = await loadUntilReady(service, { query, cache }, queryTimeoutMs, callOptions);
      // The published document wraps a single result in `results`, the implementation does not (contract 5.1).
      const results = isRecord(answer) ? answer['results'] : undefined;
      return toLoadAnswer(Array.isArray(results) ? results[0] : answer, refuse);
    },
    /**
     * Blends queries over one time axis in one request (data blending). Each row also has the time as
     * `time.<granularity>`. PlatformResponse 400 unless every query has a time dimension with the same granularity;
     * send unrelated queries by `load`, one call each. @returns the answers in the order of the queries
     */
    async loadMany(
      queries: LoadQuery[],
      { cache, ...callOptions }: QueryOptions = {},
    ): Promise<LoadAnswer[]> {
      const body = { query: queries, queryType: 'multi', cache };
      const answer = await loadUntilReady(service, body, queryTimeoutMs, callOptions);
      const results = isRecord(answer) ? answer['results'] : undefined;
      if (!Array.isArray(results) || results.length !== queries.length) {
        throw refuse('a different number of results than queries');
      }
      return results.map((result) => toLoadAnswer(result, refuse));
    },
    /** Runs SQL over the model and yields rows. @throws QueryRefused, also after some rows; the rows are then incomplete */
    sql(query: string, { timezone, cache, onColumns, ...callOptions }: SqlOptions = {}) {
      return service.stream(
        {
          family: 'data',
          method: 'POST',
          route: '/v1/cubesql',
          isSafe: true,
          body: { query, timezone, cache },
          read: (answer) => readRows(answer, onColumns),
        },
        callOptions,
      );
    },
    /** Returns the SQL that the query would run at the data source, without running it. */
    generatedSql: (query: LoadQuery, callOptions?: CallOptions) =>
      describe('/v1/sql', query, readGeneratedSql, callOptions),
    /** Checks the query without running it. PlatformResponse 400 for a query that `load` would refuse. */
    dryRun: (query: LoadQuery, callOptions?: CallOptions) =>
      describe('/v1/dry-run', query, readDryRun, callOptions),
    /** Returns the cubes and views that the token may see. */
    meta: (callOptions?: CallOptions) =>
      // `cubes` also holds the views (contract 0.2).
      call('GET', '/v1/meta', { read: under('cubes', listOf(readEntity)) }, callOptions),
    /** @throws EndpointAbsent at an open-source Cube server */
    dataSources: (callOptions?: CallOptions) =>
      call('GET', '/v1/data-sources', { read: readDataSources }, callOptions),
    /** Yields the cubes and views that the token may see. @throws EndpointAbsent at an open-source Cube server */
    entities: (callOptions?: CallOptions) =>
      listRest(
        service.send,
        // This list has no cursor (contract 5).
        { family: 'data', route: '/v1/entities', read: readEntityName, member: 'entities', hasCursor: false },
        callOptions,
      ),
    /** Returns one cube or view. @throws EndpointAbsent at an open-source Cube server */
    entity: (name: string, callOptions?: CallOptions) =>
      call('GET', '/v1/entities/{name}', { params: { name }, read: under('data', readEntity) }, callOptions),
    /** Waits for running calls, then closes the connections. */
    close: () => service.close(),
  };
}

/**
 * Repeats the same request until the platform returns rows (contract 5.1).
 * @returns the JSON of the answer
 * @throws QueryRefused for an answer with another error, PlatformTimeout after `queryTimeoutMs`
 */
async function loadUntilReady(
  service: Service,
  body: object,
  queryTimeoutMs: number,
  options: CallOptions,
): Promise<unknown> {
  const { signal, correlationId } = options;
  const span = correlationId ?? randomIds.resource();
  const deadlineMs = service.clock.now() + queryTimeoutMs;
  let pauseMs = FIRST_PAUSE_MS;
  for (let poll = 1; ; poll += 1) {
    // `span` names the query, and the number rises with each poll (contract 5.1). A header takes printable ASCII characters only,
    // and at most about 200 of them.
    const requestId = `${span.replace(/[^\x21-\x7e]/g, '').slice(0, 180)}-span-${poll}`;
    // `isSafe`: this POST only reads. `unread`: the JSON as received, because an answer may be CONTINUE.
    const request = { family: 'data', ...LOAD, isSafe: true, requestId, body } as const;
    const answer = await service.send({ ...request, read: unread }, options);
    const error = isRecord(answer) ? answer['error'] : undefined;
    if (error === undefined) return answer;
    const call: CallContext = { ...LOAD, correlationId };
    if (error !== CONTINUE)
      // An error that is no text has no known form, so it is not quoted.
      throw new QueryRefused(
        typeof error === 'string' ? service.redact(error).slice(0, MAX_MESSAGE) : 'error',
        call,
      );
    if (service.clock.now() + pauseMs > deadlineMs) throw new PlatformTimeout(queryTimeoutMs, call);
    await service.clock.sleep(pauseMs, signal);
    // The reason comes from the caller and not from the platform, so it is not redacted.
    if (signal?.aborted) throw new PlatformAborted(call, { cause: signal.reason, redact: (text) => text });
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** Yields the rows of an SQL answer: its first line has the columns, each line has some rows as lists of cells. */
async function* readRows(
  answer: OpenAnswer,
  onColumns: SqlOptions['onColumns'],
): AsyncGenerator<DataRow, void, undefined> {
  let columns: SqlColumn[] | undefined;
  for await (const line of jsonLines(answer)) {
    if (!isRecord(line)) throw answer.refuse('a line that is not an object');
    if (line['error'] !== undefined) {
      // `platformMessage` takes the text of a body and finds the message in it.
      throw new QueryRefused(platformMessage(JSON.stringify(line), answer.redact), answer.call);
    }
    if (!columns) {
      columns = columnsOf(line['schema'], answer);
      onColumns?.(columns);
    }
    const names = columns.map(({ name }) => name);
    const rows: unknown[] = Array.isArray(line['data']) ? line['data'] : [];
    for (const row of rows) {
      if (!Array.isArray(row)) throw answer.refuse('a row that is not a list');
      const cells: unknown[] = row;
      // Very many columns and short rows would take far more memory than the answer.
      if (cells.length !== names.length) throw answer.refuse('a row of another length than the columns');
      yield Object.fromEntries(names.map((name, index) => [name, cells[index] ?? null]));
    }
  }
  if (!columns) throw answer.refuse('an answer without columns');
}

/** Returns the columns that the first line of an SQL answer describes. @throws PlatformDecode */
function columnsOf(value: unknown, answer: OpenAnswer): SqlColumn[] {
  if (!Array.isArray(value)) throw answer.refuse('an answer without columns at its start');
  return value.map((column: unknown) => {
    const { name, column_type } = isRecord(column) ? column : {};
    if (typeof name !== 'string') throw answer.refuse('a column without name');
    return { name, type: textOrEmpty(column_type) };
  });
}
