// Tests what explain of a group and sync say about a deactivation whose approval expired, while another approval is open and the
// guard has not judged the deactivation anew.
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';
const CAT = 'cat@acme.example';
const ABOUT_MEMBER =
  'changes of its member bob@acme.example. The approval expired and cannot be decided any more: the guard judges its changes anew, each with its next sync.';

let place: Place;
let bob: string;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  const { idp } = place;
  bob = await idp.createUser(BOB);
  const cat = await idp.createUser(CAT);
  const sales = await idp.createGroup('Sales', []);
  await place.idle();
  await close(bob);
  await idp.patch(`/Groups/${sales}`, { op: 'add', path: 'members', value: [{ value: bob }] });
  await place.idle();
  await place.redis.hset(await place.key(':guardApproval:main'), 'expires', String(Date.now() - 1000));
  await close(cat);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);
const close = (id: string) =>
  place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });

/** Checks that the open approval has the deactivation of one person alone. */
async function expectHeldAlone(person: string): Promise<void> {
  expect((await run('explain', person, '--json')).json[0].guard).toMatchObject([{ state: 'held' }]);
  expect((await run('approvals', 'list', '--json')).json).toMatchObject([{ total: 1 }]);
}

test('an addition to a group waits for a deactivation with an expired approval → explain of the group names no approval to decide', async () => {
  await expectHeldAlone(CAT);
  const [sales] = (await run('explain', 'Sales', '--json')).json;
  expect(sales).toMatchObject({ approval: null, approvalExpired: expect.stringContaining('expired') });
  expect(sales.memberships).toMatchObject([
    { name: BOB, state: 'toAdd', condition: 'Held', isExpired: true },
  ]);
  const { text } = await run('explain', 'Sales', '--all');
  expect(text.replaceAll(/\s+/g, ' ')).toContain(ABOUT_MEMBER);
  expect(text).not.toMatch(/approve or reject|approvals show/);
}, 60_000);

test('the approval of a deactivation expired and the platform fails → sync says that the deactivation waits for its next attempt, and names no approval', async () => {
  await expectHeldAlone(CAT);
  const path = `/Users/${(await place.platform.user(BOB))?.scimId}`;
  await place.platform.forgetRequests();
  await run('sync', BOB, '--dry-run');
  // The reads of the comparison succeed, the first read of the sync itself fails.
  const skip = (await place.platform.requests()).filter((each) => each.path.endsWith(path)).length;
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'GET', path, skip, times: 9999, status5xx: { share: 1, status: 503 } }],
  });
  const { json } = await run('sync', BOB, '--timeout', '3', '--json');
  await expectHeldAlone(CAT);
  expect(json).toMatchObject([{ outcome: 'waiting' }]);
  expect(json[0].message).toMatch(
    /^the approval of the deactivation has expired; (?:it is tried again at|its next attempt is due)/,
  );
  expect(json[0].message).not.toContain('approvals show');
}, 60_000);
