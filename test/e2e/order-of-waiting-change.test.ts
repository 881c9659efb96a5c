// Tests that an order to sync a person whose pushed change waits does not hide who caused the change.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const HAL = 'hal@acme.example';
let place: Place;

beforeAll(async () => {
  place = await openPlace({});
});
afterAll(() => place.stop());

test("an operator's sync writes a waiting deactivation → the deactivation is logged with the request id of its push", async () => {
  const id = await place.idp.createUser(HAL);
  await place.idle();
  await place.stopApps();
  await place.start('api');
  const pushed = await place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  expect(pushed.status).toBeLessThan(300);
  const waiting = (await place.commands.run('explain', HAL)).text;
  const line = /^.*change accepted \(([^)]+)\), not applied yet/mu.exec(waiting);
  const [, request = ''] = line ?? [];
  expect(request).not.toBe('');

  expect((await place.commands.run('sync', HAL, '--by', 'olga')).code).toBe(0);

  expect(await place.platform.user(HAL)).toMatchObject({ active: false });
  const told = (await place.commands.run('explain', HAL)).text;
  expect(told).toContain(`change accepted (${request})`);
  expect(told).not.toContain('sync:olga');
  const [newest] = (await place.commands.run('log', '--resource', HAL, '--limit', '1')).text.split('\n');
  expect(newest).toContain('deactivate');
  expect(newest).toContain(`[${request}]`);
});
