// Tests what commands print about decisions on held changes, about an expired approval, and about memberships in a plan.
import { openPlace, type Place } from '../support/situation.ts';

const EVE = 'eve@acme.example';
const none = { count: 0, percent: 0 };

let place: Place;
let eve = '';
let sales = '';
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: none, removeMembers: none } } });
  const { idp } = place;
  eve = await idp.createUser(EVE);
  sales = await idp.createGroup('Sales', [eve, await idp.createUser('bob@acme.example')]);
  await place.idle();
  await idp.patch(`/Users/${eve}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const outputOf = async (...words: string[]): Promise<string> => (await place.commands.run(...words)).text;
const openId = async (): Promise<string> =>
  (await place.commands.run('approvals', 'list', '--json')).json[0].id;

test('`approvals reject` prints how many changes remain held, and `approvals withdraw` prints that the guard judges the change again', async () => {
  const id = await openId();
  expect(await outputOf('approvals', 'reject', id, '--yes')).toContain('No more changes are held at main.');
  await place.idle();
  const withdrawn = await outputOf('approvals', 'withdraw', id, '--yes');
  expect(withdrawn).toContain(
    'The guard judges it anew: what fits its limits is written, and scim-bridge approvals list shows',
  );
  expect(withdrawn).not.toContain('0 changes');
  await place.idle();
});

test('status says only once that an expired approval can no longer be decided', async () => {
  const id = await openId();
  const key = await place.key(':guardApproval:main');
  const expires = (await place.redis.hget(key, 'expires')) ?? '';
  await place.redis.hset(key, 'expires', String(Date.now() - 1000));
  const status = await outputOf('status');
  expect(status).toMatch(/held changes: the approval expired \S+Z: it cannot be decided any more/);
  expect(status.match(/anew/g)).toHaveLength(1);
  expect(await outputOf('approvals', 'approve', id, '--yes')).toContain(
    'has expired, and nothing was decided',
  );
  await place.redis.hset(key, 'expires', expires);
  expect(await outputOf('status')).toMatch(/the approval expires \S+Z \(in 7\d h\), then the guard judges/);
});

test('plan shows a new membership as `Person <userName> in <group>`, not as `Group <userName>`', async () => {
  await place.idp.patch(`/Groups/${sales}`, { op: 'remove', path: `members[value eq "${eve}"]` });
  await place.idle();
  await place.idp.createGroup('North', [eve]);
  await place.idle();
  const plan = await outputOf('plan', '--all');
  expect(plan).toContain(`Person ${EVE} in North`);
  expect(plan).not.toContain(`Group ${EVE}`);
});

test('an approval expires while the target is on hold → after the release its changes are held under a new id, as approvals, status, explain and exceptions announced', async () => {
  const id = await openId();
  const key = await place.key(':guardApproval:main');
  await outputOf('hold');
  await place.redis.hset(key, 'expires', String(Date.now() - 1000));
  await place.redis.zadd(await place.key(':alarms:main'), String(Date.now() - 1000), `User:${eve}`);
  const after =
    'the guard judges its changes anew after the end of the hold of the target: scim-bridge release --target main ends it';
  for (const words of [
    ['approvals', 'list'],
    ['approvals', 'show', id],
    ['status'],
    ['approvals', 'approve', id, '--yes'],
    ['approvals', 'reject', id, '--yes'],
    ['explain', EVE, '--all'],
    ['exceptions'],
  ]) {
    const text = await outputOf(...words);
    expect(text).toContain(after);
    expect(text).not.toMatch(/approve or reject|looked at again by itself|before a person decides/);
  }
  await outputOf('release');
  await place.idle();
  expect(await openId()).not.toBe(id);
  expect(await outputOf('explain', EVE, '--all')).toContain('then approve or reject');
});
