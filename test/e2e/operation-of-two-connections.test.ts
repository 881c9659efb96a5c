// Tests that the message of an operation over two connections names both, so that no result hides another one.
import '../support/load-modules.ts';
import { ADMIN_TOKEN, TOKEN } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

const HR_TOKEN = `${TOKEN}-hr`;

let place: Place;
beforeAll(async () => {
  const connections = {
    default: { tokens: [{ name: 'primary', secret: TOKEN }] },
    hr: { tokens: [{ name: 'hr', secret: HR_TOKEN }] },
  };
  place = await openPlace({
    target: { guard: { deactivate: { count: 0, percent: 100 } } },
    rest: { connections },
  });
}, 30_000);
afterAll(() => place.stop());

async function messageOf(order: string): Promise<string> {
  const admin = `http://127.0.0.1:${place.port}/admin/v1`;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  const { body: started } = await send(admin, 'POST', order, { headers, body: {} });
  return eventually('the operation has ended', async () => {
    const { body } = await send(admin, 'GET', `/operations/${started.id}`, { headers });
    return body.state === 'running' ? undefined : String(body.message);
  });
}

test('a reconcile of two connections ends → its message names each connection with its result', async () => {
  const hr = createIdp(`http://127.0.0.1:${place.port}/connections/hr/scim/v2`, HR_TOKEN);
  const leave = { op: 'replace', path: 'active', value: false };
  const [ann, eve] = [
    await place.idp.createUser('ann@acme.example'),
    await hr.createUser('eve@acme.example'),
  ];
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, leave);
  await place.idle();
  expect(await messageOf('/reconcile')).toMatch(
    /^default → main: held: the guard holds .* hr → main: converged$/,
  );
  await hr.patch(`/Users/${eve}`, leave);
  await place.idle();
  expect(await messageOf('/reconcile')).toMatch(
    /^default → main: held: the guard holds 1 change: scim-bridge approvals show default\.main\.\S+ hr → main: held: the guard holds 1 change: scim-bridge approvals show hr\.main\.\S+$/,
  );
}, 60_000);

test('the target of two connections answers 503 → the message of the reconcile joins both results with one full stop', async () => {
  await place.platform.control('PATCH', '/faults', { status5xx: { share: 1, status: 503 } });
  const message = await messageOf('/reconcile');
  expect(message).toMatch(/^default → main: failed: .*repeat the command\. hr → main: failed: /);
  expect(message).not.toContain('..');
}, 60_000);
