// The one place where parts meet: builds everything in flow order and takes it down in that order again.
import type { Redis } from 'ioredis';
import type { Config } from './config/schema.ts';
import { createBudget } from './directory/budget.ts';
import { checkStore, connectRedis, untilReady } from './directory/connection.ts';
import { createDesiredState, type DesiredState } from './directory/desired-state.ts';
import { loadScripts, type Scripts } from './directory/scripts.ts';
import { createHealthRouter, type Check } from './http/health.ts';
import { createAuthenticate } from './http/middleware/authenticate.ts';
import { createScimRouter } from './http/scim/router.ts';
import { createHttpApp, listen } from './http/server.ts';
import { createRelay, type Relay } from './queue/relay.ts';
import { createSyncWorker, type QueueConnection, type SyncHandler } from './queue/worker.ts';
import { groupResourceType, profileOf, userResourceType, type ResourceType } from './scim/index.ts';
import type { Clock } from './support/clock.ts';
import type { Ids } from './support/ids.ts';
import { silentLogger, type Logger } from './support/logger.ts';
import { createReleasers, type Releasers } from './support/releasers.ts';
import { createSerially } from './support/serially.ts';
import { compileMapping } from './sync/mapping.ts';
import { syncResource } from './sync/sync-resource.ts';
import { createTarget, type Target } from './sync/target.ts';
import { typedMembers } from './sync/typed-members.ts';

export type Role = 'all' | 'api' | 'worker' | 'scheduler';

export interface AppDeps {
  logger: Logger;
  clock: Clock;
  ids: Ids;
  random: () => number;
}

export interface App {
  /** Port of the HTTP side. */
  port: number;
  /** Stops in flow order: http, relay, worker, platform, redis. */
  stop(): Promise<void>;
}

/** What every part is built from. */
interface Parts extends AppDeps {
  config: Config;
  redis: Redis;
  scripts: Scripts;
  releasers: Releasers;
  userTypes: Map<string, ResourceType>;
  targets: Map<string, Target>;
  states: DesiredState[];
}

const STORE_WAIT_MS = 2000;
const LEASE_MS = 15_000;
const SWEEP_MS = 1000;
const QUEUE_ROOM = 500;
const HTTP_DEADLINE_MS = 10_000;
const SYNC_DEADLINE_MS = 20_000;
/** A relay that has not looked at its outbox for this long is stuck, whatever else still answers. */
const DEAF_MS = 60_000;

/** Starts the service. It needs neither Redis nor a platform to start; it says what is missing and recovers. */
export async function startApp(config: Config, role: Role, deps: AppDeps): Promise<App> {
  const releasers = createReleasers(deps.logger);
  const redis = connectRedis(config.redis.url, 'commands', deps.logger);
  releasers.add('redis', () => redis.disconnect());
  await untilReady(redis, STORE_WAIT_MS);
  const base = { ...deps, config, redis, scripts: loadScripts(redis), releasers };
  const userTypes = buildUserTypes(config);
  const targets = buildTargets({ ...base, userTypes });
  const parts: Parts = { ...base, userTypes, targets, states: buildStates(base, (name) => targets.get(name)?.mapping.groupsMatter ?? false) };

  const relays = role === 'all' || role === 'worker' ? await startSync(parts) : new Map<string, Relay>();
  const connections = role === 'all' || role === 'api' ? buildScim(parts) : new Map<string, never>();
  const app = createHttpApp({ ...deps, health: buildHealth(parts, relays), connections });
  const http = await listen(app, config.server);
  releasers.add('http', () => http.stop(HTTP_DEADLINE_MS));
  return { port: http.port, stop: releasers.releaseAll };
}

/** The desired states alone, for commands that look into Redis or mark something there. */
export function openDesiredStates(config: Config): { redis: Redis; states: DesiredState[] } {
  const redis = connectRedis(config.redis.url, 'subscriber', silentLogger);
  const scripts = loadScripts(redis);
  const matters = new Map(
    Object.values(config.targets).map((settings) => {
      const userType = userResourceType({ userAttributes: typedMembers([settings]) });
      return [settings.name, compileMapping(settings, userType).groupsMatter];
    }),
  );
  return { redis, states: buildStates({ config, redis, scripts }, (name) => matters.get(name) ?? false) };
}

function buildUserTypes({ connections, targets }: Config): Map<string, ResourceType> {
  return new Map(
    Object.values(connections).map(({ name, targets: names }) => {
      const mapped = names.flatMap((target) => targets[target] ?? []);
      return [name, userResourceType({ userAttributes: typedMembers(mapped) })];
    }),
  );
}

function buildTargets(parts: Omit<Parts, 'targets' | 'states'>): Map<string, Target> {
  const { config, releasers } = parts;
  return new Map(
    Object.values(config.targets).map((settings) => {
      const userType = userResourceType({ userAttributes: typedMembers([settings]) });
      const { prefix } = config.redis;
      const budget = createBudget(parts, { prefix, target: settings.name, ...settings.rateLimit });
      const target = createTarget({ ...parts, budget }, settings, userType);
      releasers.add(`platform client of ${target.name}`, () => target.client.close());
      return [target.name, target];
    }),
  );
}

