// Tests the causes of differences: changed rules, and a platform that shows another value than the one written.
import { startApp } from '../../src/app.ts';
import { randomIds, systemClock } from '../../src/support/sources.ts';
import { silentLogger } from '../../src/support/logger.ts';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { brief, openReconciling, scimPatch, type Reconciling } from '../support/reconciling.ts';

const NAMES = ['ann', 'ben', 'cho', 'dan', 'eve'].map((name) => `${name}@acme.example`);
const ANN = NAMES.at(0) ?? '';
const EVE = NAMES.at(-1) ?? '';
const ids: string[] = [];
let bridge: Bridge;
let rec: Reconciling;

beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      const { main } = config.targets;
      if (!main) throw new Error('no target');
      main.attributes = { level: { type: 'string', from: 'title', onEmpty: 'clear' } };
      main.guard.deactivate = { count: 4, percent: 100 };
    },
  });
  rec = await openReconciling(bridge);
  for (const name of NAMES)
    ids.push(await bridge.idp.createUser(name, { title: 'low', active: name !== EVE }));
  await rec.untilSynced();
  await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
}, 30_000);
afterAll(async () => {
  await rec.stop();
  await bridge.stop();
});

const changes = async (reconciling = rec) =>
  (await reconciling.plan()).entries.filter(({ action }) => action !== 'unmanaged').map(brief);
const isActive = async (name: string) => (await bridge.platform.user(name))?.active;
const patch = (index: number, path: string, value: unknown) =>
  bridge.idp.patch(`/Users/${ids[index]}`, { op: 'replace', path, value });

test('the cause is "write did not stick" if the platform shows the old value after our write', async () => {
  await bridge.platform.control('PATCH', '/faults', { staleReadsMs: 60_000 });
  try {
    await patch(0, 'displayName', 'Ann Newname');
    await rec.untilSynced();
    await expect(changes()).resolves.toEqual([`update | ${ANN} | write did not stick`]);
  } finally {
    await bridge.platform.control('PATCH', '/faults', {});
  }
  await expect(changes()).resolves.toEqual([]);
}, 30_000);

test('a user with a pending deactivation counts once in the guard of a plan', async () => {
  const { guardStore } = rec.scopes[0]!.scope.outbox;
  // An account is activated at the platform, and three deactivations wait for the release of a hold.
  const id = (await bridge.platform.user(EVE))?.scimId;
  await rec.meddle(
    'PATCH',
    `/api/scim/v2/Users/${id}`,
    scimPatch({ op: 'replace', path: 'active', value: true }),
  );
  await guardStore.hold('ops');
  for (const index of [0, 1, 2]) await patch(index, 'active', false);
  await expect(rec.run()).resolves.toMatchObject({
    report: { outcome: 'held', message: expect.stringContaining('on hold'), counts: { deactivate: 4 } },
  });
  // Three pending deactivations and one found by the reconcile are four, which the limit allows.
  expect(await guardStore.open()).toBeUndefined();
  await guardStore.release();
  await eventually('all four are closed', async () => {
    const active = await Promise.all(NAMES.map(isActive));
    return active.join() === 'false,false,false,true,false';
  });
  await rec.untilSynced();
  expect(await guardStore.open()).toBeUndefined();
  for (const index of [0, 1, 2]) await patch(index, 'active', true);
  await rec.untilSynced();
}, 30_000);

test('the cause is "mapping changed" after a change of rules; the values are written once', async () => {
  const config = structuredClone(bridge.config);
  Object.assign(config.targets.main?.attributes ?? {}, {
    level: { type: 'string', expression: '$uppercase(title)', onEmpty: 'clear' },
  });
  await bridge.app.stop();
  const other = await openReconciling(bridge, config);
  const deps = { logger: silentLogger, clock: systemClock, ids: randomIds, random: Math.random };
  expect(await changes(other)).toEqual(
    NAMES.map((name) => `setAttribute | ${name} | level | mapping changed`),
  );
  const app = await startApp(config, 'worker', deps);
  try {
    await expect(other.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
    await expect(bridge.platform.user(ANN)).resolves.toMatchObject({ attributes: { level: 'LOW' } });
    await bridge.platform.forgetRequests();
    await expect(other.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
    await expect(bridge.platform.writes()).resolves.toEqual([]);
  } finally {
    await app.stop();
    await other.stop();
  }
}, 60_000);
