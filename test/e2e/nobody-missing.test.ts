// Tests that reconcile restores every desired user: after any loss of marks or links, and at a new target.
import { createKeyspace } from '../../src/directory/keys.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { openReconciling, type Reconciling } from '../support/reconciling.ts';
import { connectRedis } from '../../src/directory/redis/connection.ts';
import { silentLogger } from '../../src/support/logger.ts';

const country = (value: string) => ({ addresses: [{ type: 'work', country: value }] });
const PEOPLE = 30;

let bridge: Bridge;
let ids: string[];
let redis: ReturnType<typeof connectRedis>;
const key = (family: string): string =>
  createKeyspace(bridge.config.redis.prefix, 'default').key(family, 'main');

beforeEach(async () => {
  bridge = await buildBridge({
    configure: ({ targets }) => {
      Object.assign(targets.main?.attributes ?? {}, {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' },
        teams: { type: 'string_array', expression: 'groups.display', onEmpty: 'clear' },
      });
    },
  });
  redis = connectRedis(bridge.config.redis, 'commands', silentLogger);
  ids = [];
  for (let n = 0; n < PEOPLE; n++) ids.push(await bridge.idp.createUser(`p${n}@acme.example`, country('PT')));
  await bridge.idp.createGroup('analysts', ids);
}, 60_000);
afterEach(async () => {
  redis.disconnect();
  await bridge.stop();
});

/** Differences between the desired users and those of the platform. */
async function faultsAt(
  platform: PlatformView,
  expected: (n: number) => string | undefined,
): Promise<string[]> {
  const { users, groups } = await platform.state();
  const team = groups.filter(({ displayName }) => displayName === 'analysts');
  if (team.length !== 1) return [`the group is there ${team.length} times`];
  const faults: string[] = [];
  for (let n = 0; n < PEOPLE; n++) {
    const userName = `p${n}@acme.example`;
    const found = users.filter((user) => user.userName === userName);
    const [user] = found;
    const wanted = expected(n);
    if (found.length > 1) faults.push(`${userName} is there ${found.length} times`);
    if (wanted === undefined ? user?.active : !user?.active)
      faults.push(`${userName}: active ${user?.active}`);
    if (wanted !== undefined && user?.attributes.country !== wanted)
      faults.push(`${userName}: country ${String(user?.attributes.country)}`);
    if (wanted !== undefined && !team[0]?.members.includes(userName)) faults.push(`${userName} is no member`);
  }
  return faults;
}

const everybodyInPortugal = () => 'PT';

/** Runs one reconcile, expects that everything is synced, and that a second one writes nothing. */
async function afterOneRun(rec: Reconciling, platform: PlatformView): Promise<void> {
  const { report } = await rec.run();
  expect(report).toMatchObject({
    outcome: 'converged',
    coverage: { users: { missing: 0, pending: 0 }, groups: { missing: 0 } },
  });
  await rec.untilSynced();
  await platform.forgetRequests();
  await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
  await rec.untilSynced();
  await expect(platform.writes()).resolves.toEqual([]);
}

test('a target is added later → one reconcile creates all users there, each inactive first', async () => {
  const rec = await openReconciling(bridge);
  await rec.untilSynced();
  await rec.stop();
  const second: Sandbox = await startSandbox();
  const { main } = bridge.config.targets;
  if (!main) throw new Error('no target');
  const { platformUrl, fixtures, controlUrl } = second.ready;
  const settings = { ...main, name: 'second', url: platformUrl, token: fixtures.apiKeys.admin ?? '' };
  bridge.config.targets = { main, second: settings };
  const [connection] = Object.values(bridge.config.connections);
  connection?.targets.push('second');
  const platform = createPlatformView(controlUrl);
  const app = await bridge.another('worker');
  const both = await openReconciling(bridge);
  const added = { ...both, scopes: both.scopes.filter(({ scope }) => scope.target.name === 'second') };
  try {
    const { coverage } = added.scopes[0]?.scope ?? {};
    await expect(coverage?.read('User')).resolves.toMatchObject({ desired: PEOPLE, missing: PEOPLE });
    const plan = await both.plan({ at: 'second' });
    expect(plan.counts.create).toBe(PEOPLE + 1);
    expect(plan.coverage.users).toMatchObject({ desired: PEOPLE, linked: 0, missing: PEOPLE });
    const { report } = await both.run({ at: 'second' });
    expect(report).toMatchObject({
      outcome: 'converged',
      coverage: { users: { desired: PEOPLE, linked: PEOPLE, seen: PEOPLE, missing: 0 } },
    });
    await expect(faultsAt(platform, everybodyInPortugal)).resolves.toEqual([]);
    const creations = (await platform.writes()).filter(
      ({ method, path }) => method === 'POST' && path.endsWith('/Users'),
    );
    expect(creations.every(({ body }) => body.active === false)).toBe(true);
    await platform.forgetRequests();
    await expect(both.run({ at: 'second' })).resolves.toMatchObject({ report: { outcome: 'converged' } });
    await expect(platform.writes()).resolves.toEqual([]);
  } finally {
    await both.stop();
    await app.stop();
    await second.stop();
  }
}, 60_000);

