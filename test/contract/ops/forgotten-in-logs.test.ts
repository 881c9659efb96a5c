// Tests the check of a log with personal data that an order to forget removed, and the logs of targets that left the settings.
import type { Acts } from '../../../src/directory/logs/acts.ts';
import { createDesiredState, type DesiredState } from '../../../src/directory/desired-state.ts';
import { createKnownTargets } from '../../../src/directory/fleet/known-targets.ts';
import type { LogEntry } from '../../../src/directory/logs/provisioning-log.ts';
import { NO_REQUEST } from '../../../src/directory/records.ts';
import { tendLogs } from '../../../src/ops/doctor/check-logs.ts';
import { verifyActs } from '../../../src/ops/log/acts.ts';
import { verifyLogs } from '../../../src/ops/log/provisioning-log.ts';
import { idOf, openStore, type Store } from '../lua/rig.ts';

let store: Store;
beforeEach(async () => {
  store = await openStore({ targets: ['main', 'analytics'] });
});
afterEach(() => store.close());

const entry = (name: string): LogEntry => ({
  ref: `User:${idOf(name)}`,
  name,
  action: 'update',
  status: 'success',
  changes: [['userName', 'before', name]],
  request: NO_REQUEST,
  generation: '1',
  accepted: 0,
  priority: 'edit',
  attempt: 1,
});
/** Waits until the clock of Redis shows another millisecond. */
const nextTime = () => new Promise((resolve) => setTimeout(resolve, 5));

async function forget(name: string, order: string): Promise<void> {
  await store.state.acts.record({ act: 'forget', by: 'olga', via: 'command', subject: name, order });
  await removeEntries(name, order);
}

const removeEntries = (name: string, order: string): Promise<number> =>
  store.state.personData.forgetEntries(
    { name: 'log', target: 'main' },
    (text) => text.includes(idOf(name)),
    order,
  );

/** Appends an audit entry, and leaves the newest entries of the audit log. */
async function trimActs(left: number): Promise<void> {
  await store.state.acts.record({ act: 'resync', by: 'olga', via: 'command' });
  const log = { entries: [], maxEntries: left, maxAgeMs: 86_400_000 };
  await store.scripts.values('append_act', store.keys.base, { log });
}

const logOfMain = async (state: DesiredState = store.state) =>
  (await verifyLogs([state])).find(({ target }) => target === 'main');

test('the audit log no longer has the order that removed personal data, and is younger than this data → the log counts as whole', async () => {
  await store.outbox.log.append([entry('ann')]);
  await nextTime();
  await forget('ann', 'order-a');
  await trimActs(1);
  await expect(logOfMain()).resolves.toMatchObject({ entries: 1, forgotten: 1, broken: null });
});

test('personal data that is younger than the oldest audit entry was removed without an order → the log counts as altered', async () => {
  await store.state.acts.record({ act: 'resync', by: 'olga', via: 'command' });
  await trimActs(1);
  await nextTime();
  await store.outbox.log.append([entry('ann')]);
  await removeEntries('ann', 'no-order');
  await expect(logOfMain()).resolves.toMatchObject({ broken: expect.stringMatching(/\d$/) });
  await expect(verifyActs([store.state])).resolves.toMatchObject([{ broken: null }]);
});

test('a person is forgotten during the check of a log, after the orders were read → the log counts as whole', async () => {
  const { acts } = store.state;
  await store.outbox.log.append([entry('ann'), ...Array.from({ length: 200 }, () => entry('ben'))]);
  await store.outbox.log.append([entry('cho')]);
  await forget('ann', 'order-a');
  let reads = 0;
  const newest: Acts['newest'] = async function* (span) {
    yield* acts.newest(span);
    reads += 1;
    if (reads === 1) await forget('cho', 'order-c');
  };
  const state = { ...store.state, acts: { ...acts, newest } };
  await expect(logOfMain(state)).resolves.toMatchObject({ entries: 202, forgotten: 2, broken: null });
  expect(reads).toBe(2);
});

test('a target left the settings of a connection that stays → its log is trimmed by age, and checked', async () => {
  const addressOf = () => 'https://platform.example.com';
  const connection = 'idp';
  await createKnownTargets(store, store).note([{ connection, target: 'analytics', rules: '' }]);
  await store.state.outboxes.get('analytics')?.log.append([entry('ann'), entry('ben')]);
  const open = (maxAgeMs: number) =>
    createDesiredState(store, {
      prefix: store.prefix,
      connection,
      targets: ['main'],
      addressOf,
      rulesReadGroups: false,
      leaseMs: 5000,
      log: { maxEntries: 1000, maxAgeMs },
    });
  const log = store.keys.key('log', 'analytics');
  await expect(tendLogs(open(60_000), Date.now())).resolves.toContainEqual({
    log: 'log analytics',
    entries: 2,
    broken: null,
  });
  await nextTime();
  await tendLogs(open(1), Date.now());
  await expect(store.redis.xlen(log)).resolves.toBe(0);
  await expect(store.redis.exists(store.keys.key('logPersonal', 'analytics'))).resolves.toBe(0);
});
