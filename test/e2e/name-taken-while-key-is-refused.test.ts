// Tests explain and verify-access while the platform refuses the name of a new group, and other calls with 401.
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const GROUP = 'Region South';
let place: Place;
let ann: string;
let bob: string;
let group: string;
beforeAll(async () => {
  place = await openPlace({});
  ann = await place.idp.createUser(ANN);
  bob = await place.idp.createUser(BOB);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const run = (...words: string[]) => place.commands.run(...words);
const refuse = (...rules: object[]) => place.platform.control('PATCH', '/faults', { rules });
const explained = async (name: string) => (await run('explain', name, '--json')).json[0];
const NAME_REFUSED = { method: 'POST', path: '/Groups$', status5xx: { status: 409 } };
const KEY_REFUSED = { method: 'PATCH', path: '/Users/', status5xx: { status: 401 } };
const NOT_GIVEN = 'The platform does not give the name yet: another group is to give it up';

test('the platform refuses the name of a new group (409) → explain and verify-access of a member name the group and the cause', async () => {
  await refuse(NAME_REFUSED);
  group = await place.idp.createGroup(GROUP, [ann]);
  await eventually('refused', async () => (await explained(GROUP)).link.waitsForName);
  const { text } = await run('verify-access', ANN);
  expect(text).toContain(
    `the group ${GROUP} is not made yet (the platform does not give the name yet): scim-bridge explain Group:${group} tells what it waits for`,
  );
  expect(text).not.toContain('no reason is stored');
  expect((await explained(ANN)).memberships).toMatchObject([
    {
      name: GROUP,
      state: 'toAdd',
      because: 'the platform does not give the group its name yet; it is tried again',
    },
  ]);
}, 60_000);

test('the platform answers PATCH with 401 and the creation of a group with 409 → explain of the group names the taken name first', async () => {
  await refuse(NAME_REFUSED, KEY_REFUSED);
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'displayName', value: 'Bob Two' });
  await eventually(
    'only PATCH is refused',
    async () => (await run('status', '--json')).json[0].breaker.only?.includes('PATCH') === true,
    50_000,
  );
  const ofGroup = await explained(GROUP);
  expect([ofGroup.verdict, ofGroup.summary]).toEqual([
    'onItsWay',
    expect.stringContaining(`waits for its name. ${NOT_GIVEN}`),
  ]);
  expect(ofGroup.reasons).toContainEqual(
    expect.stringContaining('The target main answers PATCH with 401 and accepts the key for other calls'),
  );
  expect(ofGroup.reasons.join(' ')).not.toContain(NOT_GIVEN);
  // The change of a person with an account is a PATCH, so the refused key stops it.
  const ofBob = await explained(BOB);
  expect([ofBob.verdict, ofBob.summary]).toEqual([
    'stopped',
    expect.stringContaining('main answers PATCH with 401'),
  ]);
}, 90_000);

test('calls pause after a 401 → verify-access says on standard error within seconds why it waits, and until when', async () => {
  const { code, errors, text } = await eventually(
    'a pause that outlasts the command',
    async () => {
      const verified = await run('verify-access', BOB, '--timeout', '5');
      return /was not asked/.test(verified.text) && verified;
    },
    50_000,
  );
  expect([code, errors]).toEqual([
    expect.anything(),
    expect.stringMatching(
      /waits for main: main answers PATCH with 401.*; all calls pause until \S+Z, because the platform answered a call with 401/,
    ),
  ]);
  expect(text).not.toContain('no answer within');
}, 90_000);
