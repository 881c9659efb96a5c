// Tests the failover of one primary of a Redis Cluster during pushes.
import { buildBridge, TOKEN, type Bridge } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { refusedWrongly, startPushLoad } from '../../support/push-load.ts';
import { startCluster, type RedisCluster } from '../../support/redis-servers.ts';

/** The primary with the desired state of the connection `default`; its loss would lose acknowledged changes. */
const DESIRED = '{default}';
const PER_SECOND = 25;

let cluster: RedisCluster | undefined;
let bridge: Bridge | undefined;
beforeAll(async () => {
  cluster = await startCluster({ replicaOf: DESIRED });
  const { addresses } = cluster;
  bridge = await buildBridge({ configure: (config) => (config.redis.cluster = addresses) });
}, 90_000);
afterAll(async () => {
  await bridge?.stop();
  await cluster?.stop();
});

test('when a Redis Cluster loses a primary under load, pushes get 503 for a while, and every acknowledged user is created exactly once', async () => {
  if (!bridge || !cluster) throw new Error('not started');
  const { idp, platform } = bridge;
  const load = startPushLoad({ prefix: 'c', token: TOKEN, perSecond: PER_SECOND, next: () => idp.baseUrl });
  await eventually('pushes are taken', () => load.stored.length >= PER_SECOND, 30_000);
  const servers = cluster;
  const primary = await servers.holderOf(DESIRED);
  const untilLost = load.stored.length;
  await primary.kill();
  await eventually(
    'the replica has its place',
    async () => (await servers.holderOf(DESIRED)) !== primary,
    30_000,
  );
  const before = load.stored.length;
  await eventually('pushes are taken again', () => load.stored.length >= before + PER_SECOND, 60_000);
  await load.stop();
  const unexpected = bridge.logs.filter((line) => line.includes('request failed unexpectedly'));
  expect([unexpected, load.broken, refusedWrongly(load)]).toEqual([[], [], []]);
  const known = await Promise.all(
    load.stored.map((name) =>
      idp.send('GET', `/Users?filter=${encodeURIComponent(`userName eq "${name}"`)}`),
    ),
  );
  expect(known.map(({ body }) => body.totalResults as number)).toEqual(load.stored.map(() => 1));
  const arePlatformUsers = async (wanted: string[]): Promise<true> => {
    const { users } = await platform.state();
    const active = new Set(users.filter((user) => user.active).map(({ userName }) => userName));
    const missing = wanted.filter((name) => !active.has(name));
    if (missing.length > 0) throw new Error(`${missing.length} are missing, such as ${missing[0]}`);
    return true;
  };
  // Workers fetch jobs again without a restart.
  const later = load.stored.slice(untilLost);
  await eventually('whoever was pushed afterwards is active', () => arePlatformUsers(later), 60_000);
  await eventually('everybody is active', () => arePlatformUsers(load.stored), 60_000);
  const names = (await platform.writes())
    .filter(({ method, path, status }) => method === 'POST' && path.endsWith('/Users') && status < 300)
    .map(({ body }) => body.userName as string);
  expect(names.length).toBe(new Set(names).size);
}, 200_000);
