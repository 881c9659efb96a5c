// Calls operations of the platform's OpenAPI document (contract 10) by method and path, where this client has no function
// of its own.
import { isRecord, textOrEmpty, textId, unread, type Reader } from './readers.ts';
import { PlatformArgument } from './errors.ts';
import type { CallOptions, PlatformRequest, Send } from './request.ts';
import { listRest } from './rest-list.ts';

type Method = PlatformRequest<unknown>['method'];

/** Method and path as the OpenAPI document writes them, such as `GET /api/v1/oauth-integrations/{id}`. */
export type OperationName = `${Method} /${string}`;

/** Names of the parameters of a path: `id` for `GET /api/v1/oauth-integrations/{id}`; never: there are none. */
type ParameterOf<Name extends string> = Name extends `${string}{${infer Parameter}}${infer Rest}`
  ? Parameter | ParameterOf<Rest>
  : never;

/** Input of an operation. `params` is required when the path has parameters. */
export type ResourceInput<Name extends string> = {
  query?: PlatformRequest<unknown>['query'];
} & ([ParameterOf<Name>] extends [never]
  ? { params?: Record<string, string> }
  : { params: Record<ParameterOf<Name>, string> });

/** An operation that the tenant serves; `operationId` and `summary` are empty where its document has none. */
export interface ServedOperation {
  name: OperationName;
  operationId: string;
  summary: string;
}

export interface PlatformResources {
  /** Returns the operations of the tenant's OpenAPI document (contract 4.9). */
  operations(options?: CallOptions): Promise<ServedOperation[]>;
  /**
   * Sends one request and returns its JSON as `read` reads it; undefined for an answer without body. The body is
   * sent unchanged, so ids in it have to be integers, as the platform expects them.
   */
  call<Name extends OperationName, T = unknown>(
    name: Name,
    input: ResourceInput<Name> & { body?: unknown; read?: Reader<T> },
    options?: CallOptions,
  ): Promise<T>;
  /**
   * Yields the records of a list of any form: cursor, offset or bare array. Throws IncompleteList without a
   * proven end, PlatformDecode for an entry with neither id nor name.
   */
  list<Name extends `GET /${string}`>(
    name: Name,
    input: ResourceInput<Name>,
    options?: CallOptions,
  ): AsyncIterable<Record<string, unknown>>;
}

/** Method and path of an operation that this client may call. */
const OPERATION =
  /^(GET|POST|PUT|PATCH|DELETE) (\/(?:build\/api\/v1|api\/v1|api\/scim\/v2)(?:\/[\w.~:{}-]+)+)$/;
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** Returns the request that an operation name describes. @throws PlatformArgument for a path outside the platform's API */
function toRequest(
  name: string,
  options: CallOptions | undefined,
): Pick<PlatformRequest<unknown>, 'family' | 'method' | 'route'> {
  const [, method, route] = OPERATION.exec(name) ?? [];
  // The segments `.` and `..` would lead to a path outside the API.
  if (method === undefined || route === undefined || /\/\.{1,2}(?:\/|$)/.test(route)) {
    // The error has neither method nor route, because the name is no operation of this API.
    throw new PlatformArgument('operation name', {
      method: '',
      route: '',
      correlationId: options?.correlationId,
    });
  }
  return { family: route.startsWith('/api/scim/') ? 'scim' : 'rest', method: method as Method, route };
}

const readOperations: Reader<ServedOperation[]> = (body, refuse) => {
  const paths = isRecord(body) ? body['paths'] : undefined;
  if (!isRecord(paths)) throw refuse('no OpenAPI document');
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(isRecord(methods) ? methods : {}).flatMap(([method, operation]) => {
      const { operationId, summary } = isRecord(operation) ? operation : {};
      if (!METHODS.has(method.toUpperCase())) return [];
      return [
        {
          name: `${method.toUpperCase()} ${path}` as OperationName,
          operationId: textOrEmpty(operationId),
          summary: textOrEmpty(summary),
        },
      ];
    }),
  );
};

/** Reads an entry of a list; an entry without id is identified by its name. */
const readEntry: Reader<{ id: string; entry: Record<string, unknown> }> = (body, refuse) => {
  const entry = isRecord(body) ? body : {};
  const id = textId(entry['id']) ?? textId(entry['name']);
  if (id === undefined) throw refuse('an entry with neither id nor name');
  return { id, entry };
};

/** Calls operations over `send`; every function throws PlatformError (errors.ts). */
export function createResources(send: Send): PlatformResources {
  return {
    operations: (options) =>
      send({ family: 'rest', method: 'GET', route: '/api/v1/spec', read: readOperations }, options),
    async call<T>(
      name: OperationName,
      input: ResourceInput<string> & { body?: unknown; read?: Reader<T> },
      options?: CallOptions,
    ) {
      const { params = {}, query = {}, body, read = unread as Reader<T> } = input;
      return send({ ...toRequest(name, options), params, query, body, read }, options);
    },
    async *list(name, { params = {}, query = {} }: ResourceInput<string>, options) {
      const { family, route } = toRequest(name, options);
      const list = { family, route, params, query, read: readEntry, allowsArray: true };
      for await (const { entry } of listRest(send, list, options)) yield entry;
    },
  };
}
