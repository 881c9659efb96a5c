// Tests create_users.lua, put_user.lua and delete_user.lua: records, indexes and marks of users.
import { eventually } from '../../support/eventually.ts';
import { watchCommands } from '../../support/watch-commands.ts';
import { add, idOf, openStore, type Store } from './rig.ts';

const ADA = idOf('ada');
const BOB = idOf('bob');
const EVE = idOf('eve');

const ada = { userName: 'Ada@X.com', externalId: 'A-1', emails: [{ value: 'shared@x.com' }] };
const bob = { userName: 'bob@x.com', externalId: 'B-1', emails: [{ value: 'Shared@X.com' }] };

describe('users in the directory', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  it('a new user is stored with its index entries and one mark', async () => {
    await expect(store.putUser(ADA, ada)).resolves.toMatchObject({ kind: 'stored', version: 1 });
    const { directory } = store.state;
    await expect(directory.lookup('User', 'username', 'ADA@x.COM')).resolves.toEqual([ADA]);
    await expect(directory.lookup('User', 'externalid', 'A-1')).resolves.toEqual([ADA]);
    await expect(directory.lookup('User', 'externalid', 'a-1')).resolves.toEqual([]);
    await expect(directory.count('User')).resolves.toBe(1);
    expect([...(await store.marks()).keys()]).toEqual([`User:${ADA}`]);
  });

  it('large records are read in portions of at least one user, in the order of the ids', async () => {
    const ids = Array.from({ length: 7 }, (_, index) => idOf(`u${index}`));
    for (const [index, id] of ids.entries())
      await store.putUser(id, { userName: `u${index}@x.com`, title: 'x'.repeat(1_500_000) });
    const portions: string[][] = [];
    for await (const users of store.state.directory.usersIn([...ids, EVE]))
      portions.push(users.map(({ record }) => record.id));
    expect(portions.flat()).toEqual(ids);
    expect(portions.map((portion) => portion.length)).toEqual([2, 2, 2, 1]);
    await store.putUser(ADA, { userName: 'ada@x.com', title: 'x'.repeat(9_000_000) });
    const alone: number[] = [];
    for await (const users of store.state.directory.usersIn([ADA, ids[0] ?? '']))
      alone.push(users[0]?.record.text.length ?? 0);
    // Lengths of the texts: the titles and the rest of the JSON.
    expect(alone).toEqual([9_000_035, 1_500_034]);
  });

  it('many ids are read → each command has only the ids of one portion', async () => {
    const ids = Array.from({ length: 5000 }, (_, index) => idOf(`u${index}x`));
    const stored = ids.filter((_, index) => index % 1000 === 0);
    for (const id of stored) await store.putUser(id, { userName: id, title: 'x'.repeat(3_000_000) });
    let longest = 0;
    const stop = await watchCommands(store.redis, (args) => {
      const sent = args.find((arg) => arg.includes(idOf('u4999x')) || arg.includes(idOf('u4000x')));
      longest = Math.max(longest, sent?.length ?? 0);
    });
    const found: string[] = [];
    for await (const users of store.state.directory.usersIn(ids))
      found.push(...users.map(({ record }) => record.id));
    await eventually('the last portion was seen', () => longest > 0);
    stop();
    expect(found).toEqual(stored);
    // An id has 20 characters; in one portion are at most 1,000.
    expect(longest).toBeLessThan(30_000);
  });

  it('an update keeps created, changes lastModified and increments the version', async () => {
    const change = {
      id: ADA,
      resource: ada,
      text: JSON.stringify(ada),
      priority: 'new' as const,
      request: 'r',
    };
    const { directory } = store.state;
    await directory.createUser({ ...change, now: 1_700_000_000_001 });
    const text = JSON.stringify({ ...ada, title: 'new' });
    await directory.putUser({ ...change, text, expected: 1, now: 1_700_000_000_999 });
    await expect(directory.putUser({ ...change, text, expected: 2, now: 5 })).resolves.toMatchObject({
      kind: 'unchanged',
      version: 2,
    });
    await expect(directory.get('User', ADA)).resolves.toEqual({
      id: ADA,
      version: 2,
      created: 1_700_000_000_001,
      lastModified: 1_700_000_000_999,
      text,
    });
  });

  it('stored text with line breaks, quotes and non-Latin letters is returned byte for byte', async () => {
    const resource = { userName: 'Ωμέγα', displayName: 'a\n"b"\\ %s %d 😀', title: '1 2 3' };
    await store.putUser(ADA, resource);
    const record = await store.state.directory.get('User', ADA);
    expect(record?.text).toBe(JSON.stringify(resource));
    await expect(store.state.directory.lookup('User', 'username', 'ωΜΈΓΑ')).resolves.toEqual([ADA]);
  });

  it('storing a user with a taken unique value returns the attribute and its holder, and changes nothing', async () => {
    await store.putUser(ADA, ada);
    const taken = await store.putUser(BOB, { ...bob, userName: 'ADA@x.com' });
    expect(taken).toEqual({ kind: 'taken', attribute: 'userName', holder: ADA });
    const second = await store.putUser(BOB, { ...bob, externalId: 'A-1' });
    expect(second).toEqual({ kind: 'taken', attribute: 'externalId', holder: ADA });
    await expect(store.state.directory.get('User', BOB)).resolves.toBeUndefined();
    await expect(store.state.directory.lookup('User', 'username', 'bob@x.com')).resolves.toEqual([]);
    expect((await store.marks()).size).toBe(1);
  });

  it('a write with an old version, a taken name or an unknown id leaves the record and the marks unchanged', async () => {
    await store.putUser(ADA, ada);
    await store.putUser(BOB, bob);
    const before = [await store.state.directory.get('User', ADA), await store.marks()];
    const change = { id: ADA, resource: ada, text: '{}', priority: 'edit' as const, now: 1, request: 'r' };
    const { directory } = store.state;
    await expect(directory.putUser({ ...change, expected: 7 })).resolves.toEqual({ kind: 'stale' });
    await expect(directory.createUser(change)).resolves.toEqual({ kind: 'stale' });
    await expect(directory.putUser({ ...change, id: EVE, expected: 1 })).resolves.toEqual({
      kind: 'missing',
    });
    await expect(store.putUser(ADA, { ...ada, userName: 'bob@x.com' })).resolves.toMatchObject({
      kind: 'taken',
    });
    expect([await directory.get('User', ADA), await store.marks()]).toEqual(before);
  });

  it('a rename frees the replaced names of a user and keeps the unchanged names', async () => {
    await store.putUser(ADA, ada);
    await store.putUser(ADA, { ...ada, userName: 'lovelace@x.com' });
    await expect(store.state.directory.lookup('User', 'username', 'ada@x.com')).resolves.toEqual([]);
    await expect(store.state.directory.lookup('User', 'externalid', 'A-1')).resolves.toEqual([ADA]);
    await expect(store.putUser(BOB, { ...bob, userName: 'ada@x.com' })).resolves.toMatchObject({
      kind: 'stored',
      version: 1,
    });
  });

  it('a rename that changes only letter case is stored', async () => {
    await store.putUser(ADA, ada);
    await expect(store.putUser(ADA, { ...ada, userName: 'ADA@X.COM' })).resolves.toMatchObject({
      kind: 'stored',
    });
    await expect(store.state.directory.lookup('User', 'username', 'ada@x.com')).resolves.toEqual([ADA]);
  });

  it('a lookup by an e-mail address finds every user with this address, and no user who lost it or was deleted', async () => {
    await store.putUser(ADA, ada);
    await store.putUser(BOB, bob);
    const lookup = () => store.state.directory.lookup('User', 'emails.value', 'SHARED@x.com');
    expect((await lookup())?.sort()).toEqual([ADA, BOB]);
    await store.putUser(ADA, { ...ada, emails: [] });
    await expect(lookup()).resolves.toEqual([BOB]);
    await store.remove('User', BOB);
    await expect(lookup()).resolves.toEqual([]);
  });

  it('deleting a user removes its index entries, leaves a tombstone, and marks the user with the highest priority', async () => {
    await store.putUser(ADA, ada);
    await store.settleAll();
    await expect(store.remove('User', ADA)).resolves.toEqual({ kind: 'removed' });
    await expect(store.remove('User', ADA)).resolves.toEqual({ kind: 'missing' });
    const { directory } = store.state;
    await expect(directory.lookup('User', 'username', 'ada@x.com')).resolves.toEqual([]);
    await expect(directory.lookup('User', 'emails.value', 'shared@x.com')).resolves.toEqual([]);
    await expect(directory.page('User', 1, 10)).resolves.toEqual({ total: 0, records: [] });
    expect(JSON.parse((await store.redis.hget(store.keys.key('tombstones'), ADA)) ?? '')).toMatchObject({
      kind: 'User',
    });
    await expect(store.outbox.claim(10, 0)).resolves.toMatchObject([
      { ref: `User:${ADA}`, priority: 'deactivation' },
    ]);
    await expect(store.putUser(BOB, ada)).resolves.toMatchObject({ kind: 'stored' });
  });

  it('deleting a user with an outdated version returns stale and keeps the user', async () => {
    await store.putUser(ADA, ada);
    const stale = { id: ADA, expected: 2, now: 1, request: 'r' };
    await expect(store.state.directory.remove('User', stale)).resolves.toEqual({ kind: 'stale' });
    await expect(store.state.directory.count('User')).resolves.toBe(1);
  });

  it('deleting a user removes it from the members of each of its groups and marks these groups', async () => {
    await store.putUser(ADA, ada);
    await store.putUser(BOB, bob);
    const groups = ['g1', 'g2', 'g3'].map(idOf);
    for (const group of groups) await store.putGroup(group, `name of ${group}`, [add(ADA, BOB)]);
    await store.settleAll();
    const versions = await Promise.all(groups.map((group) => store.state.directory.get('Group', group)));
    await store.remove('User', ADA);
    for (const [index, group] of groups.entries()) {
      await expect(store.membersOf(group)).resolves.toEqual([BOB]);
      await expect(store.outbox.pendingMembers(group)).resolves.toEqual(new Map([[ADA, '-']]));
      const record = await store.state.directory.get('Group', group);
      expect(record?.version).toBe((versions[index]?.version ?? 0) + 1);
    }
    expect([...(await store.marks()).keys()].sort()).toEqual(
      [...groups.map((id) => `Group:${id}`), `User:${ADA}`].sort(),
    );
    await expect(store.state.directory.lookup('Group', 'members.value', ADA)).resolves.toEqual([]);
  });

  it('pages of users keep the order of creation when users change or are deleted', async () => {
    for (const name of ['u1', 'u2', 'u3', 'u4']) await store.putUser(idOf(name), { userName: name });
    await store.putUser(idOf('u2'), { userName: 'u2', title: 'changed' });
    await store.remove('User', idOf('u1'));
    const page = await store.state.directory.page('User', 1, 2);
    expect([page.total, ...page.records.map(({ id }) => id)]).toEqual([3, idOf('u2'), idOf('u3')]);
    const rest = await store.state.directory.page('User', 3, 2);
    expect(rest.records.map(({ id }) => id)).toEqual([idOf('u4')]);
    await expect(store.state.directory.page('User', 1, 0)).resolves.toEqual({ total: 3, records: [] });
    await expect(store.state.directory.page('User', 9, 2)).resolves.toEqual({ total: 3, records: [] });
  });

  it('a scan of 450 users in several portions returns every user once', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => idOf(`u${index}x`));
    await Promise.all(ids.map((id) => store.putUser(id, { userName: id })));
    const seen: string[] = [];
    for await (const records of store.state.directory.scan('User')) seen.push(...records.map(({ id }) => id));
    expect(seen).toHaveLength(450);
    expect([...seen].sort()).toEqual([...ids].sort());
  });
});

