// Tests a target whose address leads to another tenant: nothing is written before an operator accepts it.
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { forgetTenant, TENANT_ACCEPTED } from '../../src/reconcile/tenant/change-tenant.ts';
import type { Plan } from '../../src/reconcile/plan.ts';
import { ifOpen, readRestored } from '../../src/reconcile/tenant/restored.ts';
import type { ReconcileScope } from '../../src/reconcile/scope.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { openReconciling, type Reconciling } from '../support/reconciling.ts';

const OURS = ['ann', 'ben', 'cho', 'dan', 'eve'].map((name) => `${name}@acme.example`);
const THEIRS = ['zoe', 'yan', 'xia', 'wim', 'vic', 'uma', 'tom'].map((name) => `${name}@other.example`);

let bridge: Bridge;
let other: Sandbox;
let there: PlatformView;
let ids: string[];

beforeEach(async () => {
  bridge = await buildBridge();
  await bridge.platform.control('PATCH', '/settings', { scimIdStyle: 'numeric' });
  ids = [];
  for (const userName of OURS) ids.push(await bridge.idp.createUser(userName));
  await bridge.idp.createGroup('analysts', ids);
  const rec = await openReconciling(bridge);
  await rec.untilSynced();
  await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
  await rec.stop();
  other = await startSandbox();
  there = createPlatformView(other.ready.controlUrl);
  await there.control('PATCH', '/settings', { scimIdStyle: 'numeric' });
}, 60_000);
afterEach(async () => {
  await bridge.stop();
  await other.stop();
});

/** The same settings with another address, as after a restart. */
async function move(url: string, token: string | undefined): Promise<Reconciling> {
  await bridge.app.stop();
  const { main } = bridge.config.targets;
  if (!main) throw new Error('no target');
  Object.assign(main, { url, token: token ?? '' });
  await bridge.another('all');
  return openReconciling(bridge);
}

const toOther = () => move(other.ready.platformUrl, other.ready.fixtures.apiKeys.admin);
const namesThere = async (): Promise<string[]> =>
  (await there.state()).users.map(({ userName }) => userName).sort();
const lastRun = async (rec: Reconciling) => (await rec.scopes[0]?.scope.runs.read())?.last;

test('the address leads to another tenant with the same account ids → its accounts are not changed, and --accept-tenant creates everybody there', async () => {
  await there.control('POST', '/fixtures', { users: THEIRS.map((userName) => ({ userName })) });
  const before = await namesThere();
  await there.forgetRequests();
  const rec = await toOther();
  try {
    // The reconcile at the start asks for a confirmation, and pushes wait for it.
    await eventually('the start has asked', async () => (await lastRun(rec))?.outcome === 'held', 20_000);
    const { report } = await rec.run();
    expect(report.outcome).toBe('held');
    expect(report.message).toMatch(/main may be another tenant: .*--accept-tenant/);
    await expect(there.writes()).resolves.toEqual([]);
    await expect(namesThere()).resolves.toEqual(before);

    // The group is still being written when the plan after the acceptance is made.
    await there.control('PATCH', '/faults', {
      rules: [
        { method: 'GET', path: '/scim/v2/Users', latencyMs: [200, 200] },
        { method: 'POST', path: '/scim/v2/Groups', latencyMs: [2000, 2000] },
      ],
    });
    const accepted = await rec.run({ acceptTenant: true });
    await there.control('PATCH', '/faults', { rules: [] });
    expect(accepted.report).toMatchObject({
      outcome: 'converged',
      coverage: { users: { desired: OURS.length, linked: OURS.length, pending: 0, missing: 0 } },
    });
    await expect(namesThere()).resolves.toEqual([...before, ...OURS].sort());
    const { groups } = await there.state();
    expect(groups.find(({ displayName }) => displayName === 'analysts')?.members.sort()).toEqual(OURS);
    await there.forgetRequests();
    await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
    await expect(there.writes()).resolves.toEqual([]);
  } finally {
    await rec.stop();
  }
}, 60_000);

