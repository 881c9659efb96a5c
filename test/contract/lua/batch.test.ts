// Tests script calls of one event-loop turn that share a Redis command: each call gets the result it would get alone.
import { Redis } from 'ioredis';
import { loadScripts } from '../../../src/directory/redis/scripts.ts';
import { startRedisServer } from '../../support/redis-servers.ts';
import { idOf, openStore, type Store } from './rig.ts';

describe('script calls batched into one Redis command', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  const changeOf = (name: string, userName: string) => ({
    id: idOf(name),
    resource: { userName },
    text: JSON.stringify({ userName }),
    now: Date.now(),
    request: 'r',
  });
  const put = (name: string, userName = name) => store.state.directory.createUser(changeOf(name, userName));
  const replace = (name: string, userName = name) =>
    store.state.directory.putUser({ ...changeOf(name, userName), expected: undefined });

  it('100 users created at once are stored in the order of the calls, with fewer than 20 script calls to Redis', async () => {
    await store.close();
    // A separate Redis server counts no commands of other tests.
    const server = await startRedisServer([]);
    store = await openStore({ url: `redis://127.0.0.1:${server.port}` });
    const before = await calls(store.redis);
    const names = Array.from({ length: 100 }, (_, index) => `p${100 + index}`);
    const outcomes = await Promise.all(names.map((name) => put(name)));
    expect(outcomes.map(({ kind }) => kind)).toEqual(names.map(() => 'stored'));
    const { records } = await store.state.directory.page('User', 1, 100);
    expect(records.map(({ id }) => id)).toEqual(names.map(idOf));
    expect((await calls(store.redis)) - before).toBeLessThan(20);
    await store.close();
    await server.stop();
    store = await openStore();
  });

  it('of two creates of one userName in a batch the first is stored, and the second replies `taken` with the id of the first', async () => {
    const [ada, other, missing, bob] = await Promise.all([
      put('ada', 'same@x.com'),
      put('other', 'Same@x.com'),
      replace('nobody', 'n@x.com'),
      put('bob'),
    ]);
    expect(ada).toMatchObject({ kind: 'stored' });
    expect(other).toEqual({ kind: 'taken', attribute: 'userName', holder: idOf('ada') });
    expect(missing).toEqual({ kind: 'missing' });
    expect(bob).toMatchObject({ kind: 'stored' });
  });

  it('after get and delete of a user in a batch, a later get finds nothing, and a later create with its userName is stored', async () => {
    await put('ada');
    const { directory } = store.state;
    const removal = { id: idOf('ada'), expected: undefined, now: Date.now(), request: 'r' };
    const [before, removed, after, again] = await Promise.all([
      directory.get('User', idOf('ada')),
      directory.remove('User', removal),
      directory.get('User', idOf('ada')),
      put('eve', 'ada'),
    ]);
    expect(before).toMatchObject({ id: idOf('ada') });
    expect(removed).toEqual({ kind: 'removed' });
    expect(after).toBeUndefined();
    expect(again).toMatchObject({ kind: 'stored' });
  });

  it('reading ids that contain line breaks returns only the user whose id exists', async () => {
    await put('ada');
    const forged = ['x \n1 1 1 active []\n{}', '\n\n', '', ' ', idOf('ada'), 'y\nz'];
    const users = await store.state.directory.usersOf(forged);
    expect(users.map(({ record }) => [record.id, record.text])).toEqual([
      [idOf('ada'), '{"userName":"ada"}'],
    ]);
    expect(await store.state.directory.groupsOf(forged)).toEqual(forged.map(() => []));
  });

  it('after SCRIPT FLUSH a batch loads its scripts again, and its calls succeed', async () => {
    await put('ada');
    await store.redis.script('FLUSH');
    const [bob, ada] = await Promise.all([put('bob'), store.state.directory.usersOf([idOf('ada')])]);
    expect(bob).toMatchObject({ kind: 'stored' });
    expect(ada).toHaveLength(1);
  });

  it('a failing call rejects alone, and the other calls of the batch succeed', async () => {
    // A lone surrogate, which the script cannot decode from JSON.
    const half = { family: 'userNames', value: '\ud800' };
    const read = (by: object) => store.scripts.ask('read_users', store.keys.base, by);
    await put('ada');
    const results = await Promise.allSettled([read({ ids: [idOf('ada')] }), read(half), put('bob')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await store.state.directory.count('User')).toBe(2);
  });

  it('a write on a read-only replica rejects with READONLY and asks reconnectOnError, both as a single call and in a batch', async () => {
    // A replica whose primary is unreachable refuses writes with READONLY.
    const server = await startRedisServer(['replicaof 127.0.0.1 1']);
    const seen: string[] = [];
    // Notes the error, and returns false: ioredis does not reconnect.
    const reconnectOnError = (error: Error): boolean => seen.push(error.message) < 0;
    const redis = new Redis({ port: server.port, reconnectOnError });
    const scripts = loadScripts(redis);
    const order = scripts.run('hold', '{a}:', { target: 'main', by: 'x', note: '' });
    await expect(order).rejects.toThrow(/^READONLY/);
    const newcomer = scripts.send('create_users', '{a}:', [
      '{"targets":["main"]}',
      '1',
      '',
      'id',
      'record',
      'r',
    ]);
    await expect(newcomer).rejects.toThrow(/^READONLY/);
    expect(seen).toHaveLength(2);
    redis.disconnect();
    await server.stop();
  });
});

async function calls(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats');
  const counted = [...stats.matchAll(/^cmdstat_(?:evalsha|eval):calls=(\d+)/gm)];
  return counted.reduce((sum, [, count]) => sum + Number(count), 0);
}
