// Tests what the commands tell under the policy create-only, which changes nothing of an account or group that the bridge has
// completed: differences that it leaves, and memberships that it leaves out.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { scrape } from '../support/scrape.ts';
import { send } from '../support/send.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const LEFT_OUT = 'the policy create-only leaves this membership out';

let place: Place;
let ann: string;
let bob: string;
let blue: string;
beforeEach(async () => {
  place = await openPlace({ target: { attributes: { team: { type: 'string', from: 'nickName' } } } });
  ann = await place.idp.createUser(ANN, { nickName: 'red' });
  blue = await place.idp.createGroup('Blue', [ann]);
  await place.idle();
  await changePolicy('create-only');
  // The first run after a change of the policy maps all people; a later run compares links only.
  await told('reconcile');
  bob = await place.idp.createUser(BOB, { nickName: 'red' });
  await place.idp.patch(`/Groups/${blue}`, { op: 'add', path: 'members', value: [{ value: bob }] });
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

const changePolicy = (policy: string): Promise<void> =>
  place.change(({ targets: { main } }) => {
    (main as { policy?: string }).policy = policy;
  });
const { told } = commandsAt(() => place);
const scimId = async (name: string): Promise<string> => (await place.platform.user(name))?.scimId ?? '';
const blueAtPlatform = async (): Promise<string> =>
  `/Groups/${(await place.platform.group('Blue'))?.scimId ?? ''}`;

test('under the policy create-only a new person joins an existing group → explain of person and group says that the policy leaves the membership out', async () => {
  expect((await place.platform.group('Blue'))?.members).toEqual([ANN]);
  const ofPerson = await told('explain', BOB);
  expect(ofPerson).toContain(`${BOB} is left alone at main: group Blue: ${LEFT_OUT}.`);
  expect(ofPerson).toContain(`– Blue (${LEFT_OUT})`);
  const ofGroup = await told('explain', 'Blue');
  expect(ofGroup).toContain(`Blue is left alone at main: member ${BOB}: ${LEFT_OUT}.`);
  expect(ofGroup).toContain('2 desired, 0 to add, 0 to remove, 1 left out');
  expect(await told('verify-access', BOB)).toContain(
    'groups: the policy create-only changes no account or group that exists',
  );
  expect(await told('sync', BOB)).toContain('the policy create-only leaves 1 difference');
}, 30_000);

test('while the platform does not answer, explain still names the membership that create-only leaves out', async () => {
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'GET', path: 'scim/v2', status5xx: { share: 1, status: 503 }, times: 999 }],
  });
  const ofPerson = await told('explain', BOB);
  expect(ofPerson).toContain('it could not be read now');
  expect(ofPerson).toContain(`– Blue (${LEFT_OUT})`);
  expect(await told('explain', 'Blue')).toContain(`member ${BOB}: ${LEFT_OUT}.`);
}, 30_000);

test('somebody adds by hand the member whom the policy create-only left out → explain calls person and group as desired', async () => {
  await byHand(place, 'PATCH', await blueAtPlatform(), {
    op: 'add',
    path: 'members',
    value: [{ value: await scimId(BOB) }],
  });
  expect(await told('explain', BOB)).toContain(`${BOB} is at main as desired: active, in 1 group.`);
  expect(await told('explain', 'Blue')).toContain('Blue is at main as desired, with 2 members.');
}, 30_000);

test('plan and reconcile list each difference that the policy create-only leaves, and count none of these as a change made at the platform', async () => {
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'nickName', value: 'green' });
  await place.idp.patch(`/Groups/${blue}`, { op: 'replace', path: 'displayName', value: 'Azure' });
  await place.idle();
  const plan = await told('plan');
  expect(plan).toContain('3 differences that no run changes');
  expect(plan).toContain(
    `Person ${BOB} in Azure: addMember, member at the source; policy create-only leaves it`,
  );
  expect(plan).toContain(
    `User ${ANN}: setAttribute, the attribute has another value; policy create-only leaves it`,
  );
  expect(plan).toContain('Group Blue, to be Azure: update, displayName differs');
  expect(await told('reconcile')).toContain(
    'converged: except 3 differences left alone by the policy create-only',
  );
  expect(await told('status')).not.toContain('by others');
  expect((await scrape(place.port)).find('bridge_drift')).toEqual([]);
  const ofPerson = await told('explain', ANN);
  expect(ofPerson).toContain(`${ANN} is left alone at main: group Azure: the group is still called Blue`);
  expect(await told('verify-access', ANN)).toContain('the policy create-only changes no account or group');
}, 30_000);

