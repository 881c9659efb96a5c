// The one place where parts meet: builds everything in flow order and takes it down in that order again.
import type { Redis } from 'ioredis';
import { printableConfig } from './config/redact.ts';
import type { Config } from './config/schema.ts';
import { watchSecretFiles } from './config/secret-files.ts';
import { createBreaker, type Breaker } from './directory/breaker.ts';
import { createBudget } from './directory/budget.ts';
import { checkStore, connectRedis, takePulse, untilReady } from './directory/connection.ts';
import { createDesiredState, type DesiredState } from './directory/desired-state.ts';
import { createKeyspace } from './directory/keys.ts';
import { createOperationStore } from './directory/operations.ts';
import type { Outbox } from './directory/outbox.ts';
import { createConfirmation } from './directory/replicas.ts';
import { loadScripts, type Scripts } from './directory/scripts.ts';
import { createAdmin, type Admin } from './http/admin/admin.ts';
import { createHealthRouter, type Check } from './http/health.ts';
import { createMetricsRouter } from './http/metrics.ts';
import { createScimRouters } from './http/scim/connections.ts';
import { createHttpApp, createMetricsApp, listen } from './http/server.ts';
import { createInstruments, type Instruments, type Sources } from './instruments.ts';
import {
  createTargetQueue,
  type QueueConnection,
  type SyncHandler,
  type TargetQueue,
} from './queue/target-queue.ts';
import { createTrailReader } from './reconcile/audit-trail.ts';
import { digestOf } from './reconcile/digest.ts';
import type { Estate } from './reconcile/estate.ts';
import { startScheduler, type ScheduledEstate } from './reconcile/schedule.ts';
import { groupResourceType, userResourceType, type CustomSchema, type ResourceType } from './scim/index.ts';
import type { PlatformCall } from './platform/client.ts';
import { systemClock, type Clock } from './support/clock.ts';
import type { Ids } from './support/ids.ts';
import { silentLogger, type Logger } from './support/logger.ts';
import { traced } from './http/traced.ts';
import type { Tracing } from './support/tracing.ts';
import { createReleasers, type Releasers } from './support/releasers.ts';
import { compileMapping } from './sync/mapping.ts';
import { syncResource } from './sync/sync-resource.ts';
import { createTarget, type Target } from './sync/target.ts';
import { typedMembers } from './sync/typed-members.ts';
import { createDoors, type Doors } from './tokens/doors.ts';

export type Role = 'all' | 'api' | 'worker' | 'scheduler';

export interface AppDeps {
  logger: Logger;
  clock: Clock;
  ids: Ids;
  random: () => number;
  /** Undefined = no traces. */
  tracing?: Tracing | undefined;
}

export interface App {
  /** Port of the HTTP side. */
  port: number;
  /** Port of /metrics: the same one, or its own. */
  metricsPort: number;
  /** Not ready from now on, but still answering for `server.drainMs`, so that who sends here turns elsewhere. */
  drain: () => Promise<void>;
  /** Stops in flow order: http, queues, platform clients, redis. */
  stop: () => Promise<void>;
}

interface Store {
  config: Config;
  redis: Redis;
  scripts: Scripts;
}

/** What every part is built from. */
type Parts = AppDeps & Store & { releasers: Releasers; instruments?: Instruments };

const STORE_WAIT_MS = 2000;
const LEASE_MS = 15_000;
const DAY_MS = 86_400_000;
const HTTP_DEADLINE_MS = 10_000;
/** An outbox that was not looked at for this long is stuck, whatever else still answers. */
const DEAF_MS = 60_000;

