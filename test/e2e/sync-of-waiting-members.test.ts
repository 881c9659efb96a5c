// Tests sync of a group whose new members wait for their own sync.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let ann: string;
let crew: string;
beforeEach(async () => {
  const attributes = { level: { type: 'number', from: 'title' } };
  place = await openPlace({ target: { attributes } });
  ann = await place.idp.createUser(ANN, { title: '1' });
  crew = await place.idp.createGroup('crew', [await place.idp.createUser(BOB, { title: '1' })]);
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

const { outcome } = commandsAt(() => place);
const members = async () => (await place.platform.group('crew'))?.members;
const setTitle = (value: string) => place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value });
const join = () =>
  place.idp.patch(`/Groups/${crew}`, { op: 'add', path: 'members', value: [{ value: ann }] });

test('a new member of a group has a pending change → sync of the group names the sync of the member, and explain does not advise sync of the group', async () => {
  // No worker takes part, so each write is one of the command.
  await place.stopApps();
  await place.start('api');
  await setTitle('2');
  await join();
  const waits = `addMember ${ANN} in crew (member at the source; waits for the sync of the member: scim-bridge sync User:${ann})`;
  const command = `scim-bridge sync User:${ann}`;
  expect(await outcome('sync', 'crew', '--dry-run')).toEqual([
    0,
    expect.stringContaining(`nothing would be written differs and is not written: ${waits}`),
  ]);
  expect(await outcome('sync', 'crew')).toEqual([
    2,
    expect.stringContaining(`waiting: 1 membership is not written yet: ${ANN}; ${command} syncs the member`),
  ]);
  const [, explained] = await outcome('explain', 'crew');
  expect(explained).toContain('A change of crew waits because no worker runs');
  expect(explained).not.toContain(`sync Group:${crew}`);
  expect((await outcome('sync', `User:${ann}`))[0]).toBe(0);
  expect(await members()).toEqual([BOB, ANN]);
  expect(await outcome('sync', 'crew')).toEqual([0, expect.stringContaining('nothing to do, equal already')]);
}, 60_000);

test('a new member of a group has a value that the platform cannot store → sync of the group exits 2 and names the member', async () => {
  await setTitle('high');
  await place.idle();
  await join();
  await place.idle();
  expect(await outcome('sync', 'crew')).toEqual([
    2,
    expect.stringContaining(
      `1 membership is not written, because its member needs a person: ${ANN}; scim-bridge explain User:${ann} tells what to do`,
    ),
  ]);
  expect(await members()).toEqual([BOB]);
}, 60_000);

test('a new member of a group still has to leave another group → sync of the group names the sync of the member, which writes both changes', async () => {
  const former = await place.idp.createGroup('former', [ann]);
  await place.idle();
  await place.stopApps();
  await place.start('api');
  await place.idp.patch(`/Groups/${former}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  await join();
  const command = `scim-bridge sync User:${ann}`;
  expect(await outcome('sync', 'crew', '--dry-run')).toEqual([
    0,
    expect.stringContaining(`waits for the sync of the member: ${command}`),
  ]);
  expect(await outcome('sync', 'crew')).toEqual([
    2,
    expect.stringContaining(`waiting: 1 membership is not written yet: ${ANN}; ${command} syncs the member`),
  ]);
  expect(await members()).toEqual([BOB]);
  expect((await outcome('sync', `User:${ann}`))[0]).toBe(0);
  expect(await members()).toEqual([BOB, ANN]);
}, 60_000);
