// Tests orders of operators through the admin API: their effect at the platform and their audit entries.
import { openDesiredStates } from '../../../src/app/open.ts';
import { untilReady } from '../../../src/directory/redis/connection.ts';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const PEOPLE = Array.from({ length: 8 }, (_, index) => `p${index}@acme.example`);
let rig: AdminRig;
let ids: string[];

beforeAll(async () => {
  rig = await openAdmin({
    configure: (config) => {
      if (config.targets.main) config.targets.main.guard.deactivate = { count: 2, percent: 100 };
    },
  });
  ids = await Promise.all(PEOPLE.map((name) => rig.bridge.idp.createUser(name)));
  await rig.untilSynced();
}, 60_000);
afterAll(() => rig.bridge.stop());

const activeOnes = async (): Promise<string[]> =>
  (await rig.bridge.platform.state()).users
    .filter(({ userName, active }) => PEOPLE.includes(userName) && active)
    .map(({ userName }) => userName);

test('GET /status counts users and marked resources, and GET /config returns the settings without secrets', async () => {
  const { body: rows } = await rig.operator.get('/status');
  expect(rows).toMatchObject([{ connection: 'default', target: 'main', users: 8, dirty: 0, blocked: 0 }]);
  const { body: settings } = await rig.operator.get('/config');
  expect(settings.targets.main.concurrency).toBe(8);
  const text = JSON.stringify(settings);
  for (const secret of ['an-admin-token', 'a-token-for-tests', rig.bridge.config.targets.main?.token ?? '?'])
    expect(text).not.toContain(secret);
});

test('POST /hold stops writes to the platform, POST /release resumes them, and both answers tell whether they changed the target', async () => {
  const { operator, bridge } = rig;
  const order = { by: 'alice', note: 'upgrade of the platform' };
  await expect(operator.post('/hold', order)).resolves.toMatchObject({
    body: [{ connection: 'default', target: 'main', changed: true }],
  });
  expect((await operator.post('/hold')).body[0].changed).toBe(false);
  expect((await operator.get('/status')).body[0].hold).toMatchObject(order);
  await bridge.idp.createUser('later@acme.example');
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await bridge.platform.user('later@acme.example')).toBeUndefined();
  expect((await operator.post('/release', { target: 'main' })).body[0].changed).toBe(true);
  await eventually('applied', async () => (await bridge.platform.user('later@acme.example'))?.active);
  await rig.untilSynced();
});

test('the admin API lists an approval of held deactivations; approving one person closes this account only, and rejecting the rest closes none', async () => {
  const { operator, bridge } = rig;
  expect((await operator.get('/approvals')).body).toEqual([]);
  for (const id of ids.slice(0, 6))
    await bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  await rig.untilSynced();
  const [approval] = (await operator.get('/approvals')).body;
  expect(approval).toMatchObject({ state: 'held', kinds: { deactivate: expect.any(Number), delete: 0 } });
  const held = approval.kinds.deactivate;
  expect(held).toBeGreaterThanOrEqual(4);
  const kept = (await activeOnes()).length;
  expect(approval.items).toBeUndefined();
  const { body: shown } = await operator.get(`/approvals/${approval.id}`);
  expect(shown.items).toHaveLength(held);
  const [one] = shown.items;
  expect(PEOPLE).toContain(one.name);

  const path = `/approvals/${approval.id}`;
  expect((await operator.get(`${path}?person=${one.name}`)).body).toMatchObject({
    matching: 1,
    items: [{ ref: one.ref, cause: 'deactivated' }],
    limits: [{ kind: 'deactivate', held, usedBy: expect.any(Array) }],
  });
  expect((await operator.get(`${path}?limit=1&offset=1`)).body.items).toEqual([shown.items[1]]);
  expect((await operator.get(`${path}?limit=1001`)).status).toBe(400);
  expect((await operator.get(`${path}?person=nobody`)).status).toBe(400);
  expect((await operator.post(`${path}/approve`, { persons: ['nobody'] })).status).toBe(400);

  const order = { by: 'alice', note: 'HR agreed', persons: [one.name], causes: ['deactivated'] };
  const first = await operator.post(`${path}/approve`, order);
  expect(first.body).toMatchObject({
    id: approval.id,
    action: 'approve',
    by: 'alice',
    items: 1,
    kinds: { deactivate: 1, delete: 0 },
    remaining: held - 1,
  });
  await eventually('one is closed', async () => !(await activeOnes()).includes(one.name));
  await rig.untilSynced();
  expect(await activeOnes()).toHaveLength(kept - 1);

  const [rest] = (await operator.get('/approvals')).body;
  expect((await operator.post(`/approvals/${rest.id}/reject`, { by: 'bob' })).body.items).toBe(held - 1);
  await rig.untilSynced();
  expect(await activeOnes()).toHaveLength(kept - 1);
  expect((await operator.get('/approvals')).body).toEqual([]);
  const decided = (await operator.get('/approvals?all=true')).body;
  expect(decided.map(({ state, by }: any) => [state, by])).toEqual([
    ['rejected', 'bob'],
    ['approved', 'alice'],
  ]);
  expect(decided[1]).toMatchObject({ note: 'HR agreed', total: 1, selection: expect.any(String) });
});

