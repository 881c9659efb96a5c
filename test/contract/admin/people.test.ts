// Tests explain, sync, log and tokens of the admin API, and that no name reaches the request log.
import { eventually } from '../../support/eventually.ts';
import { openReconciling, scimPatch, type Reconciling } from '../../support/reconciling.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const ADA = 'ada.lovelace@acme.example';
let rig: AdminRig;
let hands: Reconciling;
let id: string;

beforeAll(async () => {
  rig = await openAdmin();
  hands = await openReconciling(rig.bridge);
  id = await rig.bridge.idp.createUser(ADA);
  await rig.bridge.idp.createGroup('analysts', [id]);
  await rig.untilSynced();
}, 60_000);
afterAll(async () => {
  await hands.stop();
  await rig.bridge.stop();
});

test('explain finds a user by name, id or ref, and returns the timeline from push to platform', async () => {
  const { operator } = rig;
  const { body: found } = await operator.post('/explain', { resource: ADA });
  expect(found).toMatchObject([{ name: ADA, verdict: 'asDesired', kind: 'User', target: 'main' }]);
  expect(found[0].memberships).toMatchObject([{ name: 'analysts', state: 'applied' }]);
  expect(found[0].timeline.length).toBeGreaterThan(2);
  for (const resource of [id, `User:${id}`, encodeURIComponent(ADA)])
    expect((await operator.get(`/explain?resource=${resource}`)).body[0].ref).toBe(`User:${id}`);
  expect((await operator.post('/explain', { resource: 'analysts' })).body).toMatchObject([{ kind: 'Group' }]);
  const unknown = await operator.post('/explain', { resource: 'stranger@acme.example' });
  expect([unknown.status, JSON.stringify(unknown.body)]).toEqual([
    404,
    expect.not.stringContaining('stranger'),
  ]);
  expect((await operator.get('/explain')).status).toBe(400);
  expect(rig.bridge.logs.filter((line) => line.includes('lovelace'))).toEqual([]);
});

test('POST /sync with dryRun lists the planned writes and makes none; without dryRun it makes them', async () => {
  const { scimId } = (await rig.bridge.platform.user(ADA)) ?? {};
  const path = `/api/scim/v2/Users/${scimId}`;
  await hands.meddle('PATCH', path, scimPatch({ op: 'replace', path: 'displayName', value: 'Meddled' }));
  const dry = await rig.operator.post('/sync', { resource: ADA, dryRun: true });
  expect(dry.body).toMatchObject([{ dryRun: true, differences: [{ action: 'update' }], steps: [] }]);
  expect((await rig.bridge.platform.user(ADA))?.displayName).toBe('Meddled');
  const done = await rig.operator.post('/sync', { resource: `User:${id}`, by: 'alice' });
  expect(done.body).toMatchObject([{ outcome: 'equal', dryRun: false }]);
  expect((await rig.bridge.platform.user(ADA))?.displayName).not.toBe('Meddled');
  expect((await rig.operator.post('/sync', { resource: 'nobody' })).status).toBe(404);
  expect((await rig.operator.post('/sync', {})).status).toBe(400);
});

test('the admin API filters the log by person, action and time, and verifies the hash chain of the log', async () => {
  const { operator } = rig;
  const { body: all } = await operator.post('/log/search', { resource: ADA });
  expect(all.map(({ operation }: any) => operation)).toEqual(expect.arrayContaining(['create', 'activate']));
  const { body: made } = await operator.get('/log?action=create&action=activate&limit=2');
  expect(made).toHaveLength(2);
  expect(made.every(({ operation }: any) => ['create', 'activate'].includes(operation))).toBe(true);
  expect((await operator.get('/log?since=2099-01-01')).body).toEqual([]);
  expect((await operator.get('/log?since=soon')).status).toBe(400);
  expect((await operator.get('/log?limit=0')).status).toBe(400);
  expect((await operator.get('/log?action=explode')).status).toBe(400);
  const { body: verified } = await operator.get('/log/verify');
  expect(verified).toMatchObject([{ connection: 'default', target: 'main', broken: null }]);
});

