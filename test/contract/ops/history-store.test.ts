// Tests the history on real Redis: several writers, slots that take the place of expired ones, and memory.
import { createHistoryStore, type HistoryStore } from '../../../src/directory/history/history-store.ts';
import { HISTORY_RANGES } from '../../../src/directory/history/slots.ts';
import { createKeyspace } from '../../../src/directory/keys.ts';
import { eventually } from '../../support/eventually.ts';
import { openStore, scanAll, type Store } from '../lua/rig.ts';

let store: Store;
let history: HistoryStore;
/** Slots of 17 hours, so that a test sees one slot only. */
const LONG_SLOTS = { stepMs: 60_000_000, slots: 3 };
const LONG = { '1h': LONG_SLOTS, '1d': LONG_SLOTS, '30d': LONG_SLOTS };
const TINY = { stepMs: 5, slots: 6 };
beforeEach(async () => {
  store = await openStore();
  history = createHistoryStore(store, { prefix: store.prefix, spans: LONG });
});
afterEach(async () => {
  const names = await scanAll(store.redis, `${store.prefix}:{bridge.history}:*`);
  for (const name of names) await store.redis.del(name);
  await store.close();
});
const keyOf = (ring: string) => createKeyspace(store.prefix, 'bridge.history').key('ring', ring);
const last = async (range: '1h' | '1d' | '30d' = '1h') => {
  const { series } = await history.read('target', 'main', range);
  return Object.fromEntries(Object.entries(series).map(([name, values]) => [name, values.at(-1)]));
};

test('after concurrent writes, the current history slot of each range has the sum of the calls and the greatest lag', async () => {
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      history.note([
        { kind: 'target', name: 'main', values: { calls: 2, callsFailed: 1, lagMs: index * 1000 } },
      ]),
    ),
  );
  await history.note([{ kind: 'target', name: 'main', values: { calls: 1 } }]);
  for (const range of ['1h', '1d', '30d'] as const)
    expect(await last(range)).toMatchObject({ calls: 41, callsFailed: 20, lagMs: 19_000, held: null });
});

test('the history has separate values for each target and each connection, also if they have the same name', async () => {
  await history.note([
    { kind: 'target', name: 'main', values: { calls: 1 } },
    { kind: 'target', name: 'other', values: { calls: 5 } },
    { kind: 'connection', name: 'main', values: { pushes: 7 } },
  ]);
  expect((await last()).calls).toBe(1);
  expect((await history.read('target', 'other', '1h')).series.calls.at(-1)).toBe(5);
  expect((await history.read('connection', 'main', '1h')).series.pushes.at(-1)).toBe(7);
  expect((await history.read('connection', 'none', '1h')).series.pushes).toEqual([null, null, null]);
});

test('a history slot that is written in place of an expired one contains no value of the expired slot', async () => {
  await history.note([{ kind: 'target', name: 'main', values: { calls: 9, lagMs: 9 } }]);
  const key = keyOf('1h:target.main');
  const [[place = '', text = ''] = []] = Object.entries(await store.redis.hgetall(key));
  const [slot, ...values] = text.split(',');
  await store.redis.hset(key, place, [Number(slot) - LONG_SLOTS.slots, ...values].join(','));
  expect((await last()).calls).toBeNull();
  await history.note([{ kind: 'target', name: 'main', values: { calls: 1 } }]);
  expect(await last()).toMatchObject({ calls: 1, lagMs: null });
});

test('a range of the history keeps at most its number of slots in one Redis hash, which expires once its newest slot is out of range', async () => {
  history = createHistoryStore(store, { prefix: store.prefix, spans: { ...LONG, '1h': TINY } });
  const key = keyOf('1h:target.main');
  const seen = new Set<string>();
  await eventually('thirty slots have passed', async () => {
    await history.note([{ kind: 'target', name: 'main', values: { calls: 1 } }]);
    for (const text of Object.values(await store.redis.hgetall(key))) seen.add(text.split(',')[0] ?? '');
    return seen.size >= 30;
  });
  const names = await scanAll(store.redis, `${store.prefix}:{bridge.history}:ring:*`);
  expect(names).toHaveLength(3);
  expect(await store.redis.hlen(keyOf('1d:target.main'))).toBe(1);
  await history.note([{ kind: 'target', name: 'main', values: { calls: 1 } }]);
  expect(await store.redis.hlen(key)).toBeLessThanOrEqual(TINY.slots);
  await eventually('the ring has expired', async () => (await store.redis.exists(key)) === 0);
});

test('a history range with the largest number in each slot takes at most 100 kB of Redis memory', async () => {
  const { slots } = HISTORY_RANGES['1h'];
  const most = Array.from({ length: 13 }, () => '999999999').join(',');
  const key = keyOf('1h:target.main');
  for (let place = 0; place < slots; place++) await store.redis.hset(key, String(place), `180000000,${most}`);
  expect(await store.redis.memory('USAGE', key, 'SAMPLES', 0)).toBeLessThan(100_000);
});

test('of five concurrent writers of the history only one is told to record levels such as backlog and lag', async () => {
  const asked = await Promise.all(Array.from({ length: 5 }, () => history.note([])));
  expect(asked.filter(Boolean)).toHaveLength(1);
});
