// Queries and metadata of one deployment, in the name of the token's owner (contract 5).
import { randomIds } from '../support/ids.ts';
import { isRecord, platformMessage } from './answer.ts';
import {
  readDataSources,
  readEntity,
  readEntityName,
  toLoadAnswer,
  type DataRow,
  type DataSource,
  type EntityName,
  type LoadAnswer,
  type LoadQuery,
  type ModelEntity,
  type SqlColumn,
} from './core-data-records.ts';
import { PlatformAborted, PlatformDecode, PlatformTimeout, type CallContext } from './errors.ts';
import { jsonLines } from './lines.ts';
import { listOf, type Reader } from './readers.ts';
import { QueryRefused } from './refusals.ts';
import type { CallOptions } from './request.ts';
import { walkRest } from './rest-walk.ts';
import { createService, type Service, type ServiceOptions, type TokenSource } from './service.ts';
import type { OpenAnswer } from './streams.ts';

const LOAD: CallContext = { method: 'POST', route: '/v1/load' };
const CONTINUE = 'Continue wait';
/** Between two askings, milliseconds: doubled up to the second number. */
const PAUSES_MS = [50, 2000] as const;

export interface CoreDataOptions extends ServiceOptions {
  /** Base address with its base path, such as `https://host/data-api`. */
  url: string;
  /** JWT of the deployment, sent without prefix. */
  token: TokenSource;
  /** How long a query may take in all, milliseconds; default 300,000. */
  queryTimeoutMs?: number;
}

export interface SqlOptions extends CallOptions {
  timezone?: string;
  cache?: 'stale-if-slow' | 'stale-while-revalidate' | 'must-revalidate' | 'no-cache';
  /** Told of the columns before the first row, and also when there is none. */
  onColumns?: (columns: SqlColumn[]) => void;
}

/** Every call throws PlatformError; 403 comes as PlatformResponse for missing scopes and bad tokens alike. */
export interface CoreDataClient {
  /** One query; asks again while the platform says "Continue wait". Throws PlatformTimeout when that takes too long. */
  load(query: LoadQuery, options?: CallOptions): Promise<LoadAnswer>;
  /** Several queries at once, answers in their order. */
  loadMany(queries: LoadQuery[], options?: CallOptions): Promise<LoadAnswer[]>;
  /** SQL over the model, row by row. Throws QueryRefused, also after rows: then those are not the whole. */
  sql(query: string, options?: SqlOptions): AsyncIterable<DataRow>;
  /** Cubes and views that the token may see. */
  meta(options?: CallOptions): Promise<ModelEntity[]>;
  dataSources(options?: CallOptions): Promise<DataSource[]>;
  entities(options?: CallOptions): AsyncIterable<EntityName>;
  entity(name: string, options?: CallOptions): Promise<ModelEntity>;
  /** Lets running calls finish, then closes the connections. */
  close(): Promise<void>;
}

const AS_IT_IS: Reader<unknown> = (body) => body;

/** Repeats the identical request under one span until rows come (contract 5.1). */
async function loadUntilReady(
  service: Service,
  body: object,
  queryTimeoutMs: number,
  options: CallOptions,
): Promise<unknown> {
  const { signal, correlationId } = options;
  const span = correlationId ?? randomIds.resource();
  const deadlineMs = service.clock.now() + queryTimeoutMs;
  let pauseMs: number = PAUSES_MS[0];
  for (let turn = 1; ; turn += 1) {
    const requestId = `${span.replace(/[^\x21-\x7e]/g, '').slice(0, 180)}-span-${turn}`;
    const request = { family: 'data', ...LOAD, method: 'POST', isSafe: true, requestId, body } as const;
    const answer = await service.send({ ...request, read: AS_IT_IS }, options);
    const error = isRecord(answer) ? answer['error'] : undefined;
    if (error === undefined) return answer;
    const call: CallContext = { ...LOAD, correlationId };
    if (error !== CONTINUE)
      throw new QueryRefused(typeof error === 'string' ? error.slice(0, 1000) : 'error', call);
    if (service.clock.now() + pauseMs > deadlineMs) throw new PlatformTimeout(queryTimeoutMs, call);
    await service.clock.sleep(pauseMs, signal);
    if (signal?.aborted) throw new PlatformAborted(call, { cause: signal.reason, redact: (text) => text });
    pauseMs = Math.min(pauseMs * 2, PAUSES_MS[1]);
  }
}