/** Starts the service. It needs neither Redis nor a platform to start; it says what is missing and recovers. */
export async function startApp(config: Config, role: Role, deps: AppDeps): Promise<App> {
  const releasers = createReleasers(deps.logger);
  const redis = connectRedis(config.redis, 'commands', deps.logger);
  releasers.add('redis', () => redis.disconnect());
  await untilReady(redis, STORE_WAIT_MS);
  const instruments = createInstruments(deps, { config, role });
  const parts: Parts = {
    ...deps,
    config,
    redis,
    scripts: scriptsOn(redis, config, deps.clock),
    releasers,
    instruments,
  };
  const targets = buildTargets(parts);
  const states = buildStates(parts, (name) => targets.get(name)?.mapping.groupsMatter ?? false);

  const queues =
    role === 'all' || role === 'worker'
      ? startQueues(parts, targets, states)
      : new Map<string, TargetQueue>();
  if (role === 'all' || role === 'scheduler') {
    const scheduler = startScheduler(deps, buildEstates(parts, targets, states), config.reconcile);
    releasers.add('scheduler', scheduler.stop);
  }
  const scim = role === 'all' || role === 'api' ? states : [];
  const { requests: observe, onDeviation } = instruments;
  const doors = await openDoors(parts, scim);
  const secretFiles = watchSecretFiles(deps, config, doors.renew);
  releasers.add('secret files', secretFiles.stop);
  const scimParts = scimConnections(config, scim, doors);
  const connections = createScimRouters({ ...deps, onDeviation }, scimParts, config.server);
  let stopping = false;
  const health = buildHealth(parts, targets, states, queues, () => stopping);
  const metrics = buildScrape(parts, instruments, { targets, states, queues, doors });
  const { host, metricsPort } = config.server;
  const ownPort = metricsPort !== null;
  const admin = role === 'all' || role === 'api' ? buildAdmin(parts, targets, states) : undefined;
  const app = createHttpApp({
    ...deps,
    health,
    connections,
    observe: parts.tracing ? traced(observe, parts.tracing) : observe,
    admin,
    metrics: ownPort ? undefined : metrics,
  });
  try {
    const http = await listen(app, config.server);
    releasers.add('http', () => http.stop(HTTP_DEADLINE_MS));
    const drain = (): Promise<void> => {
      stopping = true;
      http.drain();
      return deps.clock.sleep(scim.length > 0 ? config.server.drainMs : 0);
    };
    const stop = releasers.releaseAll;
    if (!ownPort) return { port: http.port, metricsPort: http.port, drain, stop };
    const own = await listen(createMetricsApp(metrics), { host, port: metricsPort });
    releasers.add('metrics', () => own.stop(0));
    return { port: http.port, metricsPort: own.port, drain, stop };
  } catch (error) {
    // Nothing of a service that can not be reached may go on working.
    await releasers.releaseAll();
    throw error;
  }
}

/** The operators' side; undefined when there is no token for it. */
function buildAdmin(
  parts: Parts,
  targets: Map<string, Target>,
  states: DesiredState[],
): Admin['router'] | undefined {
  const { config, redis, releasers } = parts;
  const { adminToken, maxBodyBytes } = config.server;
  if (adminToken === null) return undefined;
  const admin = createAdmin(
    {
      ...parts,
      states,
      estates: buildEstates(parts, targets, states),
      targets: [...targets.keys()],
      breakers: new Map([...targets].map(([name, { breaker }]) => [name, breaker])),
      tokensOf: (connection) => config.connections[connection]?.tokens ?? [],
      settings: () => printableConfig(config),
      store: createOperationStore({ redis }, { prefix: config.redis.prefix }),
    },
    { token: () => config.server.adminToken ?? adminToken, maxBodyBytes },
  );
  releasers.add('admin operations', admin.stop);
  return admin.router;
}

/** The desired states and breakers alone, for commands that look into Redis or mark something there. */
export function openDesiredStates(config: Config): {
  redis: Redis;
  states: DesiredState[];
  /** By target. */
  breakers: Map<string, Breaker>;
} {
  const redis = connectRedis(config.redis, 'commands', silentLogger);
  const store = { config, redis, scripts: scriptsOn(redis, config, systemClock) };
  const mappings = new Map(
    Object.values(config.targets).map((target) => [
      target.name,
      compileMapping(target, userTypeFor([target], schemasFor(config, target.name))),
    ]),
  );
  const breakers = Object.keys(config.targets).map((target) => {
    const options = { prefix: config.redis.prefix, target };
    return [target, createBreaker({ ...store, logger: silentLogger }, options)] as const;
  });
  const states = buildStates(store, (name) => mappings.get(name)?.groupsMatter ?? false);
  return { redis, states, breakers: new Map(breakers) };
}

