// Tests what verify-access, explain and sync tell while several causes keep changes of a person from the platform.
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
let place: Place;
let ann: string;
let north: string;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  north = await place.idp.createGroup('north', [bob]);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${bob}`);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const run = (...words: string[]) => place.commands.run(...words);

test('the guard holds the deactivation of a deleted person → verify-access says that the removal from a group waits for this deactivation', async () => {
  const { text } = await run('verify-access', BOB);
  expect(text).toContain(
    'the guard holds the deactivation; the removal is written with the held deactivation',
  );
  expect(text).not.toContain('a removal waits to be applied');
});

const refuse = (...rules: object[]) => place.platform.control('PATCH', '/faults', { rules });

test('the platform refuses a group of a person and fails a changed value → verify-access names the group and points to explain for the other changes', async () => {
  await refuse({ method: 'PATCH', path: '/Groups/', status5xx: { status: 403 } });
  await place.idp.patch(`/Groups/${north}`, { op: 'add', path: 'members', value: [{ value: ann }] });
  await place.idle();
  await refuse(
    { method: 'PATCH', path: '/Groups/', status5xx: { status: 403 } },
    { method: 'PATCH', path: '/Users/', status5xx: { status: 503 } },
  );
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann New' });
  const { text } = await run('verify-access', ANN);
  expect(text).toContain('the group north ');
  expect(text).toContain(`; scim-bridge explain User:${ann} tells what the other changes wait for`);
  await place.stopApps();
  await place.start('api');
  const later = (await run('verify-access', ANN)).text;
  expect(later).toContain('no worker runs: start scim-bridge serve --role worker, or all; ');
  expect(later).toContain('the group north ');
}, 60_000);

test('the platform refuses a call of sync → standard error names the resource and the refused call', async () => {
  await refuse({ method: 'PATCH', path: '/Users/', status5xx: { status: 401 } });
  const { errors } = await run('sync', ANN);
  expect(errors).toContain(
    `User:${ann}: platform failed, trying again: PATCH /api/scim/v2/Users/{id} answered 401`,
  );
}, 60_000);

test('no worker runs and the last calls failed → explain says first that no worker runs, then which calls failed', async () => {
  const [{ summary, reasons }] = (await run('explain', ANN, '--json')).json;
  expect(summary).toBe(`A change of ${ANN} waits because no worker runs: start one.`);
  expect(reasons).toContainEqual(
    expect.stringMatching(/The target main (refuses the key \(401\)|answers PATCH with 401)/),
  );
});
