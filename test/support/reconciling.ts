// Opens reconcile scopes as the commands do, and changes accounts at the platform.
import { openScopes } from '../../src/app/open.ts';
import type { RunReport } from '../../src/directory/outbox/runs.ts';
import { makePlan } from '../../src/reconcile/plan/make-plan.ts';
import type { Plan } from '../../src/reconcile/plan.ts';
import { reconcile } from '../../src/reconcile/apply/run.ts';
import type { ScheduledScope } from '../../src/reconcile/apply/schedule.ts';
import type { PlanEntry } from '../../src/reconcile/entry.ts';
import { randomIds, systemClock } from '../../src/support/sources.ts';
import { silentLogger } from '../../src/support/logger.ts';
import type { Bridge } from './build-bridge.ts';
import { eventually } from './eventually.ts';
import { send } from './send.ts';

export interface Reconciling {
  scopes: ScheduledScope[];
  /** @param options.at the target, if there are several */
  plan(options?: { full?: boolean; at?: string }): Promise<Plan>;
  /** Runs one reconcile that repairs. */
  run(options?: {
    repair?: boolean;
    full?: boolean;
    at?: string;
    acceptTenant?: boolean;
    confirm?: (plan: Plan) => Promise<boolean>;
  }): Promise<{ report: RunReport; plan?: Plan }>;
  /** Waits until no change is pending. */
  untilSynced(): Promise<void>;
  /** Calls the platform as somebody else. */
  meddle(method: string, path: string, body?: object, key?: string): Promise<any>;
  stop(): Promise<void>;
}

const deps = { logger: silentLogger, clock: systemClock, ids: randomIds, random: Math.random };

export async function openReconciling(bridge: Bridge, config = bridge.config): Promise<Reconciling> {
  const { scopes, stop } = await openScopes(config, deps);
  const first = (at?: string): ScheduledScope => {
    const [found] = scopes.filter(({ scope }) => at === undefined || scope.target.name === at);
    if (!found) throw new Error('no scope');
    return found;
  };
  const signal = new AbortController().signal;
  const common = () => ({ id: randomIds.request(), signal, readTrail: first().readTrail });
  return {
    scopes,
    plan: async ({ at, ...options } = {}) =>
      (await makePlan(first(at).scope, { ...common(), ...options })).plan,
    run: ({ repair = true, full = false, at, acceptTenant = false, confirm } = {}) =>
      reconcile(first(at).scope, {
        ...common(),
        repair,
        full,
        acceptTenant,
        confirm,
        guard: first(at).guard,
        logger: silentLogger,
      }),
    untilSynced: async () => {
      await eventually(
        'nothing is dirty',
        async () => {
          const { dirty, inflight } = await first().scope.outbox.backlog();
          return dirty === 0 && inflight === 0;
        },
        60_000,
      );
    },
    meddle: async (method, path, body, key = bridge.sandbox.ready.fixtures.apiKeys.admin) => {
      const answer = await send(bridge.sandbox.ready.platformUrl, method, path, {
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      });
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.body;
    },
    stop,
  };
}

export const scimPatch = (...Operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
});

/** Returns the compared parts of a plan entry in one line. */
export const brief = ({ action, name, attribute, member, attribution, effect }: PlanEntry): string =>
  [
    action,
    name,
    attribute ?? member?.name ?? '',
    attribution.cause,
    ...(effect === 'report' ? ['report'] : []),
  ]
    .filter((part) => part !== '')
    .join(' | ');
