// Builds the health endpoints: checks of store, targets, data and queues.
import { addExceptionCounts } from '../directory/outbox/exceptions.ts';
import { isKeyRefused } from '../directory/outbox/breaker.ts';
import { answerWords, breakerWords, newKeyAdvice } from '../reconcile/breaker-words.ts';
import { exceptionTotalText } from '../reconcile/exception-words.ts';
import { checkStore } from '../directory/redis/connection.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { createKeyspace } from '../directory/keys.ts';
import type { AdminCheck } from '../http/admin/authenticate.ts';
import { createHealthRouter, type Check, type HealthChecks } from '../http/health.ts';
import type { ReadFleet } from '../ops/fleet.ts';
import type { TargetQueue } from '../queue/target-queue.ts';
import { counted } from '../support/counted.ts';
import { oncePerTurn } from '../support/once-per-turn.ts';
import type { Target } from '../sync/target.ts';
import type { Parts } from './parts.ts';
import { outboxesOf } from './states.ts';

/** An outbox whose relay has not run for this long is reported as stuck. */
const STALLED_RELAY_MS = 60_000;

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
  // The address needs no token, and each check writes to Redis: a flood of requests shares it.
  const store = oncePerTurn(async (): Promise<Check> => ({
    ...(await checkStore(redis, {
      durability: config.redis.durability,
      probe: createKeyspace(config.redis.prefix, 'ready').key('probe'),
    })),
  }));
  const dataCheck = async (): Promise<Check> => {
    const last = await Promise.all(states.map(({ proof }) => proof.last()));
    const faults = last.reduce((sum, each) => sum + (each?.faults ?? 0), 0);
    const findings =
      faults > 0
        ? [`${faults} entries of derived data differ from the records: see scim-bridge doctor --deep`]
        : [];
    return { ok: true, findings, faults };
  };
  const targetCheck = async (name: string): Promise<Check> => {
    const outboxes = [...outboxesOf(states, name).values()];
    const backlogs = await Promise.all(outboxes.map((outbox) => outbox.backlog()));
    const [dirty, inflight, blocked] = (['dirty', 'inflight', 'blocked'] as const).map((part) =>
      backlogs.reduce((sum, backlog) => sum + backlog[part], 0),
    );
    const held = backlogs
      .flatMap((backlog) => Object.values(backlog.held))
      .reduce((sum, each) => sum + each, 0);
    const exceptions = addExceptionCounts(backlogs.map((backlog) => backlog.exceptions));
    const stores = states.flatMap(({ runs }) => runs.get(name) ?? []);
    const runs = await Promise.all(stores.map((each) => each.read()));
    const missing = runs
      .flatMap(({ last }) => (last?.coverage ? [last.coverage.users, last.coverage.groups] : []))
      .reduce((sum, coverage) => sum + coverage.missing, 0);
    const conflicts = runs.reduce((sum, { last }) => sum + (last?.conflicts?.count ?? 0), 0);
    const moved = await Promise.all(outboxes.map((outbox) => outbox.hasMoved()));
    const comparedAt = runs.flatMap(({ lastSuccessAt }) => lastSuccessAt ?? []);
    const reconcileAgeMs = comparedAt.length === 0 ? null : clock.now() - Math.min(...comparedAt);
    const breaker = (await targets.get(name)?.breaker.read()) ?? { open: false };
    const findings = [
      ...(breaker.open ? [`calls fail (${answerWords(breaker.status)}): only probes are sent`] : []),
      ...(isKeyRefused(breaker)
        ? [`the platform ${breakerWords({ ...breaker, status: 401 })}: ${newKeyAdvice(name, breaker)}`]
        : []),
      ...(blocked ? [`${counted(blocked, 'dead letter')}: see scim-bridge dead-letters list`] : []),
      ...(held > 0 ? [`the guard holds ${counted(held, 'removal')}: see scim-bridge approvals list`] : []),
      ...(exceptions.total > 0 ? [`${exceptionTotalText(exceptions)}: see scim-bridge exceptions`] : []),
      ...(conflicts > 0
        ? [`${counted(conflicts, 'conflict')} since the last reconcile: see scim-bridge plan`]
        : []),
      ...(moved.some(Boolean) ? ['the address changed: nothing is written before a reconcile'] : []),
      ...(missing > 0 ? [`${missing} desired users or groups are missing since the last reconcile`] : []),
      ...(backlogs.some(({ onHold }) => onHold)
        ? [`on hold by order of an operator: scim-bridge release --target ${name} ends it`]
        : []),
    ];
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
  const fleetCheck = async (): Promise<Check> => {
    const { processes, findings } = await readFleet();
    return {
      ok: findings.every(({ level }) => level !== 'error'),
      findings: findings.map(({ message, advice }) => `${message}. ${advice}`),
      processes,
    };
  };
  const live = (): Check => {
    const ages = [...queues].map(([name, queue]) => [name, clock.now() - queue.lastSweepAt()] as const);
    const stalled = ages.filter(([, age]) => age > STALLED_RELAY_MS);
    return {
      ok: stalled.length === 0,
      findings: stalled.map(([name]) => `target ${name}: outbox is not read any more`),
      lastFetchAgeMs: Object.fromEntries(ages),
    };
  };
  const ready = async (): Promise<Check> =>
    isStopping() ? { ok: false, findings: ['the process is stopping'] } : store();
  const checks: HealthChecks = {
    live,
    ready,
    detail: async () => {
      const health = { process: live(), store: await ready() };
      if (!health.store.ok) return health;
      const targetChecks = Object.keys(config.targets).map(
        async (name) => [`target ${name}`, await targetCheck(name)] as const,
      );
      return {
        ...health,
        data: await dataCheck(),
        fleet: await fleetCheck(),
        ...Object.fromEntries(await Promise.all(targetChecks)),
      };
    },
  };
  return createHealthRouter(parts, checks, checkAdmin);
}