test('the mapping changes under the policy create-only → each reconcile counts the differences that stay, not only the first reconcile', async () => {
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value: 'chief' });
  await place.idle();
  await told('reconcile');
  await place.change(({ targets: { main } }) => {
    (main as { attributes?: object }).attributes = {
      team: { type: 'string', from: 'title', onEmpty: 'keep' },
    };
  });
  const left = 'converged: except 2 differences left alone by the policy create-only';
  expect(await told('reconcile')).toContain(left);
  expect(await told('reconcile')).toContain(left);
}, 30_000);

test('the policy create-only becomes sync → plan says that the membership was not applied, and reconcile writes it', async () => {
  await place.stopApps();
  await place.commands.run('hold', '--by', 'olga');
  await changePolicy('sync');
  const plan = await told('plan');
  expect(plan).toContain(`addMember person ${BOB} in Blue: member at the source (not applied)`);
  await place.commands.run('release');
  await told('reconcile');
  await place.idle();
  expect((await place.platform.group('Blue'))?.members).toEqual([ANN, BOB]);
}, 30_000);

test('the source takes back a membership that the policy create-only left out → explain says that the person is as desired, in no group', async () => {
  await place.idp.patch(`/Groups/${blue}`, { op: 'remove', path: `members[value eq "${bob}"]` });
  await place.idp.patch(`/Groups/${blue}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  await place.idle();
  const log = (await place.commands.run('log', '--json')).text;
  const stays = log.split('\n').filter((line) => line.includes('the membership stays'));
  expect(stays.join('')).toContain(ann);
  expect(await told('explain', BOB)).toContain(`${BOB} is at main as desired: active, in 0 groups.`);
}, 30_000);

test('under the policy create-only somebody removes a membership, value or group → it is not restored, and counts as a change made at the platform', async () => {
  await place.idp.createGroup('Gone', [bob]);
  await place.idle();
  await byHand(place, 'PATCH', await blueAtPlatform(), {
    op: 'remove',
    path: `members[value eq "${await scimId(ANN)}"]`,
  });
  await byHand(place, 'PATCH', `/Users/${await scimId(BOB)}`, {
    op: 'replace',
    path: 'displayName',
    value: 'X',
  });
  await byHand(place, 'DELETE', `/Groups/${(await place.platform.group('Gone'))?.scimId}`);
  const plan = await told('plan');
  expect(plan).toContain(
    `${ANN} in Blue: addMember, member at the source, taken out at the platform; policy create-only leaves it`,
  );
  expect(plan).toContain('4 differences that no run changes');
  expect(await told('reconcile')).toContain('converged: except 4 differences left alone');
  expect(await told('status')).toContain('3 changes by others');
  const ofAnn = await told('explain', ANN);
  expect(ofAnn).toContain(`group Blue: ${LEFT_OUT}`);
  expect(await told('explain', BOB)).toContain('left by the policy');
  const ofGone = await told('explain', 'Gone');
  expect(ofGone).toContain('Gone is left alone at main');
}, 30_000);

test('under the policy create-only an adopted group lacks a pushed member → the member is not added, and does not count as removed at the platform', async () => {
  const { platformUrl, fixtures } = place.sandbox.ready;
  await send(platformUrl, 'POST', '/api/scim/v2/Groups', {
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Old' },
  });
  await place.idp.createGroup('Old', [ann]);
  await place.idle();
  expect(await told('plan')).toContain(
    `Person ${ANN} in Old: addMember, member at the source; policy create-only leaves it`,
  );
  await told('reconcile');
  expect(await told('status')).not.toContain('by others');
  expect(await told('explain', 'Old')).toContain(`member ${ANN}: ${LEFT_OUT}.`);
}, 30_000);
