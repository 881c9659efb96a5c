// Builds the health endpoints: checks of store, targets, data and queues.
import { addExceptionCounts } from '../directory/outbox/exceptions.ts';
import { holdAdvice, isTenantHold, OLDER_DATA_HOLDER } from '../directory/guard/operator-hold.ts';
import { isKeyRefused } from '../directory/outbox/breaker.ts';
import { answerWords, breakerWords, failureAdvice, newKeyAdvice } from '../reconcile/breaker-words.ts';
import { exceptionTotalText } from '../reconcile/text/exception-words.ts';
import { checkStore, isStoreUnavailable, type StoreFault } from '../directory/redis/connection.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { createKeyspace } from '../directory/keys.ts';
import type { AdminCheck } from '../http/admin/authenticate.ts';
import { createHealthRouter, type Check, type HealthChecks } from '../http/health.ts';
import type { ReadFleet } from '../ops/status/fleet.ts';
import type { TargetQueue } from '../queue/worker.ts';
import { counted } from '../support/counted.ts';
import { oncePerTurn } from '../support/once-per-turn.ts';
import type { Target } from '../sync/target.ts';
import type { Parts } from './parts.ts';
import { outboxesOf } from './targets.ts';

/** A relay that has not read its outbox for this long is reported as stalled. */
const STALLED_RELAY_MS = 60_000;

/** Returns a fault of Redis or of the fleet with its advice, as one text. */
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
  // `/readyz` needs no token, and each check writes to Redis. So all requests of one turn share one check.
  const store = oncePerTurn(async (): Promise<Check> => {
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
  // Reports what an operator should know of a target; always `ok`, because a platform that fails is no fault of the process.
  const targetCheck = async (name: string): Promise<Check> => {
    const outboxes = [...outboxesOf(states, name).values()];
    const backlogs = await Promise.all(outboxes.map((outbox) => outbox.backlog()));
    const dirty = total(backlogs.map((backlog) => backlog.dirty));
    const inflight = total(backlogs.map((backlog) => backlog.inflight));
    const blocked = total(backlogs.map((backlog) => backlog.blocked));
    const held = total(backlogs.flatMap((backlog) => Object.values(backlog.held)));
    const exceptions = addExceptionCounts(backlogs.map((backlog) => backlog.exceptions));
    const stores = states.flatMap(({ runs }) => runs.get(name) ?? []);
    const runs = await Promise.all(stores.map((each) => each.read()));
    const coverages = runs.flatMap(({ last }) => last?.coverage ?? []);
    const missing = total(coverages.map(({ users, groups }) => users.missing + groups.missing));
    const conflicts = total(runs.map(({ last }) => last?.conflicts?.count ?? 0));
    const moved = await Promise.all(outboxes.map((outbox) => outbox.hasMoved()));
    const successes = runs.flatMap(({ lastSuccessAt }) => lastSuccessAt ?? []);
    // Several connections may feed the target: the oldest of their last successful reconciles counts.
    const reconcileAgeMs = successes.length === 0 ? null : clock.now() - Math.min(...successes);
    const breaker = (await targets.get(name)?.breaker.read()) ?? { open: false };
    const findings: string[] = [];
    if (breaker.open) {
      // The advice about a refused key has a finding of its own, because it is given before the breaker opens.
      const advice = isKeyRefused(breaker) ? undefined : failureAdvice(name, { status: breaker.status ?? 0 });
      findings.push(
        `calls fail (${answerWords(breaker.status)}): only probes are sent${advice === undefined ? '' : `; ${advice}`}`,
      );
    }
    if (isKeyRefused(breaker)) {
      // `isKeyRefused` is true for status 401 only.
      const refusal = breakerWords({ ...breaker, status: 401 });
      findings.push(`the platform ${refusal}: ${newKeyAdvice(name, breaker)}`);
    }
    if (blocked > 0) findings.push(`${counted(blocked, 'dead letter')}: see scim-bridge dead-letters list`);
    if (held > 0)
      findings.push(`the guard holds ${counted(held, 'removal')}: see scim-bridge approvals list`);
    if (exceptions.total > 0) findings.push(`${exceptionTotalText(exceptions)}: see scim-bridge exceptions`);
    if (conflicts > 0) {
      findings.push(`${counted(conflicts, 'conflict')} since the last reconcile: see scim-bridge plan`);
    }
    if (moved.some(Boolean)) findings.push('the address changed: nothing is written before a reconcile');
    if (missing > 0) {
      findings.push(`${missing} desired users or groups are missing since the last reconcile`);
    }
    const holds = await Promise.all(outboxes.map(({ guardStore }) => guardStore.onHold()));
    const onHold = holds
      .flatMap((hold) => hold ?? [])
      .map((hold) => {
        const by = isTenantHold(hold)
          ? 'reconcile, because the target may be another tenant'
          : hold.by === OLDER_DATA_HOLDER
            ? 'scim-bridge, because Redis came back with older data'
            : 'order of an operator';
        return `on hold by ${by}: ${holdAdvice(name, hold)}`;
      });
    // Each connection has its own hold of the target; equal sentences are told once.
    findings.push(...new Set(onHold));
    return {
      ok: true,
      findings,
      dirty,
      inflight,
      blocked,
      held,
      exceptions,
      missing,
      reconcileAgeMs,
      breaker,
    };
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
    isStopping() ? { ok: false, findings: ['the process is stopping'] } : store();
  const checks: HealthChecks = {
    live,
    ready,
    detail: async () => {
      const health = { process: live(), store: await ready() };
      // Redis may answer reads although a check of the store fails, such as the check of its eviction policy.
      const stored = Promise.all(
        [
          { name: 'data', check: dataCheck },
          { name: 'fleet', check: fleetCheck },
          ...Object.keys(config.targets).map((name) => ({
            name: `target ${name}`,
            check: () => targetCheck(name),
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

function total(numbers: number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
