// Causes the situation of every alert and checks the metrics that the alert's expression reads. The expressions
// themselves are tested in test/unit/helm/alerts.test.ts.
import { startLocalRedis, freePort, type LocalRedis } from '../../src/demo/local-redis.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { askHealth, targetHealth } from '../support/health.ts';
import { createIdp } from '../support/idp.ts';
import { openReconciling, scimPatch } from '../support/reconciling.ts';
import { scrape, type Scrape } from '../support/scrape.ts';
import { createScenario } from '../support/scenario.ts';

const MAIN = { target: 'main' };
/** Scrapes within a second share one read of Redis. */
const FRESH_MS = 1100;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the first scrape for which the condition is true. */
const until = (bridge: Bridge, what: string, isSo: (now: Scrape) => boolean, limitMs = 15_000) =>
  eventually(
    what,
    async () => {
      const now = await scrape(bridge.app.port);
      return isSo(now) ? now : undefined;
    },
    limitMs,
  );

const faults = (bridge: Bridge, body: object) => bridge.platform.control('PATCH', '/faults', body);
const untilSynced = async (bridge: Bridge) => {
  await pause(FRESH_MS);
  await until(bridge, 'all applied', (now) => now.value('bridge_outbox_dirty', MAIN) === 0, 40_000);
};

const atThePlatform = createScenario(
  () =>
    buildBridge({
      configure: (config) => {
        config.reconcile.schedule = null;
        const { main } = config.targets;
        if (!main) throw new Error('no target');
        main.guard.deactivate = { count: 1, percent: 100 };
      },
    }),
  (bridge) => bridge.stop(),
);
/** After a refused API key the target pauses for 15 s, so this test has its own bridge. */
const withRevokedKey = createScenario(buildBridge, (bridge) => bridge.stop());

interface Inbound {
  bridge: Bridge;
  redis: LocalRedis;
  /** Options that restart the server with the same data. */
  place: { folder: string; port: number };
}

const inbound = createScenario<Inbound>(
  async () => {
    const place = { folder: mkdtempSync(join(tmpdir(), 'scim-bridge-alerts-')), port: await freePort() };
    const redis = await startLocalRedis({ env: {}, ...place });
    const bridge = await buildBridge({
      configure: (config) => {
        config.redis.url = redis.url;
        config.reconcile.schedule = null;
        const [token] = config.connections.default?.tokens ?? [];
        if (token) token.expiresAt = new Date(Date.now() + 3 * 86_400_000).toISOString();
      },
    });
    await until(bridge, 'Redis is there', (now) => now.value('bridge_redis_up') === 1);
    return { bridge, redis, place };
  },
  async ({ bridge, redis, place }) => {
    await bridge.stop();
    await redis.stop();
    rmSync(place.folder, { recursive: true, force: true });
  },
);

