// Tests changes that somebody makes at the platform while they wait there for the end of a hold.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const NONE = { count: 0, percent: 0 };
const EQUAL = 'no changes';

let place: Place;
let ann: string;
let bob: string;
let crew: string;
beforeEach(async () => {
  const attributes = { region: { type: 'string', from: 'title' } };
  place = await openPlace({ target: { guard: { deactivate: NONE }, attributes } });
  ann = await place.idp.createUser(ANN, { title: 'north' });
  bob = await place.idp.createUser(BOB);
  crew = await place.idp.createGroup('crew', [ann]);
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

const { told: words } = commandsAt(() => place);
const verdict = async (name: string): Promise<any> =>
  (await place.commands.run('explain', name, '--json')).json[0];
const scimIdOf = async (name: string): Promise<string> => (await place.platform.user(name))?.scimId ?? '';

async function setActiveByHand(name: string, value: boolean): Promise<void> {
  const change = { op: 'replace', path: 'active', value };
  await byHand(place, 'PATCH', `/Users/${await scimIdOf(name)}`, change);
}
async function memberByHand(name: string, op: 'add' | 'remove'): Promise<void> {
  const value = await scimIdOf(name);
  const { scimId } = (await place.platform.group('crew')) as any;
  const change =
    op === 'add' ? { op, path: 'members', value: [{ value }] } : { op, path: `members[value eq "${value}"]` };
  await byHand(place, 'PATCH', `/Groups/${scimId}`, change);
}

test('while the target is on hold, the source changes memberships and somebody makes the same changes by hand → plan and sync --dry-run list no change', async () => {
  await place.commands.run('hold');
  await place.idp.patch(
    `/Groups/${crew}`,
    { op: 'remove', path: `members[value eq "${ann}"]` },
    { op: 'add', path: 'members', value: [{ value: bob }] },
  );
  expect(await words('plan')).toContain('2 changes.');
  expect(await verdict('crew')).toMatchObject({ verdict: 'stopped', members: { toAdd: 1, toRemove: 1 } });
  await memberByHand(ANN, 'remove');
  await memberByHand(BOB, 'add');
  expect(await words('plan')).toContain('nothing to write');
  for (const name of [ANN, BOB, 'crew']) {
    expect(await words('sync', name, '--dry-run')).toContain('nothing to do, equal already');
    const found = await verdict(name);
    expect(found).toMatchObject({ verdict: 'asDesired', platform: { state: 'equal' } });
    expect(found.reasons.join()).not.toMatch(/still to be/);
  }
  await place.commands.run('release');
  await place.idle();
  expect((await place.platform.group('crew'))?.members).toEqual([BOB]);
  expect(await words('plan')).toContain(EQUAL);
}, 60_000);

test('while the target is on hold, the source deactivates a person and somebody closes the account by hand → explain calls the person as desired', async () => {
  await place.commands.run('hold');
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value: false });
  expect(await verdict(BOB)).toMatchObject({ verdict: 'stopped' });
  await setActiveByHand(BOB, false);
  expect(await words('plan')).toContain('nothing to write');
  expect(await words('explain', BOB)).toMatch(/is at main as desired: inactive.*On hold since/);
  await place.commands.run('release');
  await place.commands.run('hold');
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value: true });
  await setActiveByHand(BOB, true);
  expect(await words('explain', BOB)).toMatch(/is at main as desired: active.*On hold since/);
}, 60_000);

test('while the target is on hold, somebody closes the account of a leaver with a held deactivation → after the release another change is written, and nothing is held', async () => {
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await place.commands.run('hold');
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value: 'south' });
  await setActiveByHand(ANN, false);
  expect(await words('plan')).toContain('1 change. 1 attribute to set.');
  await place.commands.run('release');
  await place.idle();
  expect((await place.platform.user(ANN))?.attributes).toMatchObject({ region: 'south' });
  expect(await words('approvals', 'list')).toBe('The guard holds nothing.');
  expect(await words('plan')).toContain(EQUAL);
}, 60_000);

const access = async (name: string) => {
  const { code, text } = await place.commands.run('verify-access', name);
  return { code, text: text.replaceAll(/\s+/g, ' ') };
};

test('while the target is on hold, the source deactivates a person and somebody closes the account → verify-access exits 0 and says that the account is closed', async () => {
  await place.commands.run('hold');
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value: false });
  expect(await access(BOB)).toMatchObject({ code: 2, text: expect.stringContaining('a change waits') });
  await setActiveByHand(BOB, false);
  const closed = await access(BOB);
  expect(closed.code).toBe(0);
  expect(closed.text).toContain('the account is closed, as it should be: inactive at the source');
}, 60_000);

test('while the target is on hold, the source reactivates a person and somebody closes the account → verify-access and explain report a difference until a reconcile marks the person', async () => {
  await place.commands.run('hold');
  for (const value of [false, true])
    await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value });
  await setActiveByHand(BOB, false);
  const told = await access(BOB);
  expect(told.code).toBe(2);
  expect(told.text).toContain('differs at the platform: active: on hold by');
  expect(told.text).not.toContain('a change waits');
  expect(await verdict(BOB)).toMatchObject({ verdict: 'differs' });
  await place.commands.run('release');
  await place.idle();
  // The sync of the mark writes nothing.
  expect((await place.platform.user(BOB))?.active).toBe(false);
  await place.commands.run('hold');
  await place.commands.run('reconcile', '--yes');
  expect((await access(BOB)).text).toContain('a change waits to be applied: on hold by');
  expect(await verdict(BOB)).toMatchObject({ verdict: 'stopped' });
  await place.commands.run('release');
  await place.idle();
  expect((await place.platform.user(BOB))?.active).toBe(true);
}, 60_000);