describe('two clients that write users at the same time', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  it('of two concurrent creations with one userName, one replies stored and the other taken', async () => {
    const claim = { resource: ada, text: '{}', priority: 'new' as const, now: 1, request: 'r' };
    for (let round = 0; round < 20; round++) {
      const resource = { userName: `name-${round}` };
      const outcomes = await Promise.all([
        store.state.directory.createUser({ ...claim, id: idOf(`a${round}x`), resource }),
        store.rival.directory.createUser({ ...claim, id: idOf(`b${round}x`), resource }),
      ]);
      expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['stored', 'taken']);
    }
    await expect(store.state.directory.count('User')).resolves.toBe(20);
  });

  it('of two concurrent writes with one expected version one replies stale, and of two concurrent deletions one replies missing', async () => {
    await store.putUser(ADA, ada);
    const change = {
      id: ADA,
      expected: 1,
      resource: ada,

      priority: 'edit' as const,
      now: 1,
      request: 'r',
    };
    const puts = await Promise.all([
      store.state.directory.putUser({ ...change, text: '{"a":1}' }),
      store.rival.directory.putUser({ ...change, text: '{"a":2}' }),
    ]);
    expect(puts.map(({ kind }) => kind).sort()).toEqual(['stale', 'stored']);
    const removals = await Promise.all([
      store.state.directory.remove('User', { ...change, expected: 2 }),
      store.rival.directory.remove('User', { ...change, expected: 2 }),
    ]);
    expect(removals.map(({ kind }) => kind).sort()).toEqual(['missing', 'removed']);
  });
});

