// Tests a value that a comparison saw at the platform and a sync then overwrote by a write without an answer: when the
// source wants the first value, it is written.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let ann: string;
let reconciled: Promise<unknown>;

beforeEach(async () => {
  const attributes = { team: { type: 'string', from: 'nickName' } };
  const reconcile = { schedule: null, onDrift: 'repair' };
  place = await openPlace({ target: { attributes }, rest: { reconcile } });
  ann = await place.idp.createUser(ANN, { nickName: 'red' });
  await place.idle();
});
afterEach(() => place.stop());

const faults = (...rules: object[]) => place.platform.control('PATCH', '/faults', { rules });
const lostAnswers = { times: 1000, dropAfter: { share: 1 } };
/** Changes the account as a person does by hand, with the platform's SCIM interface. */
async function byHand(operation: object): Promise<void> {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const id = (await place.platform.user(ANN))?.scimId ?? '';
  const answer = await fetch(`${platformUrl}/api/scim/v2/Users/${id}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [operation],
    }),
  });
  expect(answer.ok).toBe(true);
}

test('an account was read as inactive and the answer to its activation was lost → a deactivation at the source still closes it', async () => {
  await byHand({ op: 'replace', path: 'active', value: false });
  await faults(
    { method: 'PATCH', path: 'Users', ...lostAnswers },
    { method: 'GET', path: 'Users/', times: 1000, staleReadsMs: 60_000 },
  );
  reconciled = place.commands.run('reconcile');
  await eventually('activated', async () => (await place.platform.user(ANN))?.active === true);
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await eventually('deactivated', async () => (await place.platform.user(ANN))?.active === false, 20_000);
  await faults();
  await reconciled;
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(false);
}, 60_000);

test('a value was read as empty and the answer to its write was lost → a removal at the source still clears the value', async () => {
  // Another person with a value shows the bridge that the platform returns the attribute, so that an absent one
  // counts as empty.
  await place.idp.createUser('bob@acme.example', { nickName: 'blue' });
  await place.idle();
  await byHand({ op: 'remove', path: 'urn:cube:params:1.0:UserAttribute:team' });
  const team = async () => (await place.platform.user(ANN))?.attributes.team ?? null;
  expect(await team()).toBe(null);
  await faults(
    { method: 'POST', path: 'attribute', ...lostAnswers },
    { method: 'PATCH', path: '', ...lostAnswers },
  );
  reconciled = place.commands.run('reconcile');
  await eventually('written', async () => (await team()) === 'red');
  await place.idp.patch(`/Users/${ann}`, { op: 'remove', path: 'nickName' });
  await eventually('emptied', async () => (await team()) === null, 20_000);
  await faults();
  await reconciled;
  await place.idle();
  expect(await team()).toBe(null);
}, 60_000);

test('a write that is repeated after a lost answer is logged as written again', async () => {
  await byHand({ op: 'replace', path: 'active', value: false });
  await faults({ method: 'PATCH', path: 'Users', times: 1, dropAfter: { share: 1 } });
  await place.commands.run('reconcile');
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(true);
  const { text } = await place.commands.run('log', '--action', 'activate');
  expect(text.split('\n')[0]).toContain(`${ANN}  activate  active: true written again`);
  const { text: rows } = await place.commands.run('log', '--action', 'activate', '--csv');
  expect(rows.split('\n')[1]).toContain(',active: true written again,');
}, 60_000);
