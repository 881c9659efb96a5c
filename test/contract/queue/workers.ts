// Runs the real sync one platform call at a time, so that a test can make changes in between.
import { randomUUID } from 'node:crypto';
import { createRecentExternalIds } from '../../../src/directory/resources/recent-external-ids.ts';
import { PRIORITY_SPAN, type Ref } from '../../../src/directory/records.ts';
import type { Outbox } from '../../../src/directory/outbox/outbox.ts';
import type { GuardSettings } from '../../../src/guard/judge.ts';
import { userResourceType } from '../../../src/scim/index.ts';
import type { Clock } from '../../../src/support/sources.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { createAdministrators } from '../../../src/sync/user/administrators.ts';
import { createAnswering } from '../../../src/sync/calls/answering.ts';
import { createCatalogue } from '../../../src/sync/mapping/catalogue.ts';
import { createMissingIds } from '../../../src/sync/calls/missing-ids.ts';
import { createListedAccounts } from '../../../src/sync/user/listed-accounts.ts';
import { compileMapping, type MappingRules } from '../../../src/sync/mapping/mapping.ts';
import { syncResource } from '../../../src/sync/sync-resource.ts';
import type { SyncPolicy, Target } from '../../../src/sync/target.ts';
import { openStore, type Store } from '../lua/rig.ts';
import {
  Crash,
  createFakePlatform,
  type FakePlatform,
  type CallOutcome,
  type Gate,
} from './fake-platform.ts';

export const RULES: MappingRules = {
  users: { scope: 'true' },
  groups: { include: ['.*'], exclude: ['^hidden'], rename: [] },
  attributes: {
    title: { type: 'string', from: 'title', onEmpty: 'clear' },
    teams: { type: 'string_array', expression: '$sort(groups.display)', onEmpty: 'clear' },
  },
};

const ALL = { count: 1_000_000, percent: 100 };
/** Guard settings that allow every change of these tests. */
export const GENEROUS: GuardSettings = {
  windowMs: 86_400_000,
  deactivate: ALL,
  delete: ALL,
  removeMembers: ALL,
  clearAttributes: ALL,
};

export interface Worker {
  /** Claims one ref and runs its sync up to the first platform call; returns nothing when no mark is due. */
  start(): Promise<Ref | undefined>;
  /** Ends the waiting platform call with this outcome and runs up to the next call; returns whether the sync still runs. */
  advance(outcome?: CallOutcome): Promise<boolean>;
  busy(): boolean;
}

export interface SyncFixture {
  store: Store;
  platform: FakePlatform;
  workers: Worker[];
  /** Makes waiting syncs due and expires lost jobs and leases. */
  hurry(): Promise<void>;
  /** Runs without faults until no mark is left. @returns the number of rounds */
  drain(limit?: number): Promise<number>;
  close(): Promise<void>;
}

