// Reads the entities that a security context can see in a deployment, and runs one query with that context (`lookThrough`). Flow:
// chooses the deployment and its environment, gets tokens for the context, reads the visible entities (`readModel`), and runs the
// query of the operator, or one that fits an entity (`fittingQuery`). A failure of the data API becomes a part of the result.
import { createCoreDataClient, type CoreDataClient } from '../platform/core-data.ts';
import type { LoadQuery, ModelEntity } from '../platform/core-data-records.ts';
import { PlatformError } from '../platform/errors.ts';
import type { Deployment, Environment, WholePlatform } from '../platform/library.ts';
import type { CallOptions } from '../platform/request.ts';
import type { Clock } from '../support/sources.ts';
import { toFailedQuery, type FailedCall } from './query-outcome.ts';
import {
  type AccessFault,
  type FailedQuery,
  type QueryOutcome,
  UnclearQuestion,
  type VisibleEntity,
} from './report.ts';
import { type SecurityContext, signDataToken } from './security-context.ts';

export interface DataChoice {
  /** Id or name; default: the first deployment that the platform key may read. */
  deployment?: string | undefined;
  /** Id or name; default: production. */
  environment?: string | undefined;
  /** Base address of the data API; needed if the environment shows no address, or one that cannot be reached from here. */
  dataUrl?: string | undefined;
  /** Default: one measure of a visible entity. */
  query?: LoadQuery | undefined;
  /**
   * API secret of the deployment, which signs the token of the query. Without it the meta-sync token is used, which by contract 4.3
   * runs no query.
   */
  secret?: string | undefined;
}

export interface Visibility {
  deployment: { id: string; name: string; environment: string };
  /** Null: the data API did not list them. */
  entities: VisibleEntity[] | null;
  /** Whether calls used the API secret of the deployment. */
  hasSecret: boolean;
  /** Failure of the data API; undefined: it answered, or nothing was asked. */
  fault: AccessFault | undefined;
  /** Time at which the entities were read, Unix milliseconds. */
  seenAtMs: number;
  /** Time from the first call until the entities were read, milliseconds. */
  tookMs: number;
  query: QueryOutcome;
  /** Remarks for the reader. */
  notes: string[];
}

export interface DataDeps {
  /** Client with all parts of the platform's API. */
  platform: WholePlatform;
  clock: Clock;
  /** Time for one query including all polls, milliseconds. */
  timeoutMs: number;
  /** Returns whether the time limit passed while a call still waited for the rate limit, a pause or the breaker. */
  isHeldBack: () => boolean;
  /** Options of a client of the data API; `admit` waits for the rate limit of the target. */
  wire: { allowLoopbackHttp: boolean; timeoutMs: number; admit: (signal?: AbortSignal) => Promise<void> };
}

/** Time that a token lives beyond the time limit of the check, because the clocks of both sides may differ. */
const TOKEN_MARGIN_SECONDS = 300;
/** Longest lifetime of a meta-sync token that every tenant allows (contract 4.3). */
const LONGEST_META_TOKEN_SECONDS = 3600;
/** Largest number of rows of a query that has no limit of its own. */
const MOST_ROWS = 100;

/** One look through a security context: the clients of the data API, and the facts that `toOutcome` needs after a failed call. */
interface Look {
  securityContext: SecurityContext;
  /** Lists the entities, with a meta-sync token. */
  forEntities: CoreDataClient;
  /** Runs the query, with a token that the API secret of the deployment signs; without the secret it is `forEntities`. */
  forQuery: CoreDataClient;
  hasSecret: boolean;
  call: CallOptions;
  callerSignal: AbortSignal;
}

/**
 * Returns the visible entities and the outcome of a query. A failure of the data API is part of the result.
 * @param call its signal aborts at the time limit too
 * @param callerSignal aborts only when the caller does; then errors are thrown
 * @throws UnclearQuestion if the deployment, the environment or the address of its data API is not known
 * @throws PlatformError if the platform's API fails
 */