/** What commands compare and repair, one for each connection and target. With `worker`, marks are applied here too. */
export async function openEstates(
  config: Config,
  deps: AppDeps,
  { worker }: { worker: boolean },
): Promise<{ estates: ScheduledEstate[]; stop: () => Promise<void> }> {
  const releasers = createReleasers(deps.logger);
  const redis = connectRedis(config.redis, 'commands', deps.logger);
  releasers.add('redis', () => redis.disconnect());
  await untilReady(redis, STORE_WAIT_MS);
  await redis.ping().catch(async (error: Error) => {
    await releasers.releaseAll();
    throw new Error(`Redis does not answer (${error.message}): check redis.url or REDIS_URL.`);
  });
  const parts: Parts = { ...deps, config, redis, scripts: scriptsOn(redis, config, deps.clock), releasers };
  const targets = buildTargets(parts);
  const states = buildStates(parts, (name) => targets.get(name)?.mapping.groupsMatter ?? false);
  if (worker) startQueues(parts, targets, states);
  return { estates: buildEstates(parts, targets, states), stop: releasers.releaseAll };
}

const scriptsOn = (redis: Redis, config: Config, clock: Clock): Scripts =>
  loadScripts(redis, config.redis.confirmation === 'off' ? undefined : createConfirmation({ redis, clock }));

function buildEstates(
  { config, clock, random }: Parts,
  targets: Map<string, Target>,
  states: DesiredState[],
): ScheduledEstate[] {
  return states.flatMap((state) =>
    [...state.outboxes].flatMap(([name, outbox]) => {
      const target = targets.get(name);
      const settings = config.targets[name];
      const drifts = state.drifts.get(name);
      const runs = state.runs.get(name);
      if (!target || !settings || !drifts || !runs) return [];
      const others = states.flatMap((other) => (other === state ? [] : (other.drifts.get(name) ?? [])));
      const { guard, concurrency } = settings;
      const digest = digestOf(settings);
      const { members } = settings.groups;
      const estate: Estate = {
        ...{ ...state, target, outbox, drifts, runs, others, clock, random, concurrency, digest, members },
      };
      const { url, token, allowLoopbackHttp, timeoutMs } = settings;
      const readTrail = createTrailReader({ url, token, allowLoopbackHttp, timeoutMs }, (signal) =>
        target.catalogue.keyOwner(signal),
      );
      return [{ estate, guard, readTrail }];
    }),
  );
}

const userTypeFor = (targets: Config['targets'][string][], schemas: readonly CustomSchema[]): ResourceType =>
  userResourceType({ userAttributes: typedMembers(targets), schemas });

/** Custom schemas of everybody who pushes to the target. */
const schemasFor = ({ connections }: Config, target: string): CustomSchema[] =>
  Object.values(connections).flatMap(({ targets, schemas }) => (targets.includes(target) ? schemas : []));

function buildTargets(parts: Parts): Map<string, Target> {
  const { config, releasers } = parts;
  const targets = new Map<string, Target>();
  for (const settings of Object.values(config.targets)) {
    const { name, rateLimit } = settings;
    const { prefix } = config.redis;
    const breaker = createBreaker(parts, { prefix, target: name });
    const hooks = parts.instruments?.target(name);
    const budget = createBudget(
      { ...parts, heed: breaker.heed, onWait: hooks?.onWait },
      { prefix, target: name, ...rateLimit },
    );
    const userType = userTypeFor([settings], schemasFor(config, name));
    const onCall = (call: PlatformCall): void => {
      breaker.note(call);
      hooks?.onCall(call);
    };
    const target = createTarget({ ...parts, budget, breaker, onCall }, settings, userType);
    releasers.add(`platform client of ${name}`, () => target.client.close());
    targets.set(name, target);
  }
  return targets;
}