test('--accept-tenant shows the whole plan before the first write, and the answer "no" leaves links and hold unchanged', async () => {
  await there.control('POST', '/fixtures', { users: THEIRS.map((userName) => ({ userName })) });
  await there.forgetRequests();
  const rec = await toOther();
  try {
    await eventually('the start has asked', async () => (await lastRun(rec))?.outcome === 'held', 20_000);
    const { links, outbox } = rec.scopes[0]?.scope ?? {};
    const stored = () => links?.getMany('main', [...ids.map((id) => `User:${id}` as const)]);
    const before = await stored();
    const shown: Plan[] = [];
    const refused = await rec.run({
      acceptTenant: true,
      confirm: async (plan) => {
        shown.push(plan);
        // Time in which a worker would write if the target were not on hold.
        await setTimeout(1500);
        return false;
      },
    });
    expect(shown.map(({ counts }) => counts)).toEqual([
      expect.objectContaining({ create: OURS.length + 1, addMember: OURS.length }),
    ]);
    expect(refused.report).toMatchObject({
      outcome: 'held',
      message: expect.stringContaining('--accept-tenant'),
    });
    await expect(there.writes()).resolves.toEqual([]);
    await expect(stored()).resolves.toEqual(before);
    await expect(outbox?.guardStore.onHold()).resolves.toMatchObject({ by: 'reconcile' });
    const accepted = await rec.run({ acceptTenant: true, confirm: () => Promise.resolve(true) });
    expect(accepted.report.outcome).toBe('converged');
    expect((await there.group('analysts'))?.members.toSorted()).toEqual(OURS);
  } finally {
    await rec.stop();
  }
}, 60_000);

test('reconcile --accept-tenant is interrupted → the next run is held and writes nothing while a link to the former tenant is left', async () => {
  await there.control('POST', '/fixtures', { users: THEIRS.map((userName) => ({ userName })) });
  await there.forgetRequests();
  const rec = await toOther();
  try {
    await eventually('the start has asked', async () => (await lastRun(rec))?.outcome === 'held', 20_000);
    const scope = rec.scopes[0]?.scope;
    if (!scope) throw new Error('no scope');
    const all = async function* (name: string) {
      let left = 3;
      for await (const each of scope.links.all(name)) if (left-- > 0) yield each;
    };
    const { acts, target } = scope;
    await acts.record({
      act: 'restore',
      by: 'olga',
      via: 'command',
      subject: `backup of ${new Date().toISOString()}`,
    });
    await acts.record({
      act: 'reconcile',
      by: 'olga',
      via: 'command',
      target: target.name,
      subject: TENANT_ACCEPTED,
    });
    await forgetTenant({ ...scope, links: { ...scope.links, all } });
    // While links to the former tenant are left, the restore counts as open, because it may explain them.
    await expect(ifOpen(await readRestored(acts), scope)).resolves.toBeDefined();
    const { report } = await rec.run();
    expect(report).toMatchObject({ outcome: 'held', message: expect.stringContaining('--accept-tenant') });
    await expect(there.writes()).resolves.toEqual([]);
    await forgetTenant(scope);
    await scope.outbox.guardStore.endTenantHold();
    await expect(ifOpen(await readRestored(acts), scope)).resolves.toBeUndefined();
    await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
    expect((await there.group('analysts'))?.members.toSorted()).toEqual(OURS);
  } finally {
    await rec.stop();
  }
}, 60_000);

const userRefs = () => ids.map((id) => `User:${id}` as const);

