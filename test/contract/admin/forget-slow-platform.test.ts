// Tests the order to forget a person through the admin API while the platform answers later than the look at the account waits.
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { openAdmin, type AdminRig } from './rig.ts';

/** Longer than the look at an account takes. */
const SLOW_MS = 12_000;

let rig: AdminRig;
beforeAll(async () => {
  rig = await openAdmin();
}, 60_000);
afterAll(() => rig.bridge.stop());

/** Creates a person, who then leaves. @returns the ref */
async function leaver(userName: string): Promise<string> {
  const id = await rig.bridge.idp.createUser(userName);
  await rig.untilSynced();
  await rig.bridge.idp.send('DELETE', `/Users/${id}`);
  await rig.untilSynced();
  return `User:${id}`;
}
const delay = (latencyMs: number): Promise<unknown> =>
  rig.bridge.platform.control('PATCH', '/faults', {
    rules: [{ method: 'GET', path: '/scim/v2/Users/', latencyMs: [latencyMs, latencyMs] }],
  });
const forgetsOf = async (ref: string): Promise<number> =>
  (await rig.operator.get('/acts?action=forget')).body.filter(({ subject }: { subject?: string }) =>
    subject?.includes(ref),
  ).length;

test('when the account of a leaver cannot be read in time, forget answers 409 and removes nothing, and a repeated forget answers 200', async () => {
  const ref = await leaver('ann@acme.example');
  await delay(SLOW_MS);
  const { status, body } = await rig.operator.post('/forget', { person: ref, yes: true });
  expect([status, body]).toMatchObject([409, { accounts: [{ state: 'unread' }] }]);
  expect(await forgetsOf(ref)).toBe(0);
  await delay(0);
  const repeated = await rig.operator.post('/forget', { person: ref, yes: true });
  expect([repeated.status, repeated.body]).toMatchObject([200, [{ accounts: [{ state: 'closed' }] }]]);
  expect(await forgetsOf(ref)).toBe(1);
}, 60_000);

test('when the client disconnects while forget reads the account, forget is still carried out and recorded, and a repeated forget answers 404', async () => {
  const ref = await leaver('bob@acme.example');
  await delay(SLOW_MS);
  const order = fetch(`http://127.0.0.1:${rig.bridge.app.port}/admin/v1/forget`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ person: ref, yes: true, leaveAccount: true }),
    signal: AbortSignal.timeout(1000),
  });
  await expect(order).rejects.toThrow();
  await eventually('the order is recorded', async () => (await forgetsOf(ref)) === 1, 20_000);
  await delay(0);
  expect((await rig.operator.post('/forget', { person: ref, yes: true })).status).toBe(404);
}, 60_000);
