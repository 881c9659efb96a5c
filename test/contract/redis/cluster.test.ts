// Tests the bridge on a Redis Cluster: scripts, queue and notifications.
import { connectRedis, isStoreUnavailable, untilReady } from '../../../src/directory/redis/connection.ts';
import { createConfirmation } from '../../../src/directory/redis/replicas.ts';
import { systemClock } from '../../../src/support/sources.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { buildBridge, type Bridge } from '../../support/build-bridge.ts';
import { createCommands } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { askHealth } from '../../support/health.ts';
import { brief, openReconciling } from '../../support/reconciling.ts';
import { startCluster, type RedisCluster } from '../../support/redis-servers.ts';
import { settingsFor } from '../../support/settings.ts';

let cluster: RedisCluster;
let bridge: Bridge;
beforeAll(async () => {
  cluster = await startCluster();
  bridge = await buildBridge({
    configure: (config) => (config.redis.cluster = cluster.addresses.slice(0, 2)),
  });
  // The bridge starts without Redis too, and a busy machine may need longer than the bridge waits for the first
  // answer.
  await eventually('the bridge is ready', async () => (await ready()).status === 200);
}, 60_000);
afterAll(async () => {
  await bridge.stop();
  await cluster.stop();
});

const ready = () => askHealth(bridge, '/readyz');

test('users and groups are created, changed and deleted at the platform when Redis is a cluster of three nodes', async () => {
  const { idp, platform } = bridge;
  const ids = await Promise.all(
    Array.from({ length: 10 }, (_, index) => idp.createUser(`c${index}@acme.example`)),
  );
  const group = await idp.createGroup('clustered', ids);
  await eventually('all are members', async () => (await platform.group('clustered'))?.members.length === 10);
  await idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${ids[0]}"]` });
  await idp.patch(`/Users/${ids[0]}`, { op: 'replace', path: 'active', value: false });
  await idp.send('DELETE', `/Users/${ids[1]}`);
  await eventually('two have left', async () => {
    const [first, second] = [await platform.user('c0@acme.example'), await platform.user('c1@acme.example')];
    return (
      first?.active === false && !second?.active && (await platform.group('clustered'))?.members.length === 8
    );
  });
  const list = await idp.send('GET', '/Users?filter=userName%20eq%20%22c2%40acme.example%22');
  expect(list.body.totalResults).toBe(1);
  expect((await ready()).status).toBe(200);
});

test('in a Redis Cluster the keys of one connection, target or queue are on one node, and all keys on more than one', async () => {
  const readKeys = () => Promise.all(cluster.nodes.map(({ client }) => client.keys('*')));
  await eventually('the history has begun', async () =>
    (await readKeys()).flat().some((key) => key.includes('{bridge.history}')),
  );
  const keys = await readKeys();
  expect(keys.filter((some) => some.length > 0).length).toBeGreaterThan(1);
  const holders = new Map<string, Set<number>>();
  for (const [index, some] of keys.entries()) {
    for (const key of some) {
      const tag = /\{([^}]+)\}/.exec(key)?.[1] ?? `without a tag: ${key}`;
      holders.set(tag, (holders.get(tag) ?? new Set()).add(index));
    }
  }
  expect([...holders.keys()].sort()).toEqual([
    'bridge.fleet',
    'bridge.history',
    'default',
    'queue.main',
    'ready',
    'target.main',
  ]);
  for (const nodes of holders.values()) expect(nodes.size).toBe(1);
});

test('a WAIT that a cluster node answers with MOVED is treated as an unavailable store', async () => {
  const redis = connectRedis({ url: '', cluster: cluster.addresses }, 'commands', silentLogger);
  await untilReady(redis, 5000);
  const confirm = createConfirmation({ redis, clock: systemClock });
  // A connection to a node may still be opening when the cluster is ready.
  await eventually('a node confirms', () =>
    confirm('{default}').then(
      () => true,
      () => false,
    ),
  );
  // Shifts the client's slot map, as it is wrong while the cluster promotes another primary.
  const { slots } = redis as unknown as { slots: string[][] };
  const error = await eventually('a WAIT is redirected', async () => {
    // The client may refresh its map at any moment, so it is shifted again before each attempt.
    slots.unshift(...slots.splice(Math.ceil(slots.length / 3)));
    const caught: unknown = await createConfirmation({ redis, clock: systemClock })('{default}').catch(
      (fault: unknown) => fault,
    );
    // A connection that is being closed may fail before the redirection.
    return caught instanceof Error && caught.message.includes('MOVED') && caught;
  });
  expect(isStoreUnavailable(error)).toBe(true);
  redis.disconnect();
});

test('a reconcile finds and repairs drift when Redis is a cluster', async () => {
  const reconciling = await openReconciling(bridge);
  await reconciling.untilSynced();
  const user = await bridge.platform.user('c3@acme.example');
  await reconciling.meddle('PATCH', `/api/scim/v2/Users/${user?.scimId}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'displayName', value: 'Somebody else' }],
  });
  const { report, plan } = await reconciling.run();
  const { displayName } = (await bridge.platform.user('c3@acme.example')) ?? {};
  // If the test fails, these entries show whether the difference was not found or not written.
  expect({ outcome: report.outcome, displayName, seen: plan?.entries.map(brief) }).toMatchObject({
    outcome: 'converged',
    displayName: 'Jo c3@acme.example',
    seen: expect.arrayContaining([expect.stringContaining('c3@acme.example')]),
  });
  await reconciling.stop();
});

test('when one cluster node has an eviction policy, the bridge is not ready, and /readyz, doctor and status name the node and the fault', async () => {
  const [, , third] = cluster.nodes;
  await third?.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const { status, body } = await ready();
  expect(status).toBe(503);
  const fault = `:${third?.port}: Redis may evict keys (maxmemory-policy allkeys-lru)`;
  const advice = 'Set maxmemory-policy noeviction.';
  expect(body.findings).toEqual([expect.stringContaining(`${fault}. ${advice}`)]);
  // Settings have either `url` or `cluster`.
  const { url: _, ...redis } = bridge.config.redis;
  const commands = createCommands({ ...settingsFor(bridge.sandbox), redis });
  try {
    expect((await commands.run('doctor')).text).toContain(`${fault}. ${advice}`);
    expect((await commands.run('status')).text).toContain(`${fault}. ${advice} The runbook has this`);
  } finally {
    commands.remove();
  }
  const stranger = await fetch(`http://127.0.0.1:${bridge.app.port}/readyz`);
  expect([stranger.status, await stranger.json()]).toEqual([503, { ok: false }]);
  await third?.client.config('SET', 'maxmemory-policy', 'noeviction');
  expect((await ready()).status).toBe(200);
});