describe('after all users were synced', () => {
  let rec: Reconciling;
  beforeEach(async () => {
    rec = await openReconciling(bridge);
    await rec.untilSynced();
    await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
  }, 60_000);
  afterEach(() => rec.stop());

  /** Changes users while the target is on hold, then deletes the outbox keys. */
  async function changeAndLose(change: () => Promise<void>, ...families: string[]): Promise<void> {
    const { guardStore } = rec.scopes[0]?.scope.outbox ?? {};
    await guardStore?.hold('test', '');
    await change();
    await redis.del(families.map(key));
    await guardStore?.release();
  }

  test('the marks of changes are lost → a reconcile applies the changes', async () => {
    await changeAndLose(
      async () => {
        for (const id of ids.slice(0, 5))
          await bridge.idp.patch(`/Users/${id}`, { op: 'replace', value: country('DE') });
        await bridge.idp.patch(`/Users/${ids[5]}`, { op: 'replace', path: 'active', value: false });
        await bridge.idp.send('DELETE', `/Users/${ids[6]}`);
      },
      ...['marks', 'dirty', 'inflight', 'deliveries', 'accepted'],
    );
    await expect(rec.plan()).resolves.toMatchObject({ coverage: { users: { missing: 6 } } });
    await afterOneRun(rec, bridge.platform);
    await expect(
      faultsAt(bridge.platform, (n) => (n < 5 ? 'DE' : n < 7 ? undefined : 'PT')),
    ).resolves.toEqual([]);
  }, 60_000);

  test('marks are missing in every queue list → a reconcile schedules these marks', async () => {
    await changeAndLose(
      () =>
        bridge.idp.patch(`/Users/${ids[0]}`, { op: 'replace', value: country('DE') }).then(() => undefined),
      ...['dirty', 'inflight'],
    );
    await afterOneRun(rec, bridge.platform);
    await expect(faultsAt(bridge.platform, (n) => (n === 0 ? 'DE' : 'PT'))).resolves.toEqual([]);
  }, 60_000);

  test('all outbox keys of changed memberships are lost → a reconcile applies these memberships', async () => {
    await changeAndLose(
      async () => {
        const members = await redis.keys(`${bridge.config.redis.prefix}*{default}:members:*`);
        const group = members[0]?.split(':').at(-1) ?? '';
        await bridge.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${ids[0]}"]` });
        await bridge.idp.patch(`/Groups/${group}`, { op: 'replace', path: 'displayName', value: 'analysts' });
        await redis.del(await redis.keys(`${bridge.config.redis.prefix}*{default}:pendingMembers:*`));
        await redis.del(await redis.keys(`${bridge.config.redis.prefix}*{default}:pendingGroups:*`));
      },
      ...['marks', 'dirty', 'inflight', 'deliveries', 'accepted'],
    );
    await afterOneRun(rec, bridge.platform);
    const { groups } = await bridge.platform.state();
    const team = groups.find(({ displayName }) => displayName === 'analysts');
    expect(team?.members).not.toContain('p0@acme.example');
    expect(team?.members).toHaveLength(PEOPLE - 1);
  }, 60_000);

  test.each([['links'], ['linked'], ['links', 'linked'], ['links', 'linked', 'marks', 'dirty', 'mapped']])(
    'links are lost (keys %s) → a reconcile restores them without duplicate accounts',
    async (...families) => {
      await redis.del(families.map(key));
      await afterOneRun(rec, bridge.platform);
      await expect(faultsAt(bridge.platform, everybodyInPortugal)).resolves.toEqual([]);
    },
    60_000,
  );

  test('the link of one person is lost after a run that found the account equal → a reconcile restores it', async () => {
    await rec.run();
    await redis.hdel(key('links'), `User:${ids[0]}`);
    const { coverage } = rec.scopes[0]?.scope ?? {};
    await expect(coverage?.read('User')).resolves.toMatchObject({ linked: PEOPLE - 1, missing: 1 });
    const { coverage: planned, counts } = await rec.plan();
    expect(planned.users).toMatchObject({ linked: PEOPLE - 1, missing: 1 });
    expect(counts).toMatchObject({ adopt: 1 });
    await afterOneRun(rec, bridge.platform);
    await expect(faultsAt(bridge.platform, everybodyInPortugal)).resolves.toEqual([]);
  }, 60_000);

  test('somebody deletes all managed accounts and groups at the platform → a reconcile creates them again', async () => {
    const { users, groups } = await bridge.platform.state();
    for (const { scimId, userName } of users)
      if (/^p\d/.test(userName)) await rec.meddle('DELETE', `/api/scim/v2/Users/${scimId}`);
    for (const { scimId } of groups) await rec.meddle('DELETE', `/api/scim/v2/Groups/${scimId}`);
    await afterOneRun(rec, bridge.platform);
    await expect(faultsAt(bridge.platform, everybodyInPortugal)).resolves.toEqual([]);
  }, 60_000);
});
