// Tests what verify-access and explain tell of groups and values that the settings leave alone at an account.
import { ADMIN_TOKEN } from '../support/build-bridge.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BEN = 'ben@acme.example';
const level = { type: 'string', from: 'title', onEmpty: 'keep' };
const room = { type: 'string', from: 'nickName' };

let place: Place;
let ann = '';
let former = '';
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { level, room } } });
  const { idp } = place;
  ann = await idp.createUser(ANN, { title: 'senior', nickName: 'R1' });
  const ben = await idp.createUser(BEN, { title: 'junior', nickName: 'R2' });
  await idp.createGroup('north', [ann, ben]);
  former = await idp.createGroup('tmp-one', [ann]);
  await place.idle();
  await place.change(({ targets }) => {
    Object.assign(targets.main, { groups: { exclude: ['^tmp-'] }, attributes: { level } });
  });
  await place.idp.createGroup('tmp-two', [ann]);
  await place.idp.patch(`/Users/${ann}`, { op: 'remove', path: 'title' });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const applied = ({ chain }: any) => chain.find(({ stage }: any) => stage === 'applied');
const GROUP_ONE = {
  name: 'tmp-one',
  kind: 'group',
  why: 'leftOut',
  actual: true,
};
const LEVEL = { name: 'attributes.level', kind: 'attribute', why: 'kept', actual: 'senior' };
const ROOM = { name: 'attributes.room', kind: 'attribute', why: 'unmapped', actual: 'R1' };

test('verify-access names excluded groups and values that stay, and counts only managed ones as desired', async () => {
  expect((await place.platform.user(ANN))?.groups.toSorted()).toEqual(['north', 'tmp-one']);
  const { json } = await place.commands.run('verify-access', ANN, '--json');
  expect(json.leftAlone).toEqual([
    GROUP_ONE,
    { name: 'tmp-two', kind: 'group', why: 'leftOut', actual: false },
    LEVEL,
    ROOM,
  ]);
  const sentence =
    'read back: active, 2 groups, every other value as desired; left alone by the settings: ' +
    'group tmp-one (left out by groups.include or groups.exclude; the membership stays at the platform), ' +
    'group tmp-two (left out by groups.include or groups.exclude; no member at the platform), ' +
    'attributes.level (kept though the source has no value: onEmpty is keep), ' +
    'attributes.room (no longer mapped; the value that the bridge wrote stays)';
  expect(applied(json)).toMatchObject({ ok: true, detail: sentence });
  const { text } = await place.commands.run('verify-access', ANN);
  expect(text).toContain(sentence);
  const answer = await fetch(`http://127.0.0.1:${place.port}/admin/v1/verify-access`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user: ANN }),
  });
  expect([answer.status, await answer.json()]).toEqual([
    200,
    expect.objectContaining({ leftAlone: json.leftAlone }),
  ]);
}, 30_000);

test('explain names a value that stays at the platform although the source has none', async () => {
  const { text, json } = await explained();
  expect(text).toContain(
    'Kept at the platform though the source has no value, because onEmpty is keep: attributes.level.',
  );
  expect(json[0].verdict).toBe('asDesired');
  expect(json[0].values).toContainEqual({
    name: 'attributes.level',
    desired: null,
    applied: 'senior',
    state: 'kept',
  });
}, 30_000);

test('the source removes a person from an excluded group → verify-access still names this group of the account', async () => {
  await place.idp.patch(`/Groups/${former}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  await place.idle();
  const { json } = await place.commands.run('verify-access', ANN, '--json');
  expect(json.leftAlone).toContainEqual(GROUP_ONE);
}, 30_000);

test('verify-access of a person whose groups and values are all managed lists nothing under leftAlone', async () => {
  await place.change(({ targets }) => {
    Object.assign(targets.main, { attributes: { level, room } });
  });
  await place.idle();
  const { json } = await place.commands.run('verify-access', BEN, '--json');
  expect(json.leftAlone).toEqual([]);
  expect(applied(json).detail).toBe('read back: active, 1 group, every value as desired');
}, 30_000);

async function explained() {
  const { text } = await place.commands.run('explain', ANN, '--all');
  const { json } = await place.commands.run('explain', ANN, '--json');
  return { text: text.replaceAll(/\s+/g, ' '), json };
}