export async function lookThrough(
  deps: DataDeps,
  securityContext: SecurityContext,
  choice: DataChoice,
  call: CallOptions,
  callerSignal: AbortSignal,
): Promise<Visibility> {
  const { platform, clock } = deps;
  const startedMs = clock.now();
  const notes: string[] = [];
  const deployment = await chooseDeployment(platform, choice.deployment, notes, call);
  const environment = await chooseEnvironment(platform, deployment, choice.environment, call);
  const url = choice.dataUrl ?? environment.restUrl;
  if (url === undefined)
    throw new UnclearQuestion(
      `Environment ${environment.name} shows no address of its data API: name it with --data-url.`,
    );
  const place = { url, at: { deploymentId: deployment.id, environmentId: environment.id } };
  const clients = await openClients(deps, securityContext, place, choice.secret, call);
  const hasSecret = choice.secret !== undefined;
  const look: Look = { ...clients, securityContext, hasSecret, call, callerSignal };
  try {
    const model = await readModel(deps, look);
    const seenAtMs = clock.now();
    // Not an array: the read of the entities failed.
    const entities = Array.isArray(model) ? model : null;
    const query = choice.query ?? (entities ? fittingQuery(entities, securityContext) : undefined);
    // Without a query, the failed read is the outcome, and the outcome has its message.
    const withoutQuery: QueryOutcome = Array.isArray(model) ? { kind: 'nothingToAsk' } : model;
    const outcome = query === undefined ? withoutQuery : await runQuery(deps, look, query);
    if (!Array.isArray(model) && query !== undefined)
      notes.push(`the entities could not be read: ${model.message}`);
    return {
      deployment: { id: deployment.id, name: deployment.name, environment: environment.name },
      entities: entities?.map(toVisible).sort((left, right) => left.name.localeCompare(right.name)) ?? null,
      hasSecret,
      fault: 'meaning' in outcome ? { at: 'data', message: outcome.message } : undefined,
      seenAtMs,
      tookMs: seenAtMs - startedMs,
      query: outcome,
      notes,
    };
  } finally {
    await look.forEntities.close();
    if (look.forQuery !== look.forEntities) await look.forQuery.close();
  }
}

/** Gets the tokens for a security context, and creates the clients of the data API. @throws PlatformError */
async function openClients(
  { platform, clock, wire, timeoutMs }: DataDeps,
  securityContext: SecurityContext,
  { url, at }: { url: string; at: { deploymentId: string; environmentId: string } },
  secret: string | undefined,
  call: CallOptions,
): Promise<Pick<Look, 'forEntities' | 'forQuery'>> {
  const lifetimeSeconds = Math.ceil(timeoutMs / 1000) + TOKEN_MARGIN_SECONDS;
  const expiresInSeconds = Math.min(lifetimeSeconds, LONGEST_META_TOKEN_SECONDS);
  const input = { securityContext: { ...securityContext }, expiresInSeconds };
  const { token } = await platform.environments.createMetaToken(at, input, call);
  const clientWith = (credential: string): CoreDataClient =>
    createCoreDataClient({ ...wire, clock, url: baseOf(url), token: credential, queryTimeoutMs: timeoutMs });
  const forEntities = clientWith(token);
  const forQuery =
    secret === undefined
      ? forEntities
      : clientWith(await signDataToken(secret, securityContext, { nowMs: clock.now(), lifetimeSeconds }));
  return { forEntities, forQuery };
}

/** Returns the entities that the context sees, or how the read failed. @throws as `toOutcome` */
async function readModel(deps: DataDeps, look: Look): Promise<ModelEntity[] | FailedQuery> {
  try {
    return await look.forEntities.meta(look.call);
  } catch (error) {
    return toOutcome(deps, look, error, { query: null, hasSecret: false });
  }
}

