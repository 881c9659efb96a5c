// Tests a person with a rejected change and an attribute that cannot be written: commands name both, and the
// rejection keeps its time.
import '../support/load-modules.ts';
import { scimPatch } from '../support/reconciling.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
let place: Place;
let ann: string;
beforeAll(async () => {
  const level = { type: 'number', from: 'title' };
  const guard = { deactivate: { count: 0, percent: 0 } };
  place = await openPlace({ target: { guard, attributes: { level } } });
  ann = await place.idp.createUser(ANN, { title: '3' });
  await place.idle();
  await push('active', false);
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', id, '--yes');
  await place.idle();
});
afterAll(() => place.stop());

async function push(path: string, value: unknown): Promise<void> {
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path, value });
  await place.idle();
}
const json = async (...args: string[]): Promise<any> => (await place.commands.run(...args, '--json')).json;
const rejected = () => json('exceptions', '--reason', 'Rejected');

test('a person has a rejected deactivation and a refused value → the rejection stays an exception with its first time, also after the value is corrected', async () => {
  const [before] = await rejected();
  expect(before).toMatchObject({ name: ANN, reason: 'Rejected' });
  await push('title', 'high');
  const letter = 'level is string and cannot become a number';
  const also = `${letter}; a person rejected the deactivation: the account stays open, and other changes of the source are written, except new memberships`;
  expect(await json('dead-letters', 'list')).toMatchObject([
    { name: ANN, reason: 'AttributesNotWritten', message: also },
  ]);
  expect(await rejected()).toMatchObject([{ name: ANN, since: before.since, message: also }]);
  await place.commands.run('dead-letters', 'retry', '--all', '--by', 'kim');
  await place.idle();
  expect(await rejected()).toMatchObject([{ since: before.since, message: also }]);
  await push('title', '4');
  expect(await rejected()).toMatchObject([{ since: before.since, message: before.message }]);
  expect(await json('dead-letters', 'list')).toEqual([]);
  const account = await place.platform.user(ANN);
  expect(account).toMatchObject({ active: true, attributes: { level: 4 } });
});

test('somebody closes the account of a person with a rejected deactivation → after a reconcile the rejection is no exception', async () => {
  await push('title', 'high');
  const scimId = (await place.platform.user(ANN))?.scimId;
  const closed = await send(place.sandbox.ready.platformUrl, 'PATCH', `/api/scim/v2/Users/${scimId}`, {
    headers: {
      authorization: `Bearer ${place.sandbox.ready.fixtures.apiKeys.admin}`,
      'content-type': 'application/json',
    },
    body: scimPatch({ op: 'replace', path: 'active', value: false }),
  });
  expect(closed.status).toBe(200);
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect(await rejected()).toEqual([]);
});

test("a rejected deactivation ends → the person's dead letter names only the attribute that cannot be written", async () => {
  await push('active', true);
  expect(await rejected()).toEqual([]);
  expect(await json('dead-letters', 'list')).toMatchObject([
    { message: 'level is string and cannot become a number' },
  ]);
});