function buildStates(
  { config, redis, scripts }: Store,
  groupsMatterAt: (target: string) => boolean,
): DesiredState[] {
  return Object.values(config.connections).map((connection) =>
    createDesiredState(
      { redis, scripts },
      {
        prefix: config.redis.prefix,
        connection: connection.name,
        targets: connection.targets,
        groupsMatter: connection.targets.some(groupsMatterAt),
        leaseMs: LEASE_MS,
        log: {
          maxEntries: config.provisioningLog.maxEntries,
          maxAgeMs: config.provisioningLog.maxAgeDays * DAY_MS,
        },
      },
    ),
  );
}

const outboxesOf = (states: DesiredState[], target: string): Map<string, Outbox> =>
  new Map(
    states.flatMap(({ connection, outboxes }) => {
      const outbox = outboxes.get(target);
      return outbox ? [[connection, outbox] as const] : [];
    }),
  );

/** Relay and worker of every target. They wait for Redis by themselves. */
function startQueues(
  parts: Parts,
  targets: Map<string, Target>,
  states: DesiredState[],
): Map<string, TargetQueue> {
  const { config, logger, clock, random, releasers } = parts;
  const { prefix } = config.redis;
  const queueRedis = connectRedis(config.redis, 'queue', logger);
  releasers.add('queue connection', () => queueRedis.disconnect());
  const connection = queueRedis as unknown as QueueConnection;
  const byConnection = new Map(states.map((state) => [state.connection, state]));
  const queues = new Map<string, TargetQueue>();
  for (const [name, target] of targets) {
    const outboxes = outboxesOf(states, name);
    const { onApplied, onWrite } = parts.instruments?.target(name) ?? {};
    const handler: SyncHandler = async (job, signal) => {
      const state = byConnection.get(job.connection);
      const outbox = outboxes.get(job.connection);
      // A job of a connection that the settings no longer have: its marks wait until it comes back.
      if (!state || !outbox) return;
      const deps = {
        target,
        ...state,
        outbox,
        ...{ clock, random, onApplied, onWrite, trace: parts.tracing?.caused },
        logger: logger.child({ connection: job.connection }),
      };
      await syncResource(deps, job.ref, job.lane, signal);
    };
    const concurrency = config.targets[name]?.concurrency ?? 1;
    const queue = createTargetQueue(
      { connection, outboxes, handler, clock, logger },
      { prefix, target: name, concurrency },
    );
    releasers.add(`queue of ${name}`, queue.stop);
    queues.set(name, queue);
  }
  const subscriber = connectRedis(config.redis, 'subscriber', logger);
  releasers.add('subscriber', () => subscriber.disconnect());
  subscriber.on('message', (_channel: string, target: string) => queues.get(target)?.poke());
  // Resolves once Redis is there; until then the queues' own sweeps do.
  void subscriber.subscribe(...states.map(({ channel }) => channel)).catch(() => undefined);
  return queues;
}

/** What opens the connections. A revocation is told by Redis, and found out if nobody tells. */
async function openDoors(parts: Parts, states: DesiredState[]): Promise<Doors> {
  const { config, logger, releasers } = parts;
  const doors = await createDoors(
    parts,
    states.flatMap(({ connection, tokens }) => {
      const settings = config.connections[connection];
      return settings ? [{ settings, stored: tokens }] : [];
    }),
  );
  releasers.add('tokens', doors.stop);
  if (states.length === 0) return doors;
  const subscriber = connectRedis(config.redis, 'subscriber', logger);
  releasers.add('subscriber for tokens', () => subscriber.disconnect());
  const connectionOf = new Map(states.map(({ connection, tokens }) => [tokens.channel, connection]));
  subscriber.on('message', (channel: string) => void doors.refresh(connectionOf.get(channel) ?? ''));
  // Resolves once Redis is there; until then the doors look by themselves.
  void subscriber.subscribe(...connectionOf.keys()).catch(() => undefined);
  return doors;
}

function scimConnections(
  config: Config,
  states: DesiredState[],
  doors: Doors,
): Parameters<typeof createScimRouters>[1] {
  return states.flatMap(({ connection, directory }) => {
    const settings = config.connections[connection];
    const door = doors.of(connection);
    if (!settings || !door) return [];
    const targets = settings.targets.flatMap((name) => config.targets[name] ?? []);
    const { schemas } = settings;
    const groupType = groupResourceType({ schemas });
    return [{ settings, directory, door, userType: userTypeFor(targets, schemas), groupType }];
  });
}