test('the admin API lists and exports links, and the next sync of a user restores a link that an operator removed', async () => {
  const { operator, bridge } = rig;
  const { body: shown } = await operator.post('/links/show', { resource: ADA });
  const platformId = (await bridge.platform.user(ADA))?.scimId;
  expect(shown).toMatchObject([{ ref: `User:${id}`, platformId, kind: 'User', departed: false }]);
  expect((await operator.get('/links?kind=User')).body).toEqual(shown);
  const exported = await operator.get('/links/export');
  const rows = exported.body
    .trim()
    .split('\n')
    .map((line: string) => JSON.parse(line));
  expect(rows.map(({ kind }: any) => kind).sort()).toEqual(['Group', 'User']);

  expect((await operator.post('/links/import', { rows, dryRun: true })).body.outcomes).toEqual([
    'unchanged',
    'unchanged',
  ]);
  expect((await operator.post('/links/forget', { resource: ADA })).body).toMatchObject([{ platformId }]);
  await eventually('it is linked again', async () => {
    const [link] = (await operator.post('/links/show', { resource: ADA })).body;
    return link.platformId === platformId;
  });
  await rig.untilSynced();
  const { users } = await bridge.platform.state();
  expect(users.filter(({ userName }) => userName === ADA)).toHaveLength(1);
  expect((await operator.post('/links/forget', { resource: 'nobody' })).status).toBe(404);
});

test('a token created through the admin API is shown once, authenticates pushes, and is refused after its revocation', async () => {
  const { operator, raw } = rig;
  const push = async (token: string) =>
    (await raw('/scim/v2/Users?count=1', { headers: { authorization: `Bearer ${token}` } })).status;
  const order = { connection: 'default', name: 'next', expires: '90d', by: 'alice' };
  const { status, body: made } = await operator.post('/tokens', order);
  expect([status, made.name]).toEqual([201, 'next']);
  await eventually('it opens', async () => (await push(made.secret)) === 200);
  expect((await operator.post('/tokens', order)).status).toBe(409);
  const { body: listed } = await operator.get('/tokens?connection=default');
  expect(listed).toMatchObject([
    { name: 'primary', source: 'settings' },
    { name: 'next', createdBy: 'alice' },
  ]);
  expect(JSON.stringify(listed)).not.toContain(made.secret);

  expect((await operator.delete('/tokens/default/next')).body).toMatchObject({ revoked: true });
  await eventually('it is refused', async () => (await push(made.secret)) === 401, 15_000);
  expect((await operator.delete('/tokens/default/next')).status).toBe(404);
  expect((await operator.delete('/tokens/default/primary')).status).toBe(409);
  expect((await operator.delete('/tokens/nowhere/next')).status).toBe(404);
  expect((await operator.post('/tokens', { ...order, expires: 'soon' })).status).toBe(400);
  expect((await operator.post('/tokens', { ...order, name: 'Not A Name' })).status).toBe(400);
  expect(rig.bridge.logs.join('')).not.toContain(made.secret);
});

test('POST /sync answers 502 with advice for operators while the platform fails, and logs no internal error', async () => {
  const { bridge, operator } = rig;
  await bridge.platform.control('PATCH', '/faults', { status5xx: { share: 1 } });
  const answer = await operator.post('/sync', { resource: ADA, by: 'alice' });
  await bridge.platform.control('PATCH', '/faults', {});
  expect([answer.status, answer.body.detail]).toEqual([
    502,
    expect.stringMatching(/^The target main answers 503[ ;].*Check it with scim-bridge doctor, then repeat/),
  ]);
  expect(bridge.logs.filter((line) => line.includes('request failed unexpectedly'))).toEqual([]);
});
