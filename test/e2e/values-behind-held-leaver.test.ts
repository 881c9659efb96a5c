// Tests the values and memberships of a person that wait for the held deactivation of the same person: every reading command
// names them in the same words.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NONE = { count: 0, percent: 0 };
const CAT = 'cat@acme.example';
const WAITING = 'aiting for the decision about the deactivation: city, level, the membership in south';
const attributes = {
  city: { type: 'string', from: 'userType', onEmpty: 'clear' },
  level: { type: 'string', from: 'title', onEmpty: 'clear' },
};

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE, clearAttributes: NONE }, attributes } });
  const { idp } = place;
  const cat = await idp.createUser(CAT, { title: 'high', userType: 'rome' });
  const south = await idp.createGroup('south', []);
  await place.idle();
  await idp.patch(`/Users/${cat}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await idp.patch(
    `/Users/${cat}`,
    { op: 'replace', path: 'title', value: 'low' },
    { op: 'remove', path: 'userType' },
  );
  await idp.patch(`/Groups/${south}`, { op: 'add', path: 'members', value: [{ value: cat }] });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);
const kindsHeld = async () => (await place.commands.run('approvals', 'list', '--json')).json[0].kinds;

test('a deactivation is held → plan, explain and verify-access name the values and memberships that wait for it', async () => {
  for (const words of [['plan'], ['explain', CAT, '--all'], ['verify-access', CAT]])
    expect(await told(...words)).toContain(WAITING);
});

test('values wait for a held deactivation → plan gives them the cause "not applied", not "mapping changed"', async () => {
  const file = join(place.commands.folder, 'plan.json');
  await place.commands.run('plan', '--out', file);
  const { entries } = JSON.parse(readFileSync(file, 'utf8')).plans[0];
  const causes = entries
    .filter(({ name }: any) => name === CAT)
    .map(({ action, attribute = '', attribution }: any) => `${action} ${attribute}: ${attribution.cause}`);
  expect(causes.toSorted()).toEqual([
    'clearAttribute city: not applied',
    'deactivate : not applied',
    'setAttribute level: not applied',
  ]);
});

test('values wait for a held deactivation → sync --dry-run does not announce them', async () => {
  const text = await told('sync', CAT, '--dry-run');
  expect(text).toContain('nothing would be written');
  expect(text).toMatch(/setAttribute level \(.*; waits for the held deactivation of the person/);
});

test('the mapping changes while a deactivation is held → plan has nothing to write for the person, and reconcile holds no clearing', async () => {
  await place.change(({ targets: { main } }) => {
    Object.assign(main, { attributes: { ...attributes, nick: { type: 'string', from: 'nickName' } } });
  });
  await place.idle();
  const plan = await place.commands.run('plan');
  expect(plan.text).toContain('nothing to write');
  expect(plan.text).toContain(WAITING);
  await place.commands.run('reconcile', '--yes', '--deadline', '20s');
  await place.idle();
  expect(await kindsHeld()).toMatchObject({ deactivate: 1, clearAttributes: 0 });
  // The next plan compares with the links, because the mapping did not change since the run.
  expect(await told('plan')).toContain(WAITING);
  expect(await place.platform.user(CAT)).toMatchObject({
    active: true,
    attributes: { city: 'rome', level: 'high' },
    groups: [],
  });
}, 60_000);

test('a held deactivation is approved → the waiting values and memberships are written, and no command reports them as waiting', async () => {
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
  const account = await place.platform.user(CAT);
  expect(account).toMatchObject({ active: false, attributes: { level: 'low' }, groups: ['south'] });
  expect(account?.attributes.city ?? null).toBeNull();
  for (const words of [['plan'], ['explain', CAT, '--all'], ['verify-access', CAT]])
    expect(await told(...words)).not.toContain('aiting for the decision about the deactivation');
}, 60_000);
