// Tests what plan and sync --dry-run tell about changes that the platform refused, before any reconcile has run.
import '../support/load-modules.ts';
import type { Role } from '../../src/app.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';

let place: Place;
afterEach(() => place.stop());
const open = async (roles: Role[]): Promise<void> => {
  place = await openPlace({ roles, target: { users: { deprovision: 'delete' } } });
};

const { outcome } = commandsAt(() => place);
const refuse = (method: string) =>
  place.platform.control('PATCH', '/faults', {
    rules: [{ method, status5xx: { share: 1, status: 403 } }],
  });

test('plan lists a dead letter once, as a conflict and not also as a change, before any reconcile', async () => {
  // Without a scheduler no reconcile has run.
  await open(['api']);
  const bob = await place.idp.createUser(BOB);
  await outcome('sync', bob);
  await refuse('PATCH');
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'displayName', value: 'Robert' });
  expect((await outcome('sync', bob))[0]).toBe(1);
  const [code, text] = await outcome('plan');
  expect([code, text]).toEqual([0, expect.stringContaining('1 conflict needs a person')]);
  expect(text).not.toContain('mapping changed');
  expect(text).not.toContain('update user');
});

test("the platform refuses one value with 413 → dead letter, explain and plan name the attribute, and explain shows the person's values", async () => {
  const attributes = {
    regions: { type: 'string_array', expression: '[title]' },
    team: { type: 'string', from: 'nickName' },
  };
  place = await openPlace({ target: { attributes } });
  const bob = await place.idp.createUser(BOB, { title: 'eu', nickName: 'sales' });
  await place.idle();
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'POST', path: 'user-attribute-values', status5xx: { share: 1, status: 413 } }],
  });
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'title', value: 'us' });
  await place.idle();
  const words = 'the platform refuses the value of regions: ';
  expect((await outcome('dead-letters', 'list'))[1]).toContain(words);
  const [, explained] = await outcome('explain', BOB);
  expect(explained).toContain(words);
  expect(explained).toContain('≠ attributes.regions: ["us"] ← ["eu"]');
  expect((await outcome('plan'))[1]).toContain(`User ${BOB}: conflict, Refused: ${words}`);
}, 30_000);

test('the platform refused the deletion of a closed account → sync --dry-run lists this deletion', async () => {
  await open(['all']);
  const bob = await place.idp.createUser(BOB);
  await place.idle();
  await refuse('DELETE');
  await place.idp.send('DELETE', `/Users/${bob}`);
  await place.idle();
  const [code, text] = await outcome('sync', bob, '--dry-run');
  expect([code, text]).toEqual([2, expect.stringContaining(`delete ${BOB}`)]);
  await place.platform.control('PATCH', '/faults', {});
  expect((await outcome('sync', bob, '--dry-run'))[0]).toBe(2);
  expect((await outcome('sync', bob))[0]).toBe(0);
  expect(await place.platform.user(BOB)).toBeUndefined();
  expect((await outcome('plan'))[1]).toContain('no changes. The platform is as desired.');
});