test.each<[string, (scope: ReconcileScope) => Promise<unknown>]>([
  ['has a pending change', ({ outbox }) => outbox.mark(userRefs(), 'reconcile')],
  [
    // The link has another basis than the record, and no mark tells it, as after the loss of the mark.
    'changed without a mark',
    async ({ coverage }) => {
      const { url, prefix } = bridge.config.redis;
      const redis = new Redis(url);
      const [key = ''] = (await redis.keys(`${prefix}*`)).filter((name) => name.endsWith(':links:main'));
      for (const ref of userRefs())
        await redis.hset(key, ref, ((await redis.hget(key, ref)) ?? '').replace(/"b":"\d+"/, '"b":"0"'));
      redis.disconnect();
      await coverage.readAllAnew();
    },
  ],
])(
  'the address leads to another tenant while every linked user %s → no account there is changed',
  async (_has, change) => {
    await there.control('POST', '/fixtures', { users: THEIRS.map((userName) => ({ userName })) });
    const before = await namesThere();
    await there.forgetRequests();
    const here = await openReconciling(bridge);
    const scope = here.scopes[0]?.scope;
    if (!scope) throw new Error('no scope');
    await scope.outbox.guardStore.hold('olga');
    await change(scope);
    await here.stop();
    const rec = await toOther();
    try {
      await eventually('the start has ended', async () => (await lastRun(rec))?.outcome === 'held', 20_000);
      await rec.scopes[0]?.scope.outbox.guardStore.release();
      const { report } = await rec.run();
      expect(report.message).toContain('--accept-tenant');
      await expect(there.writes()).resolves.toEqual([]);
      await expect(namesThere()).resolves.toEqual(before);
    } finally {
      await rec.stop();
    }
  },
  60_000,
);

test('an empty tenant at a new address needs --accept-tenant, and the old address can be set again', async () => {
  const { url, token } = bridge.config.targets.main ?? { url: '', token: '' };
  const rec = await toOther();
  await eventually('the start has asked', async () => (await lastRun(rec))?.outcome === 'held', 20_000);
  await expect(there.writes()).resolves.toEqual([]);
  await rec.stop();
  const back = await move(url, token);
  try {
    await eventually(
      'the reconcile of the start has ended the hold',
      async () => (await back.scopes[0]?.scope.outbox.guardStore.onHold()) === undefined,
      20_000,
    );
    await bridge.platform.forgetRequests();
    await expect(back.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
    await expect(bridge.platform.writes()).resolves.toEqual([]);
  } finally {
    await back.stop();
  }
}, 60_000);

test("a target on hold by an operator leads to another tenant → reconcile takes the hold over, and the operator's hold is in force again at the old address", async () => {
  const { url, token } = bridge.config.targets.main ?? { url: '', token: '' };
  const here = await openReconciling(bridge);
  await here.scopes[0]?.scope.outbox.guardStore.hold('olga', 'audit');
  await here.stop();
  const holdOf = (rec: Reconciling) => rec.scopes[0]?.scope.outbox.guardStore.onHold();
  const rec = await toOther();
  await eventually('the start has asked', async () => (await lastRun(rec))?.outcome === 'held', 20_000);
  // A release of this hold is refused.
  await expect(holdOf(rec)).resolves.toMatchObject({ by: 'reconcile' });
  await rec.stop();
  const back = await move(url, token);
  try {
    await eventually(
      'the reconcile of the start has recognised the tenant',
      async () => (await holdOf(back))?.by !== 'reconcile',
      20_000,
    );
    await expect(holdOf(back)).resolves.toMatchObject({ by: 'olga', note: 'audit' });
  } finally {
    await back.stop();
  }
}, 60_000);

test('the same tenant at a new address is recognised without a confirmation', async () => {
  const { url, token } = bridge.config.targets.main ?? { url: '', token: '' };
  const rec = await move(url.replace('127.0.0.1', 'localhost'), token);
  try {
    await eventually(
      'it is recognised',
      async () => (await rec.run()).report.outcome === 'converged',
      20_000,
    );
    await expect(rec.scopes[0]?.scope.outbox.hasMoved()).resolves.toBe(false);
  } finally {
    await rec.stop();
  }
}, 60_000);