test('the order resync marks every user and group, and causes no write for a resource without a difference', async () => {
  await rig.bridge.platform.forgetRequests();
  const { body } = await rig.operator.post('/resync', { target: 'main' });
  expect(body.count).toBeGreaterThanOrEqual(PEOPLE.length);
  await rig.untilSynced();
  await expect(rig.bridge.platform.writes()).resolves.toEqual([]);
});

test("the admin API lists a dead letter with the platform's message, retries its write on order, and drops it from the list on order", async () => {
  const { operator, bridge } = rig;
  await bridge.idp.createGroup('system:all', ids.slice(6));
  await rig.untilSynced();
  const [letter] = (await operator.get('/dead-letters')).body;
  expect(letter).toMatchObject({ kind: 'Group', connection: 'default', target: 'main' });
  expect(letter.message).not.toBe('');
  expect((await operator.get(`/dead-letters/${letter.ref}`)).body).toEqual([letter]);
  expect((await operator.get('/dead-letters/Group:none')).status).toBe(404);

  await bridge.platform.forgetRequests();
  const chosen = { count: 1, resources: [letter.ref] };
  expect((await operator.post('/dead-letters/retry', { refs: [letter.ref] })).body).toEqual(chosen);
  await eventually('it is tried again', async () => (await bridge.platform.writes()).length > 0);
  await rig.untilSynced();
  expect((await operator.get('/dead-letters')).body).toMatchObject([{ ref: letter.ref }]);
  expect((await operator.post('/dead-letters/drop', { all: true })).body).toEqual(chosen);
  expect((await operator.get('/dead-letters')).body).toEqual([]);
  expect((await operator.post('/dead-letters/drop', { all: true })).body.count).toBe(0);
});

test('an order with the header x-scim-bridge-via: page is in the audit log with the interface page and the note', async () => {
  const reply = await rig.raw('/admin/v1/resync', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      'content-type': 'application/json',
      'x-scim-bridge-via': 'page',
    },
    body: JSON.stringify({ by: 'alice', note: 'after the upgrade' }),
  });
  expect(reply.status).toBe(200);
  const { body: acts } = await rig.operator.get('/acts?limit=1&action=resync');
  expect(acts).toMatchObject([{ act: 'resync', by: 'alice', via: 'page', note: 'after the upgrade' }]);
});

test('the audit log has each order with operator and interface and without secrets, and its verification names the entry after a deleted one', async () => {
  const { operator, bridge } = rig;
  const began = Date.now();
  const { body: made } = await operator.post('/tokens', { connection: 'default', name: 'next', by: 'carol' });
  await operator.delete('/tokens/default/next?by=dave');
  await operator.post('/links/forget', { resource: PEOPLE[7], by: 'erin' });
  const { body: acts } = await operator.get('/acts');
  const said = acts.map(({ act, by, via, count }: any) =>
    [act, by, via, count].filter((each) => each != null),
  );
  const api = 'admin API';
  expect(said).toEqual([
    ['forgetLink', 'erin', api],
    ['revokeToken', 'dave', api],
    ['createToken', 'carol', api],
    ['resync', 'alice', 'page'],
    ['dropDeadLetters', api, api, 1],
    ['retryDeadLetters', api, api, 1],
    ['resync', api, api],
    ['reject', 'bob', api, expect.any(Number)],
    ['approve', 'alice', api, 1],
    ['release', api, api],
    ['hold', 'alice', api],
  ]);
  expect(acts.at(-1)).toMatchObject({
    target: 'main',
    note: 'upgrade of the platform',
    connection: 'default',
  });
  expect(acts[2]).toMatchObject({ subject: 'next', note: 'never expires' });
  expect(Math.abs(Date.parse(acts[2].at) - began)).toBeLessThan(60_000);
  expect(JSON.stringify(acts)).not.toContain(made.secret);

  const verified = [{ connection: 'default', entries: acts.length, forgotten: 0, broken: null }];
  expect((await operator.get('/acts/verify')).body).toEqual(verified);
  const { redis } = openDesiredStates(bridge.config);
  await untilReady(redis, 5000);
  await redis.xdel(`${bridge.config.redis.prefix}:{default}:acts`, acts[5].id.replace('default.', ''));
  redis.disconnect();
  // The entries are newest first: without the sixth, the next newer one (the fifth) no longer fits the hash chain.
  expect((await operator.get('/acts/verify')).body[0].broken).toBe(acts[4].id);
});