describe('alerts about the platform', () => {
  const test = atThePlatform;
  test('while the platform answers 5xx, the metrics behind ScimBridgeBreakerOpen, ScimBridgePlatformErrors and ScimBridgeOldestChange rise', async (bridge) => {
    // The process learns the owner of the key with the first account; until then all new users wait for one read.
    await bridge.idp.createUser('early@acme.example');
    await until(bridge, 'applied', (now) => now.value('bridge_outbox_dirty', MAIN) === 0);
    await faults(bridge, { status5xx: { share: 1 } });
    for (let n = 0; n < 4; n++) await bridge.idp.createUser(`late${n}@acme.example`);
    const broken = await until(
      bridge,
      'the breaker is open and the oldest change grows old',
      (now) =>
        now.value('bridge_breaker_open', MAIN) === 1 && now.value('bridge_outbox_oldest_seconds', MAIN) > 1,
    );
    expect(broken.sum('bridge_platform_requests_total', { ...MAIN, status: '503' })).toBeGreaterThanOrEqual(
      5,
    );
    expect((await targetHealth(bridge)).breaker).toMatchObject({ open: true, status: 503 });
    expect((await fetch(`http://127.0.0.1:${bridge.app.port}/readyz`)).status).toBe(200);

    // An open breaker sends only probes; otherwise four users would be tried again and again.
    const seen = broken.sum('bridge_platform_requests_total', MAIN);
    await pause(2000);
    const later = await scrape(bridge.app.port);
    expect(later.sum('bridge_platform_requests_total', MAIN) - seen).toBeLessThanOrEqual(3);

    await faults(bridge, {});
    const back = await until(
      bridge,
      'applied',
      (now) => now.value('bridge_outbox_dirty', MAIN) === 0,
      30_000,
    );
    expect(back.value('bridge_breaker_open', MAIN)).toBe(0);
    expect(back.value('bridge_outbox_oldest_seconds', MAIN)).toBe(0);
    // ScimBridgeLag, ScimBridgeDeactivationLag: every lag above one second exceeds the bound of this test.
    const lag = { ...MAIN, priority: 'new' };
    const slow =
      back.sum('bridge_sync_lag_seconds_count', lag) -
      back.value('bridge_sync_lag_seconds_bucket', { ...lag, le: '1' });
    expect(slow).toBeGreaterThanOrEqual(4);
    // The wait is as long as the calls that ran when the breaker opened, so only its presence is checked.
    expect(back.sum('bridge_rate_wait_seconds_sum', MAIN)).toBeGreaterThan(0);
  }, 60_000);

  withRevokedKey(
    'the platform key is revoked → the metric behind ScimBridgePlatformRefusesKey counts answers 401, a change waits, and there is no dead letter',
    async (bridge) => {
      await faults(bridge, { status5xx: { share: 1, status: 401 } });
      const before = (await scrape(bridge.app.port)).sum('bridge_platform_requests_total', { status: '401' });
      await bridge.idp.createUser('locked-out@acme.example');
      const after = await until(
        bridge,
        'calls are refused, and somebody waits',
        (now) =>
          now.sum('bridge_platform_requests_total', { status: '401' }) > before &&
          now.value('bridge_outbox_dirty', MAIN) === 1,
      );
      // No user becomes a dead letter because of the outage.
      expect(after.value('bridge_dead_letters', MAIN)).toBe(0);
      await faults(bridge, {});
      await untilSynced(bridge);
    },
    60_000,
  );

  test('the platform refuses a group for good → bridge_dead_letters, the metric behind ScimBridgeDeadLetters, is 1', async (bridge) => {
    await bridge.idp.createGroup('system:all', [await bridge.idp.createUser('free@acme.example')]);
    const now = await until(
      bridge,
      'one needs a person',
      (each) => each.value('bridge_dead_letters', MAIN) === 1,
    );
    const refused = { ...MAIN, resource: 'group', operation: 'create group', outcome: 'refused' };
    expect(now.sum('bridge_sync_operations_total', refused)).toBeGreaterThan(0);
  });

  test('more users leave than the guard allows → bridge_guard_held, the metric behind ScimBridgeGuardHeld, counts at least two held deactivations', async (bridge) => {
    const { idp } = bridge;
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await idp.createUser(`leaver${n}@acme.example`));
    await untilSynced(bridge);
    for (const id of ids) await idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    const now = await until(
      bridge,
      'all but one are held, or all',
      (each) => each.value('bridge_guard_held', { ...MAIN, kind: 'deactivate' }) >= 2,
    );
    expect(now.value('bridge_guard_held', { ...MAIN, kind: 'delete' })).toBe(0);
  }, 30_000);

  test('an operator orders `hold` → the metric behind ScimBridgeHoldForgotten grows with the age of the hold, and is 0 after the release', async (bridge) => {
    const { states, redis: direct } = (await import('../../src/app/open.ts')).openDesiredStates(
      bridge.config,
    );
    await eventually('connected', () => direct.status === 'ready');
    const ON_HOLD = { ...MAIN, reason: 'OnHold' };
    const guard = states[0]?.outboxes.get('main')?.guardStore;
    expect(await guard?.hold('alice', 'upgrade')).toBe(true);
    await until(
      bridge,
      'the hold grows old',
      (now) => now.value('bridge_exceptions_oldest_seconds', ON_HOLD) > 1,
    );
    expect(await guard?.release()).toBe(true);
    direct.disconnect();
    await until(
      bridge,
      'the hold has ended',
      (now) => now.value('bridge_exceptions_oldest_seconds', ON_HOLD) === 0,
    );
  }, 30_000);

  test('an account is renamed at the platform and two reconciles fail → the metrics show one drifted account, one write and two failed runs', async (bridge) => {
    await untilSynced(bridge);
    const rec = await openReconciling(bridge);
    try {
      const before = await scrape(bridge.app.port);
      expect(before.value('bridge_reconcile_last_success_timestamp_seconds', MAIN)).toBe(0);
      const id = (await bridge.platform.user('late0@acme.example'))?.scimId ?? '';
      const rename = scimPatch({ op: 'replace', path: 'displayName', value: 'Somebody else' });
      await rec.meddle('PATCH', `/api/scim/v2/Users/${id}`, rename);
      await rec.run();
      const found = await until(
        bridge,
        'the drift is shown',
        (now) => now.sum('bridge_drift', { ...MAIN, kind: 'update', attribution: 'platform changed' }) === 1,
      );
      const age = Date.now() / 1000 - found.value('bridge_reconcile_last_success_timestamp_seconds', MAIN);
      expect(Math.abs(age)).toBeLessThan(60);
      expect(found.value('bridge_reconcile_duration_seconds', MAIN)).toBeGreaterThan(0);
      const writes = (now: Scrape): number =>
        now.sum('bridge_reconcile_writes_total', { ...MAIN, kind: 'update' });
      expect(writes(found) - writes(before)).toBe(1);

      // ScimBridgeReconcileFails counts the runs that could not read everything.
      await faults(bridge, {
        rules: [{ method: 'GET', path: '/scim/v2/Users', status5xx: { share: 1, status: 400 } }],
      });
      for (let run = 0; run < 2; run++) await rec.run().catch(() => undefined);
      await until(bridge, 'two runs failed', (now) => now.value('bridge_reconcile_failures', MAIN) === 2);
      await faults(bridge, {});

      await rec.run();
      const quiet = await until(
        bridge,
        'a run compared everything',
        (now) => now.value('bridge_reconcile_failures', MAIN) === 0,
      );
      expect(quiet.sum('bridge_drift', MAIN)).toBe(0);
      expect(writes(quiet)).toBe(writes(found));
    } finally {
      await rec.stop();
    }
  }, 60_000);

  test('a change waits and no worker runs → bridge_outbox_dirty is 1 and bridge_worker_last_fetch_timestamp_seconds has no sample (ScimBridgeNoWorker)', async () => {
    const lonely = await buildBridge({
      role: 'api',
      configure: (config) => void (config.reconcile.schedule = null),
    });
    try {
      await lonely.idp.createUser('waits@acme.example');
      const now = await until(lonely, 'one waits', (each) => each.value('bridge_outbox_dirty', MAIN) === 1);
      expect(now.find('bridge_worker_last_fetch_timestamp_seconds')).toEqual([]);
    } finally {
      await lonely.stop();
    }
  });
});

