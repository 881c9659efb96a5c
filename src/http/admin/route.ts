// Defines the shape of an admin route: its request, its answers and its handler. Router and OpenAPI document are both built
// from the same routes, so they always agree.
import type { TargetAddress } from '../../verify-access/calls.ts';
import type { KnownTargets } from '../../directory/fleet/known-targets.ts';
import type { Actor } from '../../directory/logs/acts.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { NoticeTestResult } from '../../notices/test-message.ts';
import type { DoctorFinding } from '../../ops/doctor/doctor-finding.ts';
import type { LinkSources } from '../../ops/links/link-rows.ts';
import type { ReadCoverage } from '../../ops/status/read-coverage.ts';
import type { StatusSources } from '../../ops/status/status.ts';
import type { HistorySources } from '../../ops/status/target-history.ts';
import type { CompileTried } from '../../ops/try-mapping.ts';
import type { ScheduledScope } from '../../reconcile/apply/schedule.ts';
import type { Clock, Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import type { SettingsToken } from '../../tokens/keyring.ts';
import type { LogExports } from './log-export.ts';
import type { Operations } from './operations.ts';
import { Problem } from './problem.ts';
import type { AdminCaller, Right } from './sign-in/rights.ts';

/** JSON Schema 2020-12, as OpenAPI 3.1 and ajv support it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Dependencies of the routes. */
export interface AdminContext extends StatusSources, LinkSources {
  /** Each connection with each of its targets, for comparisons and syncs. */
  scopes: readonly ScheduledScope[];
  /** Names of all targets in the settings. */
  targets: readonly string[];
  /** Targets that each connection feeds or has fed, also those that left the settings. */
  knownTargets: KnownTargets;
  /** The effective settings with secrets masked. */
  settings: () => unknown;
  /** Checks and compiles a mapping that is not in the settings. */
  compileTried: CompileTried;
  /** History for plots (hour, day and month). */
  history: HistorySources;
  /** Platform address and token of each target. */
  addresses: Readonly<Record<string, TargetAddress>>;
  /** Runs the checks of doctor and returns their findings. */
  check: (signal: AbortSignal) => Promise<DoctorFinding[]>;
  /** Returns the inbound tokens that the settings have for a connection. */
  tokensOf: (connection: string) => readonly SettingsToken[];
  notices: {
    /** Names of the channels in the settings. */
    channels: readonly string[];
    /** Sends a sample message to each of these channels. */
    test: (channels: readonly string[], actor: Actor, signal: AbortSignal) => Promise<NoticeTestResult[]>;
  };
  /** Long operations of this process. */
  operations: Operations;
  /** Opens a stream of the live status (live.ts). */
  openLive: (caller: Pick<AdminCaller, 'isStillValid'>, signal: AbortSignal) => AdminAnswer;
  /** Counts the desired, linked and missing resources. */
  coverageOf: ReadCoverage;
  /** Exports of logs, one at a time in this process. */
  logExports: LogExports;
  clock: Clock;
  ids: Ids;
  logger: Logger;
}

/** One request, checked against the route's schemas. */
export interface AdminCall<Body = unknown, Query = Record<string, unknown>> {
  params: Record<string, string>;
  query: Query;
  body: Body;
  caller: AdminCaller;
  /** `page` when a header says that the operators' page calls; the header is not verified. */
  via: 'admin API' | 'page';
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

export interface JsonAnswer {
  kind: 'json';
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** A document or file, streamed. */
export interface StreamedAnswer {
  kind: 'pieces';
  contentType: string;
  pieces: AsyncIterable<string | Buffer>;
  headers?: Record<string, string>;
  /** Aborted when no more pieces come. The answer then ends even if the client does not read it. */
  until?: AbortSignal;
  /** When aborted, the answer is cut off. */
  signal?: AbortSignal;
}

export type AdminAnswer = JsonAnswer | StreamedAnswer;

export interface Parameter {
  description: string;
  schema: JsonSchema;
  required?: boolean;
}

export interface AdminRoute {
  method: 'get' | 'post' | 'delete';
  /** Below /admin/v1, with `{name}` for parameters. */
  path: string;
  /** Unique operationId of the OpenAPI document. */
  id: string;
  /** Command of the CLI with the same result, with its options. */
  command?: string;
  summary: string;
  /** Right that the caller needs. Default: `read` for GET, `operate` for other methods. */
  right?: Right;
  /** Descriptions of the parameters of the path. */
  params?: Record<string, string>;
  query?: Record<string, Parameter>;
  /** Schema of the body; undefined: the route takes no body. */
  body?: JsonSchema;
  /** A call without a body counts as `{}`. */
  bodyOptional?: boolean;
  /** The successful answer: status (default 200), schema of the body, and headers with their descriptions. */
  answers: {
    status?: number;
    description: string;
    schema?: JsonSchema;
    /** A list when the request selects the content type, as by `format` of an export. */
    contentType?: string | readonly string[];
    headers?: Readonly<Record<string, string>>;
  };
  /** Error statuses besides 400, 401, 403, 429, 500 and 503, with their descriptions. */
  refuses?: Record<number, string>;
  handle: (call: AdminCall) => AdminAnswer | Promise<AdminAnswer>;
}

/** Returns the right that a caller of the route needs. */
export const rightFor = ({ method, right }: Pick<AdminRoute, 'method' | 'right'>): Right =>
  right ?? (method === 'get' ? 'read' : 'operate');

/** Returns an answer with a JSON body. */
export const json = (body: unknown, status = 200, headers?: Record<string, string>): JsonAnswer => ({
  kind: 'json',
  status,
  body,
  ...(headers === undefined ? {} : { headers }),
});

type RouteDefinition<Call> = Omit<AdminRoute, 'method' | 'path' | 'id' | 'handle'> & {
  handle: (call: Call) => AdminAnswer | Promise<AdminAnswer>;
};

/**
 * Returns a route with a handler whose body and query are typed. The cast is safe, because the router validates body and query by
 * the schemas of the route before it calls the handler.
 */
const route = <Call>(
  method: AdminRoute['method'],
  path: string,
  id: string,
  definition: RouteDefinition<Call>,
): AdminRoute => ({ ...definition, method, path, id, handle: (call) => definition.handle(call as Call) });

export const getRoute = <Query = Record<string, unknown>>(
  path: string,
  id: string,
  definition: RouteDefinition<AdminCall<undefined, Query>>,
): AdminRoute => route('get', path, id, definition);

export const postRoute = <Body = unknown>(
  path: string,
  id: string,
  definition: RouteDefinition<AdminCall<Body>>,
): AdminRoute => route('post', path, id, definition);

export const deleteRoute = <Query = Record<string, unknown>>(
  path: string,
  id: string,
  definition: RouteDefinition<AdminCall<undefined, Query>>,
): AdminRoute => route('delete', path, id, definition);

/** Accepts undefined, which means all targets. @throws Problem 404 with the names that exist, for an unknown target */
export function requireTarget({ targets }: AdminContext, target: string | undefined): void {
  if (target === undefined || targets.includes(target)) return;
  throw new Problem(404, `There is no target ${target}. The settings have: ${targets.join(', ')}.`);
}

/** Returns the connections with this target; undefined: every connection with each of its targets. */
export const scopesAt = (
  { scopes }: Pick<AdminContext, 'scopes'>,
  target: string | undefined,
): ScheduledScope[] => scopes.filter(({ scope }) => target === undefined || scope.target.name === target);

/** Returns the desired state of a connection. @throws Problem 404 with the names that exist, for an unknown connection */
export function stateOf({ states }: AdminContext, connection: string): DesiredState {
  const state = states.find((each) => each.connection === connection);
  if (state) return state;
  const names = states.map((each) => each.connection).join(', ');
  throw new Problem(404, `There is no connection ${connection}. The settings have: ${names}.`);
}

/** Returns a function that returns the policy of a target (sync/target.ts); undefined for an unknown one. */
export const policyOf =
  ({ scopes }: Pick<AdminContext, 'scopes'>) =>
  (target: string) =>
    scopes.find(({ scope }) => scope.target.name === target)?.scope.target.policy;

/** Checks the names of a filter; undefined means all. @throws Problem 404 with the names that exist, for an unknown one */
export function requireConnectionAndTarget(
  context: AdminContext,
  filter: { connection?: string | undefined; target?: string | undefined },
): void {
  if (filter.connection !== undefined) stateOf(context, filter.connection);
  requireTarget(context, filter.target);
}

/**
 * Checks the names of an order or a list about the present settings; undefined means all.
 * @throws Problem 404 as `requireConnectionAndTarget`, and for a connection that does not feed the target
 */
export function requireFed(
  context: AdminContext,
  filter: { connection?: string | undefined; target?: string | undefined },
): void {
  requireConnectionAndTarget(context, filter);
  const { connection, target } = filter;
  if (connection === undefined || target === undefined) return;
  const { outboxes } = stateOf(context, connection);
  if (outboxes.has(target)) return;
  const fed = [...outboxes.keys()].join(', ');
  throw new Problem(
    404,
    `The connection ${connection} does not feed the target ${target}. It feeds: ${fed}.`,
  );
}
