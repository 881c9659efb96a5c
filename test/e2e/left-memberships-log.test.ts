// Tests that the log tells why a person stays in a group against the source: the policy of the target, or the protection.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const CAT = 'cat@acme.example';
const PAM = 'pam@acme.example';

let place: Place;
let cat: string;
let pam: string;
let north: string;
beforeAll(async () => {
  place = await openPlace({});
  cat = await place.idp.createUser(CAT);
  pam = await place.idp.createUser(PAM);
  north = await place.idp.createGroup('north', [cat, pam]);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

/** Takes the person out of the group at the source, after a change of the settings of the target. */
async function takeOut(user: string, settings: object): Promise<void> {
  await place.change(({ targets: { main } }) => {
    Object.assign(main, settings);
  });
  await place.idle();
  await place.idp.patch(`/Groups/${north}`, { op: 'remove', path: `members[value eq "${user}"]` });
  await place.idle();
}
const linesAbout = async (person: string): Promise<string[]> =>
  (await place.commands.run('log', '--status', 'skipped')).text
    .split('\n')
    .filter((line) => line.includes('north') && line.includes(person));

test('the policy upsert-only keeps a membership that the source removed → log and explain say so', async () => {
  await takeOut(cat, { policy: 'upsert-only' });
  expect((await place.platform.user(CAT))?.groups).toEqual(['north']);
  expect(await linesAbout(CAT)).toEqual([
    expect.stringContaining('the membership stays although the source removed it: the policy is upsert-only'),
  ]);
  const { text } = await place.commands.run('explain', CAT, '--all');
  expect(text).toContain('against the source, which the policy upsert-only leaves: north');
}, 60_000);

test('a protected person stays in a group → log and explain say so, and later syncs and reconciles add no further log entry', async () => {
  await takeOut(pam, { policy: 'sync', users: { protected: [PAM] } });
  await place.idp.patch(`/Groups/${north}`, { op: 'replace', path: 'displayName', value: 'north pole' });
  await place.idle();
  await place.commands.run('reconcile', '--yes');
  expect((await place.platform.user(PAM))?.groups).toEqual(['north pole']);
  expect((await place.platform.user(CAT))?.groups).toEqual([]);
  expect(await linesAbout(PAM)).toEqual([
    expect.stringContaining('listed in users.protected: the membership stays although the source removed it'),
  ]);
  const { text } = await place.commands.run('explain', PAM, '--all');
  expect(text).toContain('north pole (the person is protected: it is written after that)');
}, 60_000);