/** Runs the query with the context. @throws as `toOutcome` */
async function runQuery(deps: DataDeps, look: Look, query: LoadQuery): Promise<QueryOutcome> {
  const { clock } = deps;
  const sinceMs = clock.now();
  try {
    const { rows } = await look.forQuery.load({ limit: MOST_ROWS, ...query }, look.call);
    return { kind: 'rows', query, rows, tookMs: clock.now() - sinceMs };
  } catch (error) {
    return toOutcome(deps, look, error, { query, hasSecret: look.hasSecret });
  }
}

/**
 * Returns the outcome of a call that failed at the data API.
 * @throws `error` if the data API was not asked, so that the caller says why; if it is no error of the platform; or after an abort
 *   by the caller
 */
function toOutcome(
  { isHeldBack, timeoutMs }: DataDeps,
  { securityContext, callerSignal }: Look,
  error: unknown,
  facts: Pick<FailedCall, 'query' | 'hasSecret'>,
): FailedQuery {
  if (isHeldBack() || !(error instanceof PlatformError) || callerSignal.aborted) throw error;
  const { groups } = securityContext.cubeCloud;
  return toFailedQuery(error, { ...facts, groups, timeoutMs });
}

/** Removes slashes and `/v1` from the end of the address, because every path of the client starts with `/v1`. */
const baseOf = (url: string): string => url.replace(/\/+$/, '').replace(/\/v1$/, '');

const toVisible = ({ name, type, measures, dimensions }: ModelEntity): VisibleEntity => ({
  name,
  type,
  measures: measures.length,
  dimensions: dimensions.length,
});

/** Returns the deployment of this id or name, or the first one. Adds a note if there are several to choose from. */
async function chooseDeployment(
  { deployments }: WholePlatform,
  wanted: string | undefined,
  notes: string[],
  call: CallOptions,
): Promise<Deployment> {
  const reached: Deployment[] = [];
  for await (const deployment of deployments.list(call)) reached.push(deployment);
  const names = reached.map(({ id, name }) => `${name} (${id})`).join(', ');
  // If the operator names none, any name fits, so the first deployment is chosen.
  const chosen =
    reached.find(({ id }) => id === wanted) ?? reached.find(({ name }) => name === (wanted ?? name));
  if (!chosen && reached.length === 0) throw new UnclearQuestion('The platform key reaches no deployment.');
  if (!chosen)
    throw new UnclearQuestion(`There is no deployment ${wanted ?? ''}: the platform key reaches ${names}.`);
  if (wanted === undefined && reached.length > 1)
    notes.push(`looked at deployment ${chosen.name}, one of: ${names}`);
  return chosen;
}

/** Returns the environment of this id or name, or the production environment. */
async function chooseEnvironment(
  { environments }: WholePlatform,
  deployment: Deployment,
  wanted: string | undefined,
  call: CallOptions,
): Promise<Environment> {
  const filter = wanted === undefined ? { type: 'production' as const } : {};
  for await (const environment of environments.list(deployment.id, filter, call)) {
    if (wanted === undefined || environment.id === wanted || environment.name === wanted) return environment;
  }
  throw new UnclearQuestion(
    `Deployment ${deployment.name} has no ${wanted ?? 'production'} environment that runs.`,
  );
}

/**
 * Returns a query of one measure, grouped by a dimension that has the name of a user attribute, because policies filter by
 * such dimensions. Returns undefined if no entity has a measure.
 */
function fittingQuery(
  model: readonly ModelEntity[],
  { cubeCloud: { userAttributes } }: SecurityContext,
): LoadQuery | undefined {
  const short = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
  const choices = model.flatMap(({ measures, dimensions }) => {
    const measure = measures.find(({ name }) => short(name) === 'count') ?? measures[0];
    const dimension = dimensions.find(({ name }) => Object.hasOwn(userAttributes, short(name)));
    return measure ? [{ measure: measure.name, dimension: dimension?.name }] : [];
  });
  const best = choices.find(({ dimension }) => dimension !== undefined) ?? choices[0];
  if (!best) return undefined;
  const { measure, dimension } = best;
  return { measures: [measure], ...(dimension === undefined ? {} : { dimensions: [dimension] }) };
}