function columnsOf(value: unknown, answer: OpenAnswer): SqlColumn[] {
  if (!Array.isArray(value)) throw answer.refuse('an answer that does not begin with its columns');
  return value.map((column: unknown) => {
    const { name, column_type } = isRecord(column) ? column : {};
    if (typeof name !== 'string') throw answer.refuse('a column without name');
    return { name, type: typeof column_type === 'string' ? column_type : '' };
  });
}

async function* readRows(
  answer: OpenAnswer,
  onColumns: SqlOptions['onColumns'],
): AsyncGenerator<DataRow, void, undefined> {
  let columns: SqlColumn[] | undefined;
  for await (const line of jsonLines(answer)) {
    if (!isRecord(line)) throw answer.refuse('a line that is no object');
    if (line['error'] !== undefined) {
      throw new QueryRefused(platformMessage(JSON.stringify(line), answer.redact), answer.call);
    }
    if (!columns) {
      columns = columnsOf(line['schema'], answer);
      onColumns?.(columns);
    }
    const names = columns.map(({ name }) => name);
    const rows: unknown[] = Array.isArray(line['data']) ? line['data'] : [];
    for (const row of rows) {
      if (!Array.isArray(row)) throw answer.refuse('a row that is no list');
      const cells: unknown[] = row;
      yield Object.fromEntries(names.map((name, place) => [name, cells[place] ?? null]));
    }
  }
  if (!columns) throw answer.refuse('an answer without columns');
}

/** Connects on the first call; throws PlatformConfiguration for options that cannot work or are not safe. */
export function createCoreDataClient(options: CoreDataOptions): CoreDataClient {
  const service = createService(options.url, options.token, (token) => ({ authorization: token }), options);
  const queryTimeoutMs = options.queryTimeoutMs ?? 300_000;
  const refuse = (reason: string): PlatformDecode => new PlatformDecode(reason, LOAD);
  const read = <T>(
    route: string,
    reader: Reader<T>,
    callOptions: CallOptions | undefined,
    name?: string,
  ): Promise<T> =>
    service.send(
      {
        family: 'data',
        method: 'GET',
        route,
        ...(name === undefined ? {} : { params: { name } }),
        read: reader,
      },
      callOptions,
    );

  return {
    async load(query, callOptions = {}) {
      const answer = await loadUntilReady(service, { query }, queryTimeoutMs, callOptions);
      // The published document wraps even one result, the code does not (contract 5.1).
      const results = isRecord(answer) ? answer['results'] : undefined;
      return toLoadAnswer(Array.isArray(results) ? results[0] : answer, refuse);
    },
    async loadMany(queries, callOptions = {}) {
      const body = { query: queries, queryType: 'multi' };
      const answer = await loadUntilReady(service, body, queryTimeoutMs, callOptions);
      const results = isRecord(answer) ? answer['results'] : undefined;
      if (!Array.isArray(results) || results.length !== queries.length) {
        throw refuse('another number of results than of queries');
      }
      return results.map((result) => toLoadAnswer(result, refuse));
    },
    sql(query, { timezone, cache, onColumns, ...callOptions } = {}) {
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
    meta: (callOptions) =>
      read(
        '/v1/meta',
        (body, fail) => listOf(readEntity)(isRecord(body) ? body['cubes'] : undefined, fail),
        callOptions,
      ),
    dataSources: (callOptions) => read('/v1/data-sources', readDataSources, callOptions),
    entities: (callOptions) =>
      walkRest(
        service.send,
        { family: 'data', route: '/v1/entities', read: readEntityName, member: 'entities', byOffset: true },
        callOptions,
      ),
    entity: (name, callOptions) =>
      read(
        '/v1/entities/{name}',
        (body, fail) => readEntity(isRecord(body) ? body['data'] : undefined, fail),
        callOptions,
        name,
      ),
    close: () => service.close(),
  };
}
