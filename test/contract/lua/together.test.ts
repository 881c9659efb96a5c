// Tests batches of user changes: each batch gives the result of single changes.
import fc from 'fast-check';
import { contents, expectSameTogether } from './contents.ts';
import { add, idOf, openStores, type Store } from './rig.ts';

interface Put {
  name: string;
  person: { userName: string; externalId?: string | undefined; title: string; active: boolean };
  expected?: number | undefined;
}
interface Replacement {
  name: string;
  values: [name: string, value: string | boolean][];
}

const open = openStores();

const NAMES = ['ada', 'bob', 'cyd'];
const NOW = 1_700_000_000_000;

async function hireAll(store: Store): Promise<void> {
  for (const name of NAMES) {
    const resource = { userName: name, title: 'one', active: true };
    const text = JSON.stringify(resource);
    await store.state.directory.createUser({ id: idOf(name), resource, text, now: NOW, request: 'r' });
  }
}

const put = (store: Store, { name, person, expected }: Put, at: number) =>
  store.state.directory.putUser({
    id: idOf(name),
    resource: { ...person },
    text: JSON.stringify(person),
    now: NOW + at,
    request: `r${at}`,
    expected,
  });
const replace = (store: Store, { name, values }: Replacement, at: number) =>
  store.state.directory.replaceValues({
    id: idOf(name),
    values: new Map(values),
    now: NOW + at,
    request: `r${at}`,
  });
const change = (store: Store, one: Put | Replacement, at: number) =>
  'person' in one ? put(store, one, at) : replace(store, one, at);

const pool = (...values: string[]) => fc.constantFrom(...values);
const titles = pool('one', 'two', 'six');
const puts = fc.record({
  name: pool(...NAMES, 'nobody'),
  person: fc.record({
    userName: pool(...NAMES, 'dan', 'DAN'),
    externalId: fc.option(pool('1', '2'), { nil: undefined }),
    title: titles,
    active: fc.boolean(),
  }),
  expected: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 3 }),
});
const replacements = fc.record({
  name: pool(...NAMES, 'nobody'),
  values: fc.uniqueArray(
    fc.oneof(fc.tuple(fc.constant('title'), titles), fc.tuple(fc.constant('active'), fc.boolean())),
    { minLength: 1, selector: ([name]) => name },
  ),
});

test('batched and sequential changes of users give the same replies, records, index entries, memberships and marks', async () => {
  const changes = fc.array(fc.oneof(puts, replacements), { minLength: 2, maxLength: 12 });
  const stages = pool('new', 'begun', 'applied');
  const awaited = fc.subarray(['dan', '1', '2']);
  await fc.assert(
    fc.asyncProperty(changes, awaited, stages, async (all, names, stage) => {
      const pair: [Store, Store] = [
        await open({ rulesReadGroups: true }),
        await open({ rulesReadGroups: true }),
      ];
      for (const store of pair) {
        await hireAll(store);
        await store.putGroup(idOf('team'), 'Team', [add(idOf('ada'), ...names)]);
        if (stage === 'begun') await store.claimRefs();
        if (stage === 'applied') await store.settleAll();
      }
      await expectSameTogether(pair, all, change);
    }),
    { numRuns: 80 },
  );
}, 60_000);

test('two changes of one user in a batch are both stored, and the mark has the higher priority', async () => {
  const store = await open();
  await hireAll(store);
  const person = { userName: 'ada', title: 'two', active: false };
  const outcomes = await Promise.all([
    put(store, { name: 'ada', person }, 1),
    put(store, { name: 'ada', person }, 2),
    put(store, { name: 'ada', person: { ...person, active: true }, expected: 2 }, 3),
    put(store, { name: 'ada', person, expected: 2 }, 4),
    replace(store, { name: 'bob', values: [['active', false]] }, 5),
    replace(store, { name: 'bob', values: [['title', 'six']] }, 6),
  ]);
  expect(outcomes).toMatchObject([
    { kind: 'stored', version: 2 },
    { kind: 'unchanged', version: 2, lastModified: NOW + 1 },
    { kind: 'stored', version: 3, lastModified: NOW + 3 },
    { kind: 'stale' },
    { kind: 'stored', version: 2 },
    { kind: 'stored', version: 3, text: '{"userName":"bob","title":"six","active":false}' },
  ]);
  const { 'dirty:main': priorities, 'marks:main': marks } = await contents(store);
  // 0: the priority `deactivation`.
  expect(priorities).toEqual(expect.arrayContaining([`User:${idOf('ada')} 0`, `User:${idOf('bob')} 0`]));
  expect(marks).toMatchObject({ [`User:${idOf('ada')}`]: 'r3', [`User:${idOf('bob')}`]: 'r6' });
});
