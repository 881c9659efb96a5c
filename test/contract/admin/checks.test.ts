// Tests doctor and verify-access of the admin API: both read Redis and the platform and write nothing.
import { eventually } from '../../support/eventually.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const ADA = 'ada.lovelace@acme.example';
let rig: AdminRig;
let id: string;

beforeAll(async () => {
  rig = await openAdmin({
    configure: ({ targets: { main } }) => {
      if (!main) throw new Error('no target');
      main.timeoutMs = 3000;
      const from = 'addresses[type eq "work"].country';
      main.attributes = { country: { type: 'string', from, onEmpty: 'keep' } };
    },
  });
  id = await rig.bridge.idp.createUser(ADA, { addresses: [{ type: 'work', country: 'DE' }] });
  await rig.bridge.idp.createGroup('analysts', [id]);
  await rig.untilSynced();
}, 60_000);
afterAll(() => rig.bridge.stop());

const found = async (): Promise<string[]> =>
  (await rig.operator.get('/doctor')).body.map(
    ({ area, level, message }: Record<string, string>) => `${level} ${area}: ${message}`,
  );

test('doctor of the admin API writes nothing at the platform, and reports `SCIM cannot be used` only while the target has SCIM switched off', async () => {
  const { platform } = rig.bridge;
  await platform.forgetRequests();
  const sound = await found();
  expect(sound.filter((line) => line.startsWith('error target'))).toEqual([]);
  expect(sound).toEqual(
    expect.arrayContaining([
      'ok config: the settings are valid',
      'ok redis: a writable primary that never evicts',
      'ok target main: the key is valid and belongs to admin@acme.example',
      'ok target main: SCIM is on, users and groups can be read',
      'ok clock: agrees with main',
    ]),
  );
  // doctor reads the platform's clock from the Date header of a HEAD request.
  expect((await platform.writes()).filter(({ method }) => method !== 'HEAD')).toEqual([]);
  await platform.control('PATCH', '/settings', { scimEnabled: false });
  expect(await found()).toContainEqual(expect.stringMatching(/^error target main: SCIM cannot be used/));
  await platform.control('PATCH', '/settings', { scimEnabled: true });
});

test('verify-access of the admin API returns security context and visible entities of a user, runs no query, and names differences of the account', async () => {
  const { bridge, operator } = rig;
  const { status, body } = await operator.post('/verify-access', { user: ADA });
  expect([status, body.ok, body.person.ref]).toEqual([200, true, `User:${id}`]);
  expect(body.chain.map(({ stage, ok }: any) => [stage, ok])).toEqual(
    ['push', 'stored', 'applied', 'visible'].map((stage) => [stage, true]),
  );
  expect(body.securityContext.cubeCloud).toEqual({ groups: ['analysts'], userAttributes: { country: 'DE' } });
  expect(body.entities.map(({ name }: any) => name)).toContain('orders');
  // The admin API takes no deployment secret, so the operator's query does not run and does not count as visible.
  const query = { measures: ['orders.count'] };
  const { body: asked } = await operator.post('/verify-access', { user: ADA, query });
  expect([asked.ok, asked.result, asked.query.kind, asked.chain[3].ok]).toEqual([
    false,
    'unknown',
    'notAllowed',
    undefined,
  ]);

  const { scimId } = (await bridge.platform.user(ADA)) ?? {};
  const closed = await fetch(`${bridge.sandbox.ready.platformUrl}/api/scim/v2/Users/${scimId}`, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${bridge.sandbox.ready.fixtures.apiKeys.admin}`,
      'content-type': 'application/scim+json',
    },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'active', value: false }],
    }),
  });
  expect(closed.status).toBeLessThan(300);
  const { body: after } = await operator.post('/verify-access', { user: `User:${id}`, target: 'main' });
  expect([after.ok, after.differences]).toEqual([
    false,
    [expect.objectContaining({ name: 'active', desired: true, actual: false })],
  ]);
});

test('verify-access answers 404 to an unknown user or target, 409 to an unknown deployment, 400 to an address or secret, and 502 without the platform', async () => {
  const { bridge, operator } = rig;
  const ask = async (body: object) => {
    const answer = await operator.post('/verify-access', body);
    return [answer.status, answer.body.detail];
  };
  expect(await ask({ user: 'stranger@acme.example' })).toEqual([
    404,
    expect.not.stringContaining('stranger'),
  ]);
  expect(await ask({ user: ADA, target: 'nowhere' })).toEqual([404, expect.stringContaining('main')]);
  const hired = 'bea@acme.example';
  await bridge.idp.createUser(hired);
  await rig.untilSynced();
  expect(await ask({ user: hired, deployment: 'nowhere' })).toEqual([409, expect.stringContaining('sales')]);
  // The admin API accepts neither a target address nor a secret.
  for (const more of [{ dataUrl: 'http://127.0.0.1:1' }, { secret: 'x' }])
    expect((await ask({ user: hired, ...more }))[0]).toBe(400);
  await bridge.platform.control('PATCH', '/faults', { status5xx: { share: 1 } });
  await eventually('the platform cannot be read', async () => (await ask({ user: hired }))[0] === 502);
  await bridge.platform.control('PATCH', '/faults', {});
  expect(bridge.logs.filter((line) => /lovelace|stranger|bea@/.test(line))).toEqual([]);
});
