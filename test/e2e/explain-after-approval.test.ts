// Tests what the reading commands say about a decided change that is not written yet: the guard holds it no longer.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const CID = 'cid@acme.example';
const HAL = 'hal@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let cid: string;
let hal: string;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE } } });
  cid = await place.idp.createUser(CID);
  hal = await place.idp.createUser(HAL);
  await place.idp.createGroup('Sales', [cid]);
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);
const activate = (id: string, value: boolean) =>
  place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value });
const failWrites = () =>
  place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'PATCH', path: 'scim/v2/Users', times: 9999, status5xx: { share: 1, status: 503 } }],
  });
const openId = async (): Promise<string> => (await run('approvals', 'list', '--json')).json[0].id;
const conditionOf = async (name: string): Promise<string | null> =>
  (await run('links', 'list', '--json')).json.find((row: any) => row.name === name).condition;
const failedOnce = (name: string) =>
  eventually('the write has failed', async () =>
    (await run('explain', name, '--json')).json[0].link.attempts > 0 ? true : undefined,
  );

test('the platform fails the write of an approved deactivation → explain and verify-access do not call the deactivation held', async () => {
  await activate(cid, false);
  await place.idle();
  await failWrites();
  await run('approvals', 'approve', await openId(), '--yes');
  await failedOnce(CID);
  const { text } = await run('explain', CID, '--all');
  expect(text).toContain('Approved, of what the guard judged: 1 deactivation.');
  expect(text).not.toContain('approve or reject');
  expect((await run('verify-access', CID)).text).not.toContain('the guard holds');
  expect(await conditionOf(CID)).toBeNull();

  // The source takes the deactivation back, and the guard holds another one: the approval does not list this person.
  await activate(cid, true);
  await activate(hal, false);
  const later = await eventually('the other deactivation is held', async () =>
    (await run('explain', HAL, '--json')).json[0].guard.length > 0 ? openId() : undefined,
  );
  expect((await run('explain', CID, '--all')).text).not.toContain(later);
  expect((await run('verify-access', CID)).text).not.toContain('the guard holds');
  expect((await run('explain', HAL, '--all')).text).toContain(`scim-bridge approvals show ${later}`);
  expect(await conditionOf(HAL)).toBe('Held');
}, 60_000);

test("the deactivation of a leaver is approved → explain no longer calls the leaver's group held", async () => {
  await place.idp.send('DELETE', `/Users/${cid}`);
  await eventually('the group waits for the account', async () =>
    (await conditionOf('Sales')) === 'Held' ? true : undefined,
  );
  await place.idle();
  await failWrites();
  await run('approvals', 'approve', await openId(), '--yes');
  await failedOnce(cid);
  expect((await run('explain', 'Sales', '--all')).text).not.toMatch(
    /approve or reject|held by the guard: no/,
  );
  expect(await conditionOf('Sales')).toBeNull();
}, 60_000);

test('a deactivation is approved and another one rejected while the target is on hold → explain shows both as decided', async () => {
  await activate(cid, false);
  await activate(hal, false);
  await place.idle();
  await run('hold');
  const id = await openId();
  await run('approvals', 'reject', id, '--person', CID, '--yes');
  await run('approvals', 'approve', id, '--person', HAL, '--yes');

  const rejected = (await run('explain', CID, '--json')).json[0];
  expect(rejected).toMatchObject({ verdict: 'leftAlone', condition: { reason: 'Rejected' } });
  expect(rejected.summary).toContain('a person rejected the deactivation');
  expect((await run('explain', HAL, '--json')).json[0]).toMatchObject({
    verdict: 'stopped',
    condition: null,
  });
  for (const name of [CID, HAL])
    expect((await run('explain', name, '--all')).text).not.toMatch(/approve or reject|guard holds/);
  expect((await run('exceptions')).text).not.toContain('the guard holds');
  expect((await run('verify-access', CID)).text).toContain('a person rejected the deactivation');
  expect((await run('verify-access', HAL)).text).not.toContain('the guard holds');
  expect([await conditionOf(CID), await conditionOf(HAL)]).toEqual(['Rejected', null]);

  await run('release');
  await place.idle();
  expect((await place.platform.user(CID))?.active).toBe(true);
  expect((await place.platform.user(HAL))?.active).toBe(false);
}, 60_000);
