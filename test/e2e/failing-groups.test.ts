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

test('a group cannot add a member while another member has no account yet → its failures are counted, and the log has one entry for all of them', async () => {
  // A 404 may be transient, so the creation of Bob is under way for the whole test.
  await setFaults(failing('PATCH', 'Groups', 404), failing('POST', 'Users', 404));
  const bob = await place.idp.createUser(BOB);
  await join(ann, bob);
  await explainWith(/failed [3-9] times in a row/);
  const { lines } = await place.commands.run('log', '--resource', 'Red', '--json');
  expect(lines.filter((line) => line.includes('PlatformFailed'))).toHaveLength(1);
}, 60_000);

test('explain names the last failure: a 404 after a 503', async () => {
  await setFaults(failing('PATCH', 'Groups', 503, 1), failing('PATCH', 'Groups', 404));
  await join(ann);
  await explainWith(/failed [2-9] times in a row; .* The last failure: PATCH \S+ answered 404/);
}, 60_000);

test('explain of a person names the failed attempts of the group that the person waits for', async () => {
  await setFaults(failing('PATCH', 'Groups', 404));
  await join(ann);
  await explainWith(
    /Red \([1-9] attempts? to write the group failed in a row; .* The last failure: PATCH \S+ answered 404/,
    ANN,
  );
}, 60_000);