/** Opens a directory on real Redis, a platform in memory, and two workers for the target `main`. */
export async function openFixture(
  policy: Partial<SyncPolicy> = {},
  rules: MappingRules = RULES,
): Promise<SyncFixture> {
  const userType = userResourceType({ userAttributes: [] });
  const mapping = compileMapping(rules, userType);
  const store = await openStore({
    rulesReadGroups: mapping.rulesReadGroups,
    leaseMs: 60_000,
    uniqueExternalIds: true,
  });
  let passedMs = 0;
  const clock: Clock = { now: () => Date.now() + passedMs, sleep: () => Promise.resolve() };
  const platform = createFakePlatform(() => clock.now());
  const settings: SyncPolicy = {
    policy: 'sync',
    adopt: 'exact',
    users: { deprovision: 'deactivate', activation: 'safe', protected: [], deleteAfterDays: null },
    groups: { members: 'owned' },
    guard: GENEROUS,
    groupsRolesMap: {},
    ...policy,
  };
  // The list belongs to the process and outlives a crashed sync.
  const listedAccounts = createListedAccounts({
    client: platform.client(() => Promise.resolve('ok')),
    clock,
  });
  const listing = platform.client(() => Promise.resolve('ok'));
  const missing = {
    users: createMissingIds((range, call) => listing.users.list(range, call), clock),
    groups: createMissingIds((range, call) => listing.groups.list(range, call), clock),
  };
  const recentExternalIds = createRecentExternalIds(store, { prefix: randomUUID(), target: 'main' });
  const targetOf = (gate: Gate): Target => {
    const client = platform.client(gate);
    const budget = {
      take: () => Promise.resolve(0),
      pause: () => Promise.resolve(),
      tryKey: () => Promise.resolve(),
    };
    return {
      name: 'main',
      policy: settings,
      client,
      mapping,
      budget,
      breaker: { read: () => Promise.resolve({ open: false }), close: () => Promise.resolve() },
      serviceBreaker: { read: () => Promise.resolve({ open: false }) },
      answering: createAnswering(clock),
      concurrency: () => 8,
      work: { read: () => ({ calls: 0, delayed: 0, waiting: 0, queued: 0, busy: 0 }) },
      listedAccounts,
      missing,
      recentExternalIds,
      lacks: { externalIdFilter: false, combinedPatchUntil: 0, userList: false },
      catalogue: createCatalogue({ client, clock, key: () => 'key' }, mapping.types),
      administrators: createAdministrators(clock),
    };
  };
  const { directory, links } = store.state;
  const { outbox } = store;
  const run = async (gate: Gate, ref: Ref): Promise<void> => {
    const deps = {
      target: targetOf(gate),
      directory,
      links,
      outbox,
      handovers: { heads: () => Promise.resolve(new Map()) },
      clock,
      logger: silentLogger,
      random: () => 0.5,
    };
    try {
      await syncResource(deps, ref, 'edit', new AbortController().signal);
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
  };
  const hurry = async (): Promise<void> => {
    // Ends the waits that a sync measures by this clock, such as COALESCE_LIMIT_MS.
    passedMs += 20_000;
    await passTime(store);
  };
  const workers = [createWorker(outbox, run), createWorker(outbox, run)];

  async function drain(limit = 60): Promise<number> {
    // Ends the syncs that are half done.
    for (const worker of workers) while (worker.busy()) await worker.advance();
    for (let round = 0; round < limit; round++) {
      if ((await store.marks()).size === 0) return round;
      await hurry();
      for (const { ref } of await outbox.claim(100, 1000)) await run(() => Promise.resolve('ok'), ref);
    }
    throw new Error(`not equal after ${limit} rounds: ${[...(await store.marks()).keys()].join(', ')}`);
  }

  return { store, platform, workers, hurry, drain, close: () => store.close() };
}

/** Creates a worker whose sync waits before each platform call (`gate`) until `advance`. */
function createWorker(outbox: Outbox, run: (gate: Gate, ref: Ref) => Promise<void>): Worker {
  let release: ((outcome: CallOutcome) => void) | undefined;
  let running: Promise<'ended'> | undefined;
  let reached = (_gate: 'gate'): void => undefined;
  let atGate = new Promise<'gate'>((resolve) => (reached = resolve));
  const gate: Gate = () =>
    new Promise<CallOutcome>((resolve) => {
      release = resolve;
      reached('gate');
    });
  /** Waits for the next platform call or the end of the sync. @returns whether the sync still runs */
  const untilNext = async (): Promise<boolean> => {
    if (!running) return false;
    if ((await Promise.race([atGate, running])) === 'ended') running = undefined;
    return running !== undefined;
  };
  return {
    busy: () => running !== undefined,
    start: async () => {
      if (running) return undefined;
      const [claim] = await outbox.claim(1, 1000);
      if (!claim) return undefined;
      atGate = new Promise<'gate'>((resolve) => (reached = resolve));
      running = run(gate, claim.ref).then(() => 'ended' as const);
      await untilNext();
      return claim.ref;
    },
    advance: async (outcome = 'ok') => {
      if (!running) return false;
      atGate = new Promise<'gate'>((resolve) => (reached = resolve));
      release?.(outcome);
      return untilNext();
    },
  };
}

/** Makes all marks due (PRIORITY_SPAN explains the scores), and treats every job and worker under way as lost. */
async function passTime({ redis, keys }: Store): Promise<void> {
  const dirty = await redis.zrange(keys.key('dirty', 'main'), '0', '-1', 'WITHSCORES');
  for (let index = 0; index + 1 < dirty.length; index += 2) {
    const [ref = '', score] = dirty.slice(index, index + 2);
    const priority = Math.floor(Number(score) / PRIORITY_SPAN);
    await redis.zadd(keys.key('dirty', 'main'), priority * PRIORITY_SPAN + 1, ref);
  }
  for (const ref of await redis.zrange(keys.key('inflight', 'main'), '0', '-1')) {
    await redis.zadd(keys.key('inflight', 'main'), 1, ref);
    await redis.del(keys.key('lease', `main:${ref}`));
  }
}
