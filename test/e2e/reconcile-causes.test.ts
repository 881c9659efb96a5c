// Tests the causes of differences: changed rules, and a platform that shows another value than the one written.
import { startApp } from '../../src/app.ts';
import { randomIds, systemClock } from '../../src/support/sources.ts';
import { silentLogger } from '../../src/support/logger.ts';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { brief, openReconciling, scimPatch, type Reconciling } from '../support/reconciling.ts';

const NAMES = ['ann', 'ben', 'cho', 'dan', 'eve'].map((name) => `${name}@acme.example`);
const ANN = NAMES.at(0) ?? '';
const BEN = NAMES.at(1) ?? '';
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

test('the platform shows the old value after a write of the bridge → plan gives the cause "write did not stick"', async () => {
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

test('a value is changed at the platform and the bridge then writes another value of the account → plan attributes the change to the actor at the platform', async () => {
  const { users, apiKeys } = await bridge.platform.control('POST', '/fixtures', {
    users: [{ userName: 'other@acme.example', isAdmin: true }],
    apiKeys: [{ name: 'others', owner: 'other@acme.example' }],
  });
  const scimId = (await bridge.platform.user(BEN))?.scimId;
  const change = scimPatch({ op: 'replace', path: 'displayName', value: 'By Others' });
  await rec.meddle('PATCH', `/api/scim/v2/Users/${scimId}`, change, apiKeys[0].key);
  await patch(1, 'name.givenName', 'Benjamin');
  await rec.untilSynced();
  const [entry] = (await rec.plan()).entries.filter(({ action }) => action === 'update');
  expect(entry).toMatchObject({ name: BEN, attribution: { cause: 'platform changed' } });
  expect(entry?.attribution.by).toBe(users[0].userName);
  await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
}, 30_000);

test('three deactivations are pending and a reconcile finds a fourth → the guard counts each once and allows all four', async () => {
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

const deps = { logger: silentLogger, clock: systemClock, ids: randomIds, random: Math.random };

/** Stops the bridge, and runs reconcile and a worker with other rules. */
async function withRules(attributes: object, use: (other: Reconciling) => Promise<void>): Promise<void> {
  await bridge.app.stop();
  const config = structuredClone(bridge.config);
  Object.assign(config.targets.main?.attributes ?? {}, attributes);
  const other = await openReconciling(bridge, config);
  const app = await startApp(config, 'worker', deps);
  try {
    await use(other);
  } finally {
    await app.stop();
    await other.stop();
  }
}

async function writesOnce(other: Reconciling): Promise<void> {
  await expect(other.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
  await bridge.platform.forgetRequests();
  await expect(other.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
  await expect(bridge.platform.writes()).resolves.toEqual([]);
}

test('mapping rules change → plan gives the cause "mapping changed", and the values are written once', async () => {
  await withRules(
    { level: { type: 'string', expression: '$uppercase(title)', onEmpty: 'clear' } },
    async (other) => {
      expect(await changes(other)).toEqual(
        NAMES.map((name) => `setAttribute | ${name} | level | mapping changed`),
      );
      await writesOnce(other);
      await expect(bridge.platform.user(ANN)).resolves.toMatchObject({ attributes: { level: 'LOW' } });
    },
  );
}, 60_000);

test("new attributes in the mapping are written for all users, including those that the platform's lists do not show", async () => {
  const rules = {
    level: { type: 'string', expression: '$uppercase(title)', onEmpty: 'clear' },
    languages: { type: 'string_array', expression: '["de", "en"]', onEmpty: 'clear' },
    team: { type: 'string', expression: '"blue"', onEmpty: 'clear' },
    senior: { type: 'boolean', expression: 'title = "low"', onEmpty: 'clear' },
  };
  await withRules(rules, async (other) => {
    expect((await changes(other)).sort()).toEqual(
      [
        'defineAttribute | languages | languages | mapping changed',
        'defineAttribute | senior | senior | mapping changed',
        'defineAttribute | team | team | mapping changed',
        ...NAMES.flatMap((name) => [
          `setAttribute | ${name} | languages | mapping changed`,
          `setAttribute | ${name} | senior | mapping changed`,
          `setAttribute | ${name} | team | mapping changed`,
        ]),
      ].sort(),
    );
    await writesOnce(other);
    await expect(bridge.platform.user(ANN)).resolves.toMatchObject({
      attributes: { languages: ['de', 'en'], senior: true, team: 'blue' },
    });
  });
}, 60_000);

test('an attribute has another type at the platform → plan shows a conflict until a person acts, and not "as desired"', async () => {
  const { id } = (await rec.meddle('GET', '/api/v1/user-attributes')).data.find(
    ({ name }: any) => name === 'level',
  );
  await rec.meddle('DELETE', `/api/v1/user-attributes/${id}`);
  await rec.meddle('POST', '/api/v1/user-attributes', { name: 'level', type: 'number' });
  const conflicts = ['conflict | level | level | none | report'];
  await withRules({}, async (other) => {
    for (const _ of [1, 2]) {
      const { report, plan } = await other.run();
      expect(report).toMatchObject({
        outcome: 'blocked',
        message: '1 conflict needs a person: see scim-bridge plan',
      });
      expect(plan?.entries.filter(({ action }) => action === 'conflict').map(brief)).toEqual(conflicts);
    }
    expect((await other.plan()).entries.find(({ action }) => action === 'conflict')?.reason).toBe(
      'attribute level is number at the platform and string in the mapping: a type cannot be changed there, so correct the mapping or use another name',
    );
  });
}, 60_000);
