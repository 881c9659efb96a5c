// Tests a reconcile while an approved change fails at the platform: the reconcile waits until the retry has succeeded.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

test('an approved change fails at the platform and is retried → reconcile does not report this change as held', async () => {
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'PATCH', path: 'scim/v2/Users', times: 4, status5xx: { share: 1, status: 503 } }],
  });
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', id, '--yes');
  const { code, text } = await place.commands.run('reconcile', '--yes');
  expect(text).not.toContain('held');
  expect(code).toBe(0);
  expect((await place.platform.user(ANN))?.active).toBe(false);
}, 60_000);