function buildHealth(
  { clock, config, redis }: Parts,
  targets: Map<string, Target>,
  states: DesiredState[],
  queues: Map<string, TargetQueue>,
  isStopping: () => boolean,
): ReturnType<typeof createHealthRouter> {
  const store = async (): Promise<Check> => ({
    ...(await checkStore(redis, {
      durability: config.redis.durability,
      probe: createKeyspace(config.redis.prefix, 'ready').key('probe'),
    })),
  });
  const targetCheck = async (name: string): Promise<Check> => {
    const depths = await Promise.all([...outboxesOf(states, name).values()].map((outbox) => outbox.depth()));
    const [dirty, inflight, blocked] = (['dirty', 'inflight', 'blocked'] as const).map((part) =>
      depths.reduce((sum, depth) => sum + depth[part], 0),
    );
    const stagings = [...outboxesOf(states, name).values()].map(({ staging }) => staging);
    const holds = await Promise.all(stagings.map((staging) => staging.onHold()));
    const held = (await Promise.all(stagings.map((staging) => staging.held()))).reduce(
      (sum, { total }) => sum + total,
      0,
    );
    const books = states.flatMap(({ runs }) => runs.get(name) ?? []);
    const runs = await Promise.all(books.map((each) => each.read()));
    const comparedAt = runs.flatMap(({ lastSuccessAt }) => lastSuccessAt ?? []);
    const reconcileAgeMs = comparedAt.length === 0 ? null : clock.now() - Math.min(...comparedAt);
    const breaker = (await targets.get(name)?.breaker.read()) ?? { open: false };
    const findings = [
      ...(breaker.open ? [`calls fail (${breaker.status || 'no answer'}): only probes are sent`] : []),
      ...(blocked ? [`${blocked} resources need a person: see dead-letters`] : []),
      ...(held > 0 ? [`the guard holds ${held} removals: see plans`] : []),
      ...(holds.some(Boolean) ? ['on hold by order of an operator: see release'] : []),
    ];
    return { ok: true, findings, dirty, inflight, blocked, held, reconcileAgeMs, breaker };
  };
  return createHealthRouter({
    live: () => {
      const ages = [...queues].map(([name, queue]) => [name, clock.now() - queue.lastSweepAt()] as const);
      const deaf = ages.filter(([, age]) => age > DEAF_MS);
      return {
        ok: deaf.length === 0,
        findings: deaf.map(([name]) => `target ${name}: outbox is not read any more`),
        lastFetchAgeMs: Object.fromEntries(ages),
      };
    },
    ready: async () => (isStopping() ? { ok: false, findings: ['the process is stopping'] } : store()),
    detail: async () => {
      const health = { store: await store() };
      if (!health.store.ok) return health;
      const checks = Object.keys(config.targets).map(
        async (name) => [`target ${name}`, await targetCheck(name)] as const,
      );
      return { ...health, ...Object.fromEntries(await Promise.all(checks)) };
    },
  });
}

/** What a scrape shows: this process's own counts, and for every process what Redis knows. */
function buildScrape(
  { redis }: Parts,
  { contentType, scrape }: Instruments,
  {
    targets,
    states,
    queues,
    doors,
  }: {
    targets: Map<string, Target>;
    states: DesiredState[];
    queues: Map<string, TargetQueue>;
    doors: Doors;
  },
): ReturnType<typeof createMetricsRouter> {
  const sources: Sources = {
    pulse: () => takePulse(redis),
    backlogs: (name) => Promise.all([...outboxesOf(states, name).values()].map((outbox) => outbox.backlog())),
    breaker: async (name) => (await targets.get(name)?.breaker.read()) ?? { open: false },
    tokens: doors.tokens,
    lastFetches: () => new Map([...queues].map(([name, queue]) => [name, queue.lastSweepAt()])),
  };
  return createMetricsRouter(contentType, () => scrape(sources));
}