describe('alerts about identity providers and Redis', () => {
  const test = inbound;
  test('a token has three days left → the expiry metric behind ScimBridgeTokenExpires and ScimBridgeTokenExpiresSoon shows three days', async ({
    bridge,
  }) => {
    const now = await scrape(bridge.app.port);
    const left = now.value('bridge_token_expiry_timestamp_seconds', { token: 'primary' }) - Date.now() / 1000;
    expect(left / 86_400).toBeGreaterThan(2.9);
    expect(left / 86_400).toBeLessThanOrEqual(3);
  });

  test('an identity provider sends no requests → the request counter of its connection, which ScimBridgeNoPushes reads, does not increase', async ({
    bridge,
  }) => {
    await bridge.idp.send('GET', '/Users');
    const count = (now: Scrape): number => now.sum('bridge_http_requests_total', { connection: 'default' });
    const before = count(await scrape(bridge.app.port));
    expect(before).toBeGreaterThan(0);
    expect(count(await scrape(bridge.app.port))).toBe(before);
  });

  test('25 requests have an invalid token → the metrics behind ScimBridgeUnauthorized and ScimBridgeQuarantineRisk show 25 answers 401 and a risk above 0.4', async ({
    bridge,
  }) => {
    const stranger = createIdp(bridge.idp.baseUrl, `${TOKEN}-of-yesterday`);
    for (let n = 0; n < 25; n++) await stranger.send('GET', '/Users');
    const now = await scrape(bridge.app.port);
    expect(now.sum('bridge_http_requests_total', { connection: 'default', status: '401' })).toBe(25);
    expect(now.value('bridge_quarantine_risk', { connection: 'default' })).toBeGreaterThan(0.4);
  });

  test('the Redis address leads to a replica → bridge_redis_role, the metric behind ScimBridgeRedisNotPrimary, has the role slave and not master', async ({
    bridge,
  }) => {
    const { states, redis: direct } = (await import('../../src/app/open.ts')).openDesiredStates(
      bridge.config,
    );
    expect(states).toHaveLength(1);
    await eventually('connected', () => direct.status === 'ready');
    await direct.replicaof('127.0.0.1', await freePort());
    const now = await until(
      bridge,
      'it is a replica',
      (each) => each.sum('bridge_redis_role', { role: 'slave' }) === 1,
    );
    expect(now.value('bridge_redis_role', { role: 'master' })).toBe(0);
    await direct.replicaof('NO', 'ONE');
    direct.disconnect();
    await until(
      bridge,
      'it is the primary',
      (each) => each.sum('bridge_redis_role', { role: 'master' }) === 1,
    );
  }, 30_000);

  test('Redis nearly reaches maxmemory → the metrics behind ScimBridgeRedisMemory show more than 85 % used; without maxmemory the limit has no sample', async ({
    bridge,
  }) => {
    const { redis: direct } = (await import('../../src/app/open.ts')).openDesiredStates(bridge.config);
    await eventually('connected', () => direct.status === 'ready');
    const unlimited = await scrape(bridge.app.port);
    expect(unlimited.value('bridge_redis_memory_used_bytes')).toBeGreaterThan(100_000);
    expect(unlimited.find('bridge_redis_memory_limit_bytes')).toEqual([]);
    const limit = Math.ceil(unlimited.value('bridge_redis_memory_used_bytes') * 1.1);
    await direct.config('SET', 'maxmemory', limit);
    const now = await until(
      bridge,
      'the limit is shown',
      (each) => each.find('bridge_redis_memory_limit_bytes').length === 1,
    );
    await direct.config('SET', 'maxmemory', 0);
    direct.disconnect();
    expect(now.value('bridge_redis_memory_limit_bytes')).toBe(limit);
    expect(now.value('bridge_redis_memory_used_bytes') / limit).toBeGreaterThan(0.85);
  }, 30_000);

  test('Redis pauses for 1.5 s → the latency metrics behind ScimBridgeSlowAnswers and ScimBridgeRedisSlow show the delay', async ({
    bridge,
  }) => {
    const before = await scrape(bridge.app.port);
    await pause(FRESH_MS);
    const { redis: direct } = (await import('../../src/app/open.ts')).openDesiredStates(bridge.config);
    await eventually('connected', () => direct.status === 'ready');
    await direct.call('CLIENT', 'PAUSE', '1500', 'ALL');
    const [slow] = await Promise.all([scrape(bridge.app.port), bridge.idp.send('GET', '/Users')]);
    direct.disconnect();
    expect(slow.value('bridge_redis_latency_seconds')).toBeGreaterThan(0.5);
    const over = (now: Scrape): number => {
      const labels = { connection: 'default' };
      const all = now.value('bridge_http_request_seconds_count', labels);
      return all - now.value('bridge_http_request_seconds_bucket', { ...labels, le: '1' });
    };
    expect(over(await scrape(bridge.app.port)) - over(before)).toBe(1);
  }, 30_000);

  test('Redis is killed → the metrics behind ScimBridgeRedisDown and ScimBridgeInboundErrors rise, metrics read from Redis have no samples, and /health shows only process and store', async (context) => {
    const { bridge, redis, place } = context;
    redis.process?.kill('SIGKILL');
    const now = await until(bridge, 'Redis is away', (each) => each.value('bridge_redis_up') === 0);
    expect(now.find('bridge_outbox_dirty')).toEqual([]);
    expect(now.find('bridge_redis_latency_seconds')).toEqual([]);
    const health = await askHealth(bridge, '/health');
    expect([health.status, Object.keys(health.body.components)]).toEqual([200, ['process', 'store']]);
    expect((await bridge.idp.send('POST', '/Users', { userName: 'x@acme.example' })).status).toBe(503);
    const after = await scrape(bridge.app.port);
    expect(after.sum('bridge_http_requests_total', { operation: 'create', status: '503' })).toBe(1);
    context.redis = await startLocalRedis({ env: {}, ...place });
    await until(bridge, 'Redis is back', (each) => each.value('bridge_redis_up') === 1);
  }, 30_000);

  test('the last process has ended → its metrics address refuses connections, which ScimBridgeAbsent reports', async ({
    bridge,
  }) => {
    expect((await scrape(bridge.app.port)).find('bridge_redis_up')).toHaveLength(1);
    await bridge.app.stop();
    await expect(scrape(bridge.app.port)).rejects.toThrow(/ECONNREFUSED/);
  });
});
