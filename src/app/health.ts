// Builds the health endpoints: checks of store, targets, data and queues.
import type { BreakerState } from '../directory/outbox/breaker.ts';
import { isStoreUnavailable } from '../directory/redis/connection.ts';
import { checkStore, type StoreFault } from '../directory/redis/store-health.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { createKeyspace } from '../directory/keys.ts';
import type { AdminCheck } from '../http/admin/authenticate.ts';
import { createHealthRouter, type Check, type HealthChecks } from '../http/health.ts';
import type { ReadFleet } from '../ops/status/fleet.ts';
import type { TargetQueue } from '../queue/worker.ts';
import { total } from '../support/counted.ts';
import { oncePerTurn } from '../support/once-per-turn.ts';
import type { Target } from '../sync/target.ts';
import type { Parts } from './parts.ts';
import { checkTargetHealth } from './target-check.ts';

/** A relay that has not read its outbox for this long is reported as stalled. */
const STALLED_RELAY_MS = 60_000;

const withAdvice = ({ message, advice }: StoreFault): string => `${message}. ${advice}`;

/** Returns the router of `/livez`, `/readyz` and `/health`. */
export function buildHealth(
  parts: Parts,
  targets: Map<string, Target>,
  states: DesiredState[],
  queues: Map<string, TargetQueue>,
  {
    isStopping,
    checkAdmin,
    readFleet,
  }: { isStopping: () => boolean; checkAdmin: AdminCheck | undefined; readFleet: ReadFleet },
): ReturnType<typeof createHealthRouter> {
  const { clock, config, redis } = parts;
  // `/readyz` needs no token and writes to Redis, so the requests of one event loop turn share a check.
  const storeCheck = oncePerTurn(async (): Promise<Check> => {
    const health = await checkStore(redis, {
      durability: config.redis.durability,
      probe: createKeyspace(config.redis.prefix, 'ready').key('probe'),
    });
    return { ...health, findings: health.findings.map(withAdvice) };
  });
  // Reports the faults that the last proof of derived data found.
  const dataCheck = async (): Promise<Check> => {
    const last = await Promise.all(states.map(({ proof }) => proof.last()));
    const faults = total(last.map((proof) => proof?.faults ?? 0));
    const findings =
      faults > 0
        ? [`${faults} entries of derived data differ from the records: see scim-bridge doctor --deep`]
        : [];
    return { ok: true, findings, faults };
  };
  // Reports the findings about the processes of the service.
  const fleetCheck = async (): Promise<Check> => {
    const { processes, findings } = await readFleet();
    return {
      ok: findings.every(({ level }) => level !== 'error'),
      findings: findings.map(withAdvice),
      processes,
    };
  };
  const breakerOf = async (name: string): Promise<BreakerState> =>
    (await targets.get(name)?.breaker.read()) ?? { open: false };
  const live = (): Check => {
    const ageOf = (queue: TargetQueue): number => clock.now() - queue.lastSweepAt();
    const ages = [...queues].map(([name, queue]) => ({ name, ageMs: ageOf(queue) }));
    const stalled = ages.filter(({ ageMs }) => ageMs > STALLED_RELAY_MS);
    return {
      ok: stalled.length === 0,
      findings: stalled.map(({ name }) => `target ${name}: outbox is not read any more`),
      // Ages of the last sweeps, in which the relays fetch due marks.
      lastFetchAgeMs: Object.fromEntries(ages.map(({ name, ageMs }) => [name, ageMs])),
    };
  };
  const ready = async (): Promise<Check> =>
    isStopping() ? { ok: false, findings: ['the process is stopping'] } : storeCheck();
  const checks: HealthChecks = {
    live,
    ready,
    detail: async () => {
      const health = { process: live(), store: await ready() };
      // Tried also when the check of the store fails: Redis may still answer reads, for example with a wrong eviction policy.
      const stored = Promise.all(
        [
          { name: 'data', check: dataCheck },
          { name: 'fleet', check: fleetCheck },
          ...Object.keys(config.targets).map((name) => ({
            name: `target ${name}`,
            check: async () => checkTargetHealth(states, name, await breakerOf(name)),
          })),
        ].map(async ({ name, check }) => [name, await check()] as const),
      );
      try {
        return { ...health, ...Object.fromEntries(await stored) };
      } catch (error) {
        if (health.store.ok || !isStoreUnavailable(error)) throw error;
        return health;
      }
    },
  };
  return createHealthRouter(parts, checks, checkAdmin);
}
