// Tests a group whose member writes fail again and again at the platform.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let ann: string;
let red: string;
beforeEach(async () => {
  place = await openPlace({});
  ann = await place.idp.createUser(ANN);
  red = await place.idp.createGroup('Red', []);
  await place.idle();
}, 60_000);
afterEach(() => place.stop());

const failing = (method: string, path: string, status: number, times?: number) => ({
  method,
  path: `scim/v2/${path}`,
  times,
  status5xx: { share: 1, status },
});
const setFaults = (...rules: object[]) => place.platform.control('PATCH', '/faults', { rules });
const join = (...members: string[]) =>
  place.idp.patch(`/Groups/${red}`, {
    op: 'add',
    path: 'members',
    value: members.map((value) => ({ value })),
  });
const explainWith = (text: RegExp, of = 'Red') =>
  eventually(`explain of ${of} matches ${text}`, async () =>
    text.test((await place.commands.run('explain', of, '--all')).text.replaceAll(/\s+/g, ' ')),
  );

test('a group fails several times to add a member → explain counts the failures, and the log has one entry for all of these', async () => {
  // A 404 may be transient, so the creation of Bob is under way for the whole test.
  await setFaults(failing('PATCH', 'Groups', 404), failing('POST', 'Users', 404));
  const bob = await place.idp.createUser(BOB);
  await join(ann, bob);
  await explainWith(/failed [3-9] times in a row/);
  const { lines } = await place.commands.run('log', '--resource', 'Red', '--json');
  expect(lines.filter((line) => line.includes('PlatformFailed'))).toHaveLength(1);
}, 60_000);

test('the PATCH of a group fails with 503 and then with 404 → explain names the 404 as the last failure', async () => {
  await setFaults(failing('PATCH', 'Groups', 503, 1), failing('PATCH', 'Groups', 404));
  await join(ann);
  await explainWith(/failed [2-9] times in a row; .* The last failure: PATCH \S+ answered 404/);
}, 60_000);

test('a person waits for a group whose sync fails → explain of the person names the failed attempts of the group', async () => {
  await setFaults(failing('PATCH', 'Groups', 404));
  await join(ann);
  await explainWith(
    /Red \([1-9] attempts? to write the group failed in a row; .* The last failure: PATCH \S+ answered 404/,
    ANN,
  );
}, 60_000);
