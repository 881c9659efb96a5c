// Tests dead letters about a deactivation, a reactivation or a deletion that the platform refuses: advice, and what verify-access says.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const HAL = 'hal@acme.example';

let place: Place;
let hal: string;
afterEach(() => place.stop());

async function open(guard: object, users: object = {}): Promise<void> {
  place = await openPlace({ target: { guard, users } });
  hal = await place.idp.createUser(HAL);
  await place.idle();
}

const run = (...args: string[]) => place.commands.run(...args);
const activate = (value: boolean) =>
  place.idp.patch(`/Users/${hal}`, { op: 'replace', path: 'active', value });
const answer = (method: string, status: number) =>
  place.platform.control('PATCH', '/faults', {
    rules: [{ method, path: 'scim/v2/Users', times: 9999, status5xx: { share: 1, status } }],
  });
const deadLetter = () =>
  eventually('there is a dead letter', async () =>
    (await run('dead-letters', 'list', '--json')).json.length > 0 ? true : undefined,
  );

test('the platform refuses an approved deactivation → explain announces no automatic retry, and advises to deactivate the account by hand', async () => {
  await open({ deactivate: { count: 0, percent: 0 } });
  await activate(false);
  await place.idle();
  await answer('PATCH', 400);
  const [{ id }] = (await run('approvals', 'list', '--json')).json;
  await run('approvals', 'approve', id, '--yes');
  await deadLetter();
  const { text } = await run('explain', HAL, '--all');
  expect(text).not.toContain('looked at again by itself');
  expect(text).not.toContain('Correct the value');
  expect(text).toContain(`or deactivate the account there by hand, then scim-bridge sync User:${hal}.`);
}, 60_000);

test('the platform refuses a reactivation → explain does not announce that it is written again', async () => {
  await open({});
  await answer('PATCH', 503);
  await activate(false);
  await eventually('the deactivation fails', async () =>
    (await run('explain', HAL, '--json')).json[0].link.attempts > 0 ? true : undefined,
  );
  await answer('PATCH', 400);
  await activate(true);
  await deadLetter();
  const { text } = await run('explain', HAL, '--all');
  expect(text).toContain('1 value sent and not confirmed, or seen to differ.');
  expect(text).not.toContain('written again');
}, 60_000);

test('the platform refuses the deletion of a closed account → verify-access and explain report it', async () => {
  await open({}, { deprovision: 'delete' });
  await answer('DELETE', 409);
  await place.idp.send('DELETE', `/Users/${hal}`);
  await deadLetter();
  const { text, code } = await run('verify-access', hal);
  expect(text).toContain('the account is closed: deleted at the source; its deletion needs a person:');
  expect(text).not.toContain('as it should be');
  expect(code).toBe(0);
  const explained = (await run('explain', hal, '--all')).text;
  expect(explained).not.toContain('rename or delete the other');
  expect(explained).toContain('or delete it there by hand, then scim-bridge sync');
}, 60_000);
