// Tests that apply and reconcile do not wait for a group that the settings leave out when no worker runs.
import { join } from 'node:path';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const mail = (name: string): string => `${name}@acme.example`;

let place: Place;
let file: string;
let ids: Record<string, string>;
beforeEach(async () => {
  place = await openPlace({ target: { attributes: { region: { type: 'string', from: 'title' } } } });
  file = join(place.commands.folder, 'plan.json');
  ids = {};
  for (const name of ['ann', 'bob']) ids[name] = await place.idp.createUser(mail(name));
  for (const name of ['north', 'tmp-one'])
    ids[name] = await place.idp.createGroup(name, [ids.ann ?? '', ids.bob ?? '']);
  await place.idle();
  await place.change(({ targets }) => {
    targets.main.groups = { exclude: ['^tmp-'] };
  });
  await place.commands.run('reconcile', '--yes');
  // From here on no worker runs.
  await place.stopApps();
  await place.start('api');
}, 60_000);
afterEach(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);

/** Deletes the account of ann, who is a member of the left-out group, at the platform. */
const deleteAccount = async (): Promise<void> => {
  await byHand(place, 'DELETE', `/Users/${(await place.platform.user(mail('ann')))?.scimId ?? ''}`);
};

test('the account of a member of an excluded group is deleted → apply creates and activates the account, and nothing is left to do', async () => {
  await deleteAccount();
  await run('plan', '--out', file);
  await expect(run('apply', file, '--yes', '--deadline', '40s')).resolves.toMatchObject({ code: 0 });
  await expect(place.platform.user(mail('ann'))).resolves.toMatchObject({ active: true, groups: ['north'] });
  expect((await run('status')).text).toContain('; 0 not applied yet');
}, 90_000);

test('the account of a member of an excluded group is deleted → reconcile creates and activates the account', async () => {
  await deleteAccount();
  await expect(run('reconcile', '--yes', '--deadline', '40s')).resolves.toMatchObject({ code: 0 });
  await expect(place.platform.user(mail('ann'))).resolves.toMatchObject({ active: true, groups: ['north'] });
}, 90_000);

test('the source removes a person from an excluded group and gives the person a value → apply writes the value, and the membership stays', async () => {
  const path = `members[value eq "${ids.bob}"]`;
  await place.idp.patch(`/Groups/${ids['tmp-one']}`, { op: 'remove', path });
  await place.idp.patch(`/Users/${ids.bob}`, { op: 'replace', path: 'title', value: 'EMEA' });
  await run('plan', '--out', file);
  await expect(run('apply', file, '--yes', '--deadline', '40s')).resolves.toMatchObject({ code: 0 });
  await expect(place.platform.user(mail('bob'))).resolves.toMatchObject({
    attributes: { region: 'EMEA' },
    groups: ['north', 'tmp-one'],
  });
}, 90_000);

test('the source changes the members of an excluded group → explain of the group announces no addition or removal', async () => {
  const path = `members[value eq "${ids.bob}"]`;
  const value = [{ value: await place.idp.createUser(mail('cid')) }];
  await place.idp.patch(`/Groups/${ids['tmp-one']}`, { op: 'remove', path });
  await place.idp.patch(`/Groups/${ids['tmp-one']}`, { op: 'add', path: 'members', value });
  const { text } = await run('explain', 'tmp-one');
  expect(text).not.toMatch(/still to be|[1-9] to (add|remove)|cid@|bob@/);
}, 90_000);