function buildStates(
  parts: Pick<Parts, 'config' | 'redis' | 'scripts'>,
  groupsMatterAt: (target: string) => boolean,
): DesiredState[] {
  const { config } = parts;
  return Object.values(config.connections).map((connection) =>
    createDesiredState(parts, {
      prefix: config.redis.prefix,
      connection: connection.name,
      targets: connection.targets,
      groupsMatter: connection.targets.some(groupsMatterAt),
      leaseMs: LEASE_MS,
    }),
  );
}

/** Relay and worker of every target. They wait for Redis by themselves. */
async function startSync(parts: Parts): Promise<Map<string, Relay>> {
  const { config, logger, clock, random, releasers, states, targets } = parts;
  const { url, prefix } = config.redis;
  const queueRedis = connectRedis(url, 'queue', logger);
  releasers.add('queue connection', () => queueRedis.disconnect());
  const connection = queueRedis as unknown as QueueConnection;
  const relays = new Map<string, Relay>();
  for (const [name, target] of targets) {
    const fed = new Map(states.flatMap((state) => (state.outboxes.has(name) ? [[state.connection, state] as const] : [])));
    const handler: SyncHandler = async (job, signal) => {
      const state = fed.get(job.connection);
      const outbox = state?.outboxes.get(name);
      // A job of a connection that the settings no longer have: its marks wait until it comes back.
      if (!state || !outbox) return;
      const { directory, links } = state;
      const jobLogger = logger.child({ connection: job.connection });
      await syncResource({ target, directory, outbox, links, clock, logger: jobLogger, random }, job.ref, job.lane, signal);
    };
    const { concurrency } = config.targets[name] ?? { concurrency: 1 };
    const worker = createSyncWorker({ connection, handler, clock, logger }, { prefix, target: name, concurrency });
    releasers.add(`worker of ${name}`, () => worker.stop(SYNC_DEADLINE_MS));
    const outboxes = new Map([...fed].flatMap(([key, state]) => {
      const outbox = state.outboxes.get(name);
      return outbox ? [[key, outbox] as const] : [];
    }));
    const options = { prefix, target: name, sweepMs: SWEEP_MS, room: QUEUE_ROOM };
    const relay = createRelay({ connection, outboxes, clock, logger }, options);
    releasers.add(`relay of ${name}`, () => relay.stop());
    relays.set(name, relay);
  }
  const subscriber = connectRedis(url, 'subscriber', logger);
  releasers.add('subscriber', () => subscriber.disconnect());
  subscriber.on('message', (_channel: string, target: string) => relays.get(target)?.poke());
  // Resolves once Redis is there; until then the relays' own sweeps do.
  void subscriber.subscribe(...states.map(({ channel }) => channel)).catch(() => undefined);
  return relays;
}

function buildScim(parts: Parts): Map<string, ReturnType<typeof createScimRouter>> {
  const { config, clock, ids, logger, states, userTypes } = parts;
  const { publicUrl, maxBodyBytes } = config.server;
  const routers = new Map<string, ReturnType<typeof createScimRouter>>();
  const groupType = groupResourceType();
  for (const { connection: name, directory } of states) {
    const connection = config.connections[name];
    const userType = userTypes.get(name);
    if (!connection || !userType) continue;
    const seen = new Set<string>();
    const profile = profileOf(connection.profile, (deviation) => {
      if (seen.has(deviation)) return;
      seen.add(deviation);
      logger.info({ connection: name, deviation }, 'accepted a deviation of the identity provider');
    });
    const reviveInactive = connection.reviveInactive ?? connection.profile !== 'rfc';
    const provider = { directory, userType, groupType, profile, reviveInactive, clock, ids, serially: createSerially() };
    const authenticate = createAuthenticate({ clock }, connection);
    const roots = [`/connections/${name}/scim/v2`, ...(name === 'default' ? ['/scim/v2'] : [])];
    for (const root of roots) {
      routers.set(root, createScimRouter(provider, { root, publicUrl, authenticate, maxBodyBytes }));
    }
  }
  return routers;
}

function buildHealth(parts: Parts, relays: Map<string, Relay>): ReturnType<typeof createHealthRouter> {
  const { clock, config, redis, states, targets } = parts;
  const store = (): Promise<Check> => checkStore(redis, config.redis.durability).then((health) => ({ ...health }));
  const targetCheck = async (name: string): Promise<Check> => {
    const depth = { dirty: 0, inflight: 0, blocked: 0 };
    for (const { outboxes } of states) {
      const part = await outboxes.get(name)?.depth();
      for (const key of Object.keys(depth) as (keyof typeof depth)[]) depth[key] += part?.[key] ?? 0;
    }
    const findings = depth.blocked > 0 ? [`${depth.blocked} resources need a person: see dead-letters`] : [];
    return { ok: true, findings, ...depth };
  };
  return createHealthRouter({
    live: () => {
      const deaf = [...relays].filter(([, relay]) => clock.now() - relay.lastSweepAt() > DEAF_MS);
      return { ok: deaf.length === 0, findings: deaf.map(([name]) => `target ${name}: outbox is not read any more`) };
    },
    ready: store,
    detail: async () => {
      const health = { store: await store() };
      if (!health.store.ok) return health;
      const checks = await Promise.all([...targets.keys()].map(async (name) => [`target ${name}`, await targetCheck(name)]));
      return { ...health, ...(Object.fromEntries(checks) as Record<string, Check>) };
    },
  });
}
