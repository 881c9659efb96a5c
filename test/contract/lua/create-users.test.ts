// Tests create_users.lua: a batch of new users is stored like single creations.
import fc from 'fast-check';
import type { PutOutcome } from '../../../src/directory/resources/changes.ts';
import { contents, expectSameTogether } from './contents.ts';
import { add, idOf, openStores, type Store } from './rig.ts';

interface Person {
  userName: string;
  externalId?: string | undefined;
  emails?: { value: string }[];
}

const open = openStores();

const creationOf = (name: string, person: Person) => ({
  id: idOf(name),
  resource: { ...person },
  text: JSON.stringify(person),
  now: 1_700_000_000_000,
  request: `r-${name}`,
});
const create = (store: Store, name: string, person: Person): Promise<PutOutcome> =>
  store.state.directory.createUser(creationOf(name, person));

const pool = (...values: string[]) => fc.constantFrom(...values);
const person = fc.record({
  userName: pool('ada@x.com', 'ADA@x.com', 'bob@x.com', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal'),
  externalId: fc.option(pool('1', '2', '3', '4', '5', '6', '7', '8'), { nil: undefined }),
  emails: fc.array(
    pool('ada@x.com', 'bob@x.com', 'both@x.com').map((value) => ({ value })),
    { maxLength: 3 },
  ),
});
const awaited = fc.subarray(['bob@x.com', 'cyd', '3', 'both@x.com']);

test('batched and sequential creations give the same users, index entries, memberships and marks', async () => {
  const people = fc.array(person, { minLength: 1, maxLength: 8 });
  const former = fc.array(person, { maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(former, people, awaited, async (before, newcomers, names) => {
      const pair: [Store, Store] = [
        await open({ rulesReadGroups: true }),
        await open({ rulesReadGroups: true }),
      ];
      for (const store of pair) {
        for (const [index, each] of before.entries()) await create(store, `former${index}`, each);
        await store.putGroup(idOf('team'), 'Team', [add(...names)]);
      }
      await expectSameTogether(pair, newcomers, (store, each, at) => create(store, `p${at}`, each));
    }),
    { numRuns: 60 },
  );
}, 60_000);

test('a repeated create call replies stale and changes nothing, alone or in a batch, also after a change of the user', async () => {
  const store = await open();
  const ada = { userName: 'ada@x.com', emails: [{ value: 'home@x.com' }] };
  await create(store, 'ada', ada);
  await expect(create(store, 'ada', ada)).resolves.toEqual({ kind: 'stale' });
  await store.putUser(idOf('ada'), { userName: 'countess@x.com' });
  const before = await contents(store);
  await expect(create(store, 'ada', ada)).resolves.toEqual({ kind: 'stale' });
  expect({ ...(await contents(store)), sequence: '' }).toEqual({ ...before, sequence: '' });
  const [again, bob] = await Promise.all([
    create(store, 'ada', ada),
    create(store, 'bob', { userName: 'bob' }),
  ]);
  expect([again.kind, bob.kind]).toEqual(['stale', 'stored']);
  await expect(store.state.directory.count('User')).resolves.toBe(2);
});

test('in a batch each user with a taken userName replies `taken` with the id of its holder, and the other users are stored', async () => {
  const store = await open();
  await create(store, 'ada', { userName: 'ada' });
  await store.putUser(idOf('ada'), { userName: 'countess' });
  await create(store, 'eve', { userName: 'ada' });
  await expect(create(store, 'ada', { userName: 'ada' })).resolves.toEqual({ kind: 'stale' });
  const names = ['bob', 'ada', 'cyd', 'countess', 'dan', 'bob'];
  const outcomes = await Promise.all(names.map((name, at) => create(store, `n${at}`, { userName: name })));
  expect(outcomes.map((outcome) => (outcome.kind === 'taken' ? outcome.holder : outcome.kind))).toEqual([
    ...['stored', idOf('eve'), 'stored', idOf('ada'), 'stored', idOf('n0')],
  ]);
  await expect(store.state.directory.count('User')).resolves.toBe(5);
});

test('a repeated create of a deleted user keeps the deactivation priority of its mark', async () => {
  const store = await open();
  await create(store, 'ada', { userName: 'ada' });
  await store.remove('User', idOf('ada'));
  await create(store, 'ada', { userName: 'ada' });
  await expect(store.outbox.claim(10, 10)).resolves.toMatchObject([{ priority: 'deactivation' }]);
});

test('a user with 9,001 e-mail addresses, more than Lua can unpack in one call, is stored, changed, and found by each address', async () => {
  const store = await open();
  const emails = Array.from({ length: 9001 }, (_, index) => ({ value: `a${index}@x.com` }));
  await store.putGroup(idOf('team'), 'Team', [add('many')]);
  const [many] = await Promise.all([
    create(store, 'many', { userName: 'many', emails }),
    create(store, 'few', { userName: 'few', emails: emails.slice(4000, 4001) }),
  ]);
  expect(many).toMatchObject({ kind: 'stored', groups: [{ displayName: 'Team' }] });
  const find = (address: string) => store.state.directory.lookup('User', 'emails.value', address);
  await expect(find('A8999@x.com')).resolves.toEqual([idOf('many')]);
  expect((await find('a4000@x.com'))?.sort()).toEqual([idOf('few'), idOf('many')]);
  await store.putUser(idOf('many'), { userName: 'many', emails: [{ value: 'z@x.com' }, ...emails.slice(1)] });
  await expect(find('a0@x.com')).resolves.toEqual([]);
  await expect(find('z@x.com')).resolves.toEqual([idOf('many')]);
});

test('each user of a batch emits one create event, followed by the patch event of the group that the user joins', async () => {
  const store = await open({ events: { mostPending: 100, externalIds: true } });
  await store.putGroup(idOf('team'), 'Team', [add('ada', 'bob')]);
  await Promise.all(['ada', 'bob'].map((name) => create(store, name, { userName: name, externalId: name })));
  const events = await store.state.events.oldest(10);
  expect(events.map(({ resource, what }) => `${resource.replace(/0+$/, '')} ${what.join(' ')}`)).toEqual([
    'team create',
    ...['ada create', 'team patch'],
    ...['bob create', 'team patch'],
  ]);
  expect(events[2]?.transaction).toBe(events[1]?.id);
  expect(events[4]?.transaction).toBe(events[3]?.id);
});

test('a create call that is repeated after the deletion of the user replies stale and stores nothing', async () => {
  const store = await open();
  await create(store, 'ada', { userName: 'ada@x.com' });
  await store.remove('User', idOf('ada'));
  const [again, bob] = await Promise.all([
    create(store, 'ada', { userName: 'ada@x.com' }),
    create(store, 'bob', { userName: 'bob' }),
  ]);
  expect([again.kind, bob.kind]).toEqual(['stale', 'stored']);
  await expect(store.state.directory.count('User')).resolves.toBe(1);
});
