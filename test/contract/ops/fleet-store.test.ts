// Tests the beats of processes on real Redis: silent, forgotten, replaced, stopped, too many, and two versions.
import {
  createFleetStore,
  FORGET_MS,
  SILENT_MS,
  type FleetStore,
  type ProcessFacts,
} from '../../../src/directory/fleet/fleet-store.ts';
import { createKeyspace } from '../../../src/directory/keys.ts';
import { openStore, type Store } from '../lua/rig.ts';

let store: Store;
let fleet: FleetStore;
let keys: ReturnType<typeof createKeyspace>;
beforeEach(async () => {
  store = await openStore();
  fleet = createFleetStore(store, store);
  keys = createKeyspace(store.prefix, 'bridge.fleet');
});
afterEach(async () => {
  await store.redis.del(['processes', 'lastBeats', 'versionsDifferSince'].map((family) => keys.key(family)));
  await store.close();
});

const facts = (role: ProcessFacts['role'], change: Partial<ProcessFacts> = {}): ProcessFacts => ({
  role,
  version: '1.0.0',
  host: `host-${role}`,
  port: 8080,
  pid: 42,
  startedAt: 1_700_000_000_000,
  sentAt: 1_700_000_000_000,
  ...change,
});
/** Moves the last beat of a process into the past; it is stored as `<Unix milliseconds> <facts as JSON>`. */
async function age(id: string, ms: number): Promise<void> {
  const text = (await store.redis.hget(keys.key('processes'), id)) ?? '';
  const [at = '', ...rest] = text.split(' ');
  await store.redis.hset(keys.key('processes'), id, `${Number(at) - ms} ${rest.join(' ')}`);
}
const ids = async () =>
  (await fleet.read()).processes.map(({ id, silent }) => (silent ? `${id} silent` : id));

test('a process is listed with role, host and version from its first heartbeat until it leaves', async () => {
  await fleet.beat('w1', facts('worker'));
  const { processes, now, lastBeats } = await fleet.read();
  expect(processes).toEqual([
    {
      id: 'w1',
      ...facts('worker'),
      silent: false,
      lastBeatAt: expect.any(Number),
      beatAgeMs: expect.any(Number),
    },
  ]);
  expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
  expect(Object.keys(lastBeats)).toEqual(['worker']);
  await fleet.leave('w1');
  const after = await fleet.read();
  expect(after.processes).toEqual([]);
  expect(after.lastBeats.worker).toMatchObject({ host: 'host-worker', version: '1.0.0' });
});

test('the heartbeat of a process of role all counts as the last heartbeat of the roles api, scheduler and worker', async () => {
  await fleet.beat('a1', facts('all'));
  expect(Object.keys((await fleet.read()).lastBeats).sort()).toEqual(['api', 'scheduler', 'worker']);
});

test('a process whose heartbeats stop is listed as silent, and later removed', async () => {
  await fleet.beat('w1', facts('worker'));
  await fleet.beat('a1', facts('api'));
  await age('w1', SILENT_MS + 1000);
  expect(await ids()).toEqual(['a1', 'w1 silent']);
  await fleet.beat('w1', facts('worker'));
  expect(await ids()).toEqual(['a1', 'w1']);
  await age('w1', FORGET_MS + 1000);
  expect(await ids()).toEqual(['a1']);
  await fleet.beat('a1', facts('api'));
  expect(await store.redis.hkeys(keys.key('processes'))).toEqual(['a1']);
});

test('a new process replaces the silent one of the same host, port and role in the list; a silent process of another host stays', async () => {
  await fleet.beat('old', facts('worker'));
  await fleet.beat('elsewhere', facts('worker', { host: 'another' }));
  await fleet.beat('twin', facts('worker'));
  await age('old', SILENT_MS + 1000);
  await age('elsewhere', SILENT_MS + 1000);
  await fleet.beat('new', facts('worker'));
  await age('twin', SILENT_MS + 1000);
  // The killed process stays stored until the next beat of the new one removes it.
  expect((await ids()).sort()).toEqual(['elsewhere silent', 'new']);
  await fleet.beat('twin', facts('worker'));
  expect((await ids()).sort()).toEqual(['elsewhere silent', 'new', 'twin']);
});

test('versionsDifferSince is the time at which a second running version appeared, and null after a process of one version has left', async () => {
  const since = async () => (await fleet.read()).versionsDifferSince;
  await fleet.beat('a1', facts('api'));
  expect(await since()).toBeNull();
  await fleet.beat('w1', facts('worker', { version: '1.1.0' }));
  const first = await since();
  expect(first).toEqual(expect.any(Number));
  await new Promise((resolve) => setTimeout(resolve, 20));
  await fleet.beat('a1', facts('api'));
  expect(await since()).toBe(first);
  await fleet.leave('a1');
  await fleet.beat('w1', facts('worker', { version: '1.1.0' }));
  expect(await since()).toBeNull();
});

test('at most 200 processes are stored, and heartbeats of a stored process are still accepted when the list is full', async () => {
  for (let index = 0; index < 203; index++) await fleet.beat(`p${index}`, facts('api', { port: index }));
  expect((await fleet.read()).processes).toHaveLength(200);
  await age('p0', SILENT_MS + 1000);
  await fleet.beat('p0', facts('api', { port: 0 }));
  expect(await ids()).toContain('p0');
  expect(await ids()).not.toContain('p0 silent');
  await fleet.beat('late', facts('worker'));
  expect(await ids()).not.toContain('late');
  // The role of a process beyond the limit is recorded, and the process is stored when another one is removed.
  expect((await fleet.read()).lastBeats.worker).toBeDefined();
  for (let index = 0; index < 200; index++) await age(`p${index}`, FORGET_MS + 1000);
  await fleet.beat('late', facts('worker'));
  expect(await ids()).toEqual(['late']);
});
