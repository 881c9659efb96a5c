// Tests mass removals: the guard holds them until an approval, and other changes are applied.
import type { DestructiveKind, GuardLimit } from '../../src/guard/judge.ts';
import { openDesiredStates } from '../../src/app/open.ts';
import { untilReady } from '../../src/directory/redis/connection.ts';
import type { Outbox } from '../../src/directory/outbox/outbox.ts';
import type { GuardStore } from '../../src/directory/guard/guard-store.ts';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';

const ALL = { count: 1_000_000, percent: 100 };
const HOUR = 3_600_000;
const EXTENSION = 'urn:cube:params:1.0:UserAttribute';

describe('the guard of a target', () => {
  let bridge: Bridge;
  let guardStore: GuardStore;
  let outbox: Outbox;
  let redis: ReturnType<typeof openDesiredStates>['redis'];

  const open = async (
    limits: Partial<Record<DestructiveKind, GuardLimit>>,
    configure?: (users: any) => void,
  ) => {
    bridge = await buildBridge({
      configure: (config) => {
        const { main } = config.targets;
        if (!main) throw new Error('no target');
        const generous = { deactivate: ALL, delete: ALL, removeMembers: ALL, clearAttributes: ALL };
        main.guard = { windowMs: 24 * HOUR, approvers: 1, ...generous, ...limits };
        main.attributes = { level: { type: 'number', from: `${EXTENSION}:level`, onEmpty: 'clear' } };
        configure?.(main);
      },
    });
    const store = openDesiredStates(bridge.config);
    redis = store.redis;
    await untilReady(redis, 5000);
    const found = store.states[0]?.outboxes.get('main');
    if (!found) throw new Error('no outbox');
    outbox = found;
    guardStore = outbox.guardStore;
  };
  afterEach(async () => {
    redis.disconnect();
    await bridge.stop();
  });

  const nameOf = (number: number) => `p${number}@acme.example`;
  const hire = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let number = 0; number < count; number++) {
      ids.push(await bridge.idp.createUser(nameOf(number), { [EXTENSION]: { level: 3 } }));
    }
    await eventually('all active', async () => (await activeOnes()) === count, 30_000);
    await untilSynced();
    return ids;
  };
  const people = async () =>
    (await bridge.platform.state()).users.filter(({ userName }) => /^p\d+@/.test(userName));
  const activeOnes = async () => (await people()).filter(({ active }) => active).length;
  const untilSynced = () =>
    eventually('nothing is left to do', async () => (await outbox.backlog()).dirty === 0, 20_000);
  const leave = (id: string) =>
    bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  const held = async () => Object.values((await outbox.backlog()).held).reduce((sum, each) => sum + each, 0);
  const approve = async () => guardStore.decide('approve', (await guardStore.open())?.id ?? '', 'ops');

  test('BRIDGE-08 mass deactivations are acknowledged to the source and held, and all other changes are written', async () => {
    await open({ deactivate: { count: 50, percent: 10 } });
    const ids = await hire(40);
    const group = await bridge.idp.createGroup('crew', ids);
    await untilSynced();
    const leavers = ids.slice(0, 20);
    const answers = await Promise.all(leavers.map(leave));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    await untilSynced();
    const gone = 40 - (await activeOnes());
    expect(gone).toBeLessThanOrEqual(10);
    expect(await held()).toBe(20 - gone);
    // A profile change, a new user and a new membership are not held.
    await bridge.idp.patch(`/Users/${ids[39]}`, { op: 'replace', path: 'displayName', value: 'Renamed' });
    await bridge.idp.patch(`/Users/${ids[0]}`, { op: 'replace', path: 'displayName', value: 'Leaver' });
    const joiner = await bridge.idp.createUser('joiner@acme.example');
    await bridge.idp.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: joiner }] });
    await eventually('the joiner is in the crew', async () => {
      const user = await bridge.platform.user('joiner@acme.example');
      return user?.active && user.groups.includes('crew');
    });
    expect((await bridge.platform.user(nameOf(39)))?.displayName).toBe('Renamed');
    await eventually(
      'the profile of a held leaver goes on',
      async () => (await bridge.platform.user(nameOf(0)))?.displayName === 'Leaver',
    );
  }, 60_000);

  test('an approval writes exactly the changes that it lists', async () => {
    await open({ deactivate: { count: 2, percent: 100 } });
    const ids = await hire(14);
    await Promise.all(ids.slice(0, 8).map(leave));
    await untilSynced();
    const listed = await guardStore.open();
    const before = await activeOnes();
    expect(listed?.total).toBe(before - 6);
    // This user leaves after the list was printed, so the approval does not include the user.
    await leave(ids[13] ?? '');
    await eventually('held as well', async () => (await held()) === (listed?.total ?? 0) + 1);
    await guardStore.decide('approve', listed?.id ?? '', 'ops');
    await eventually('the listed ones are closed', async () => (await activeOnes()) === 6);
    await untilSynced();
    expect((await bridge.platform.user(nameOf(13)))?.active).toBe(true);
    expect(await held()).toBe(1);
    const [decision] = await guardStore.decisions();
    expect(decision).toMatchObject({ action: 'approve', by: 'ops' });
  }, 60_000);

  test('the source takes a held deactivation back → the deactivation is no longer listed as held', async () => {
    await open({ deactivate: { count: 0, percent: 100 } });
    const ids = await hire(4);
    await Promise.all(ids.map(leave));
    await eventually('held', async () => (await held()) === 4);
    await bridge.platform.forgetRequests();
    for (const id of ids)
      await bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
    await eventually('nothing is held', async () => (await held()) === 0);
    await untilSynced();
    expect(await activeOnes()).toBe(4);
    expect(await bridge.platform.writes()).toEqual([]);
    expect(await guardStore.open()).toBeUndefined();
  }, 60_000);

  test('a deactivation is rejected → the account stays active, and other changes of the user are written', async () => {
    await open({ deactivate: { count: 0, percent: 100 } });
    const [id = ''] = await hire(1);
    await leave(id);
    await eventually('held', async () => (await held()) === 1);
    await guardStore.decide('reject', (await guardStore.open())?.id ?? '', 'ops');
    await untilSynced();
    await bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Stays' });
    await eventually('renamed', async () => (await bridge.platform.user(nameOf(0)))?.displayName === 'Stays');
    await untilSynced();
    expect(await activeOnes()).toBe(1);
    expect(await held()).toBe(0);
  }, 60_000);

  test('13 of 120 users are deactivated in ten portions over a day, under a limit of 10 % → at most 12 are closed, and the guard holds the rest', async () => {
    await open({ deactivate: { count: 1000, percent: 10 } });
    const ids = await hire(120);
    let next = 0;
    for (const size of [2, 1, 1, 1, 1, 1, 2, 1, 1, 2]) {
      await Promise.all(ids.slice(next, next + size).map(leave));
      next += size;
      await untilSynced();
      await pass(2.4 * HOUR);
    }
    expect(next).toBe(13);
    // 12 of 120 users were deactivated; the portion beyond the limit is held.
    const gone = 120 - (await activeOnes());
    expect(gone).toBeLessThanOrEqual(12);
    expect(gone + (await held())).toBe(13);
    expect(await held()).toBeGreaterThan(0);
  }, 120_000);

  /** Moves the counted changes into the past, as if the window had passed. */
  async function pass(ms: number): Promise<void> {
    const used = `${bridge.config.redis.prefix}:{default}:guardUsed:main:deactivate`;
    const entries = await redis.zrange(used, '0', '-1', 'WITHSCORES');
    for (let index = 0; index < entries.length; index += 2) {
      await redis.zadd(used, Number(entries[index + 1]) - ms, entries[index] ?? '');
    }
  }

  test('deleted users keep their groups while their deactivation is held, and lose them with its approval', async () => {
    await open({ deactivate: { count: 0, percent: 100 }, removeMembers: { count: 0, percent: 100 } });
    const ids = await hire(5);
    await bridge.idp.createGroup('crew', ids);
    await eventually('in the crew', async () => (await bridge.platform.group('crew'))?.members.length === 5);
    await untilSynced();
    for (const id of ids.slice(0, 3)) await bridge.idp.send('DELETE', `/Users/${id}`);
    await eventually('held', async () => (await held()) === 3);
    await untilSynced();
    expect((await bridge.platform.group('crew'))?.members).toHaveLength(5);
    expect(await activeOnes()).toBe(5);
    await approve();
    await eventually('gone from the crew', async () => {
      const members = (await bridge.platform.group('crew'))?.members.length;
      return members === 2 && (await activeOnes()) === 2;
    });
    expect(await held()).toBe(0);
  }, 60_000);

  test('removals of all members of a group are held together, and members whose removal is rejected stay', async () => {
    await open({ removeMembers: { count: 3, percent: 100 } });
    const ids = await hire(6);
    const group = await bridge.idp.createGroup('crew', ids);
    await eventually('in the crew', async () => (await bridge.platform.group('crew'))?.members.length === 6);
    await untilSynced();
    await bridge.idp.send('PUT', `/Groups/${group}`, { displayName: 'crew', members: [] });
    await eventually('held', async () => (await held()) === 6);
    await untilSynced();
    expect((await bridge.platform.group('crew'))?.members).toHaveLength(6);
    const approval = await guardStore.open();
    expect(approval).toMatchObject({ total: 6, kinds: { removeMembers: 6 } });
    const { value } = await guardStore.pages(approval!).next();
    expect(value[0]).toMatchObject({ kind: 'removeMembers', ref: `Group:${group}` });
    await guardStore.decide('reject', approval?.id ?? '', 'ops');
    await untilSynced();
    await bridge.idp.patch(`/Groups/${group}`, { op: 'replace', path: 'displayName', value: 'team' });
    await eventually('renamed', async () => (await bridge.platform.group('team'))?.members.length === 6);
    expect(await held()).toBe(0);
  }, 60_000);

  test('the deletion of a group and the removals of its members are held, and written after the approval', async () => {
    await open({ removeMembers: { count: 3, percent: 100 } });
    const ids = await hire(5);
    const group = await bridge.idp.createGroup('crew', ids);
    await eventually('in the crew', async () => (await bridge.platform.group('crew'))?.members.length === 5);
    await untilSynced();
    await bridge.idp.send('DELETE', `/Groups/${group}`);
    await eventually('held', async () => (await held()) === 6);
    expect((await bridge.platform.group('crew'))?.members).toHaveLength(5);
    await approve();
    await eventually('gone', async () => (await bridge.platform.group('crew')) === undefined);
    expect(await held()).toBe(0);
  }, 60_000);

  test('the clearing of an attribute of every user is held, while new values are written', async () => {
    await open({ clearAttributes: { count: 2, percent: 100 } });
    const ids = await hire(6);
    const level = (id: string, value?: number) =>
      bridge.idp.patch(
        `/Users/${id}`,
        value === undefined
          ? { op: 'remove', path: `${EXTENSION}:level` }
          : { op: 'replace', path: `${EXTENSION}:level`, value },
      );
    await Promise.all([...ids.slice(0, 5).map((id) => level(id)), level(ids[5] ?? '', 9)]);
    await eventually(
      'the new value',
      async () => (await bridge.platform.user(nameOf(5)))?.attributes.level === 9,
    );
    await untilSynced();
    const emptied = (await people()).filter(({ attributes }) => (attributes.level ?? null) === null).length;
    expect(emptied).toBeLessThanOrEqual(2);
    expect(await held()).toBe(5 - emptied);
    await approve();
    await eventually('emptied', async () =>
      (await people()).every(({ userName, attributes }) =>
        userName === nameOf(5) ? attributes.level === 9 : (attributes.level ?? null) === null,
      ),
    );
  }, 60_000);

  test('users.deleteAfterDays deletes the accounts of deleted users within the limits of the guard', async () => {
    await open({ delete: { count: 1, percent: 100 } }, (main) => {
      main.users.deleteAfterDays = 30;
    });
    const ids = await hire(4);
    for (const id of ids.slice(0, 3)) await bridge.idp.send('DELETE', `/Users/${id}`);
    await eventually('deactivated', async () => (await activeOnes()) === 1);
    await untilSynced();
    expect(await people()).toHaveLength(4);
    await monthLater(ids.slice(0, 3));
    // The guard holds two before the sync of the third has sent its deletion.
    await eventually(
      'one is deleted, two are held',
      async () => (await held()) === 2 && (await people()).length <= 3,
    );
    expect(await people()).toHaveLength(3);
    await approve();
    await eventually('deleted', async () => (await people()).length === 1);
  }, 60_000);

  /** Moves the deletions a month into the past. */
  async function monthLater(ids: string[]): Promise<void> {
    const base = `${bridge.config.redis.prefix}:{default}:`;
    for (const id of ids) {
      const tombstone = JSON.parse((await redis.hget(`${base}tombstones`, id)) ?? '{}');
      tombstone.deletedAt = Number(tombstone.deletedAt) - 31 * 24 * HOUR;
      await redis.hset(`${base}tombstones`, id, JSON.stringify(tombstone));
      const alarm = Number(await redis.zscore(`${base}alarms:main`, `User:${id}`));
      expect(alarm).toBeGreaterThan(Date.now() + 29 * 24 * HOUR);
      await redis.zadd(`${base}alarms:main`, 1, `User:${id}`);
    }
  }

  test('a target on hold gets no writes, and after the release all changes that were pushed meanwhile', async () => {
    await open({});
    const [id = ''] = await hire(1);
    await guardStore.hold('ops');
    await bridge.platform.forgetRequests();
    await bridge.idp.createUser('later@acme.example');
    await bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Later' });
    // Longer than the relay's sweep, which would deliver everything that is due.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await bridge.platform.writes()).toEqual([]);
    await guardStore.release();
    await eventually('applied', async () => (await bridge.platform.user('later@acme.example'))?.active);
    await eventually('renamed', async () => (await bridge.platform.user(nameOf(0)))?.displayName === 'Later');
  }, 60_000);
});