describe('users whose attributes depend on groups', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore({ rulesReadGroups: true });
    await store.putUser(ADA, ada);
    await store.putUser(BOB, bob);
    await store.putGroup(idOf('g'), 'G', [add(ADA)]);
    await store.settleAll();
  });
  afterEach(() => store.close());

  const marked = async (): Promise<string[]> => [...(await store.marks()).keys()].sort();

  it('if mapping rules read groups, replacing the members of a group marks only the group and the users who joined or left it', async () => {
    await store.members(idOf('g'), { kind: 'replace', values: [BOB] });
    expect(await marked()).toEqual([`Group:${idOf('g')}`, `User:${ADA}`, `User:${BOB}`]);
  });

  it('if mapping rules read groups, renaming a group marks its members', async () => {
    await store.putGroup(idOf('g'), 'Renamed');
    expect(await marked()).toEqual([`Group:${idOf('g')}`, `User:${ADA}`]);
    const work = await store.begun(`User:${ADA}`);
    expect(work.groups).toEqual([{ id: idOf('g'), displayName: 'Renamed' }]);
  });

  it('if mapping rules read groups, deleting a group marks its members', async () => {
    await store.remove('Group', idOf('g'));
    expect(await marked()).toEqual([`Group:${idOf('g')}`, `User:${ADA}`]);
    expect((await store.begun(`User:${ADA}`)).groups).toEqual([]);
  });

  it('if mapping rules read groups, writing a group without change marks no member', async () => {
    await store.putGroup(idOf('g'), 'G', [add(ADA)]);
    expect(await marked()).toEqual([]);
  });
});
