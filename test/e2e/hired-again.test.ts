// Tests a person who is deleted and hired again while the platform keeps memberships of the former record.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
afterEach(() => place.stop());

test('the policy changes from upsert-only to sync → a re-hired person leaves the groups of the former SCIM record', async () => {
  place = await openPlace({ target: { policy: 'upsert-only' } });
  const ids = [await place.idp.createUser(ANN), await place.idp.createUser(BOB)];
  for (const name of ['left', 'back']) await place.idp.createGroup(name, ids);
  const old = await place.idp.createGroup('old', ids);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ids[0] ?? ''}`);
  await place.idp.send('DELETE', `/Groups/${old}`);
  await place.idle();
  const again = await place.idp.createUser(ANN);
  const members = async (name: string) => (await place.platform.group(name))?.members.toSorted();
  const { Resources } = (await place.idp.send('GET', '/Groups?filter=displayName%20eq%20%22back%22')).body;
  await place.idp.patch(`/Groups/${Resources[0].id}`, {
    op: 'add',
    path: 'members',
    value: [{ value: again }],
  });
  await place.idle();
  await expect(members('left')).resolves.toEqual([ANN, BOB]);

  await place.change(({ targets: { main } }) => {
    Object.assign(main as object, { policy: 'sync' });
  });
  await eventually('taken out', async () => (await members('left'))?.length === 1);
  await place.idle();
  await expect(members('left')).resolves.toEqual([BOB]);
  await expect(members('back')).resolves.toEqual([ANN, BOB]);
  await expect(members('old')).resolves.toBeUndefined();
  expect((await place.commands.run('plan')).text).toContain('no changes. The platform is as desired.');
}, 60_000);

/** Creates a place where the removal of ANN from the group crew was rejected, and ANN then deleted and created again. */
async function hireAgainAfterRejection(activation: 'safe' | 'immediate') {
  const none = { count: 0, percent: 0 };
  place = await openPlace({
    target: { guard: { deactivate: none, removeMembers: none }, users: { activation } },
  });
  const decide = async (action: 'approve' | 'reject') => {
    const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
    expect((await place.commands.run('approvals', action, id, '--yes')).code).toBe(0);
    await place.idle();
  };
  const members = async () => (await place.platform.group('crew'))?.members.toSorted();
  const ids = [await place.idp.createUser(ANN), await place.idp.createUser(BOB)];
  const crew = await place.idp.createGroup('crew', ids);
  await place.idle();
  await place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: `members[value eq "${ids[0] ?? ''}"]` });
  await place.idle();
  await decide('reject');
  await place.idp.send('DELETE', `/Users/${ids[0] ?? ''}`);
  await place.idle();
  await decide('approve');
  await expect(members()).resolves.toEqual([ANN, BOB]);
  const again = await place.idp.createUser(ANN);
  await place.idle();
  return { again, decide, members };
}

test('the removal of a person is rejected, and the person is deleted and created again → the rejection does not apply to the new record', async () => {
  const { again, decide, members } = await hireAgainAfterRejection('immediate');
  await expect(members()).resolves.toEqual([ANN, BOB]);
  expect((await place.commands.run('exceptions')).text).toContain('Group crew');
  expect((await place.commands.run('explain', again)).text).toContain('The guard holds');
  await decide('approve');
  await expect(members()).resolves.toEqual([BOB]);
  await expect(place.commands.run('exceptions')).resolves.toMatchObject({ text: 'No exceptions.' });
}, 60_000);

test('a re-hired person takes over the closed account under safe activation → the account leaves the former groups before it is activated, without a new decision', async () => {
  const { members } = await hireAgainAfterRejection('safe');
  await expect(members()).resolves.toEqual([BOB]);
  await expect(place.platform.user(ANN)).resolves.toMatchObject({ active: true });
  // Newest first.
  expect((await place.commands.run('log')).text).toMatch(/activate .*\n.* removeMembers .*\n.* adopt /);
  await expect(place.commands.run('exceptions')).resolves.toMatchObject({ text: 'No exceptions.' });
}, 60_000);

test('while the target is on hold, a deleted person is pushed again → explain and sync --dry-run say that the sync takes over the former account', async () => {
  place = await openPlace({});
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  await place.commands.run('hold');
  const again = await place.idp.createUser(ANN);
  const command = ['sync', `User:${again}`, '--dry-run'];
  expect((await place.commands.run('explain', ANN)).text.replaceAll(/\s+/g, ' ')).toContain(
    `If the platform has an account of a former record of this person, the sync takes it over: scim-bridge ${command.join(' ')} tells`,
  );
  expect((await place.commands.run(...command)).text).toContain(
    `adopt ${ANN} (the account of a deleted user is taken over)`,
  );
}, 60_000);
