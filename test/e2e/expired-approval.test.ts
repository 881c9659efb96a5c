// Tests what the reading commands say about changes whose approval expired, before and after further changes are held.
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const CAT = 'cat@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE, removeMembers: NONE } } });
  const { idp } = place;
  const ann = await idp.createUser(ANN);
  const bob = await idp.createUser(BOB);
  const cat = await idp.createUser(CAT);
  const sales = await idp.createGroup('Sales', [bob, cat]);
  await place.idle();
  await idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await idp.patch(`/Groups/${sales}`, { op: 'remove', path: `members[value eq "${bob}"]` });
  await place.idle();
  await place.redis.hset(await place.key(':guardApproval:main'), 'expires', String(Date.now() - 1000));
}, 60_000);
afterAll(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);

/** Checks what all commands say about Ann's deactivation and Bob's removal from a group. @param end end of the approval, in words */
async function expectExpired(end: string): Promise<void> {
  const sentence = `The approval expired${end} and cannot be decided any more: the guard judges its changes anew, each with its next sync.`;
  const [ann] = (await run('explain', ANN, '--json')).json;
  expect(ann).toMatchObject({ verdict: 'held', guard: [{ state: 'expired' }], approvalExpired: sentence });
  const [bob] = (await run('explain', BOB, '--json')).json;
  expect(bob).toMatchObject({ verdict: 'held', approvalExpired: sentence });
  expect(bob.memberships).toMatchObject([{ name: 'Sales', state: 'toRemove', isExpired: true }]);
  for (const person of [ANN, BOB]) {
    const { text } = await run('explain', person, '--all');
    expect(text).toContain(sentence);
    expect(text).not.toMatch(/approve or reject|the next reconcile brings it|the guard holds the/);
  }
  const verified = (await run('verify-access', ANN)).text;
  expect(verified).toContain('the approval of the deactivation has expired');
  expect(verified).not.toContain('the guard holds');
  const ofBob = (await run('verify-access', BOB)).text;
  expect(ofBob).toMatch(
    /the approval has expired, and the guard judges it anew with the next sync: the removal from Sales/,
  );
  const exceptions = (await run('exceptions', '--json')).json as {
    name: string;
    advice: string;
    message: string;
  }[];
  const own = exceptions.filter(({ name }) => name !== CAT);
  expect(own.map(({ advice }) => advice)).toEqual([sentence, sentence]);
  for (const { message } of own) expect(message).toMatch(/the approval of the .* has expired/);
}

test('an approval expires → its state is expired, and explain, verify-access and exceptions say that the guard judges its changes anew', async () => {
  const [{ id, state, expiresAt, leftMs }] = (await run('approvals', 'list', '--json')).json;
  expect([state, leftMs <= 0]).toEqual(['expired', true]);
  expect((await run('approvals', 'show', id, '--json')).json).toMatchObject({ state, total: 2, matching: 2 });
  expect((await run('approvals', 'show', id)).text).toContain(', expired\n');
  const refused = await run('approvals', 'approve', id, '--yes');
  expect([refused.code, refused.text]).toEqual([1, expect.stringContaining('has expired, and nothing was')]);
  await expectExpired(` ${expiresAt}`);
  expect((await run('status', '--json')).json[0].guard).toMatchObject({ held: 2, expired: 2 });
}, 60_000);

test('a change is held after an approval expired → only this change can be decided, and the expired ones are still shown as expired', async () => {
  const [cat] = (await run('explain', CAT, '--json')).json;
  await place.idp.patch(`/Users/${cat.id}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await expectExpired('');
  const [open] = (await run('approvals', 'list', '--json')).json;
  expect(open).toMatchObject({ state: 'held', total: 1, kinds: { deactivate: 1 } });
  const [later] = (await run('explain', CAT, '--json')).json;
  expect(later).toMatchObject({ guard: [{ state: 'held' }], approval: open.id, approvalExpired: null });
  expect((await run('status', '--json')).json[0].guard).toMatchObject({ held: 3, expired: 2 });
  expect((await run('status')).text).toContain('the approval of 2 of the held changes expired');
}, 60_000);

test('the resources of expired changes are synced → the changes are held anew under the open approval', async () => {
  await run('sync', ANN);
  await run('sync', 'Sales');
  await place.idle();
  const [open] = (await run('approvals', 'list', '--json')).json;
  expect(open.total).toBe(3);
  expect((await run('status', '--json')).json[0].guard).toMatchObject({ held: 3, expired: 0 });
}, 60_000);
