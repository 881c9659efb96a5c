// Tests what becomes of held and rejected changes when the link of their person or group is dropped and the settings adopt nothing.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NONE = { count: 0, percent: 0 };
const YAN = 'yan@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let ids: Record<string, string>;
beforeEach(async () => {
  place = await openPlace({
    target: {
      adopt: 'report',
      guard: { clearAttributes: NONE, removeMembers: NONE },
      attributes: { country: { type: 'string', from: 'title' } },
    },
  });
  const { idp } = place;
  ids = { yan: await idp.createUser(YAN, { title: 'DE' }), bob: await idp.createUser(BOB, { title: 'FR' }) };
  ids.team = await idp.createGroup('team', [ids.yan ?? '', ids.bob ?? '']);
  await place.idle();
}, 60_000);
afterEach(() => place.stop());

const empty = (name: string) =>
  place.idp.patch(`/Users/${ids[name]}`, { op: 'replace', path: 'title', value: '' });
const approvals = async () => (await place.commands.run('approvals', 'list', '--json')).json;

test('links forget of a person with a held clearing → approvals and status no longer list it, and still list those of other persons', async () => {
  await empty('yan');
  await empty('bob');
  await place.idle();
  expect(await approvals()).toMatchObject([{ kinds: { clearAttributes: 2 } }]);
  await expect(place.commands.run('links', 'forget', YAN)).resolves.toMatchObject({ code: 0 });
  await place.idle();
  const [{ id, kinds }] = await approvals();
  expect(kinds).toMatchObject({ clearAttributes: 1 });
  const { code, text } = await place.commands.run('approvals', 'approve', id, '--person', YAN, '--yes');
  expect({ code, text }).toMatchObject({
    code: 1,
    text: expect.stringContaining('Approved: 0 of') as string,
  });
  await place.commands.run('links', 'forget', BOB);
  await place.idle();
  expect(await approvals()).toEqual([]);
  expect((await place.commands.run('status')).text).not.toMatch(/held/);
  for (const name of [YAN, BOB]) expect((await place.platform.user(name))?.attributes.country).toBeDefined();
}, 60_000);

test('links forget of a group with a held removal, under an adopt that keeps it unlinked → approvals no longer lists the removal', async () => {
  await place.idp.patch(`/Groups/${ids.team}`, { op: 'remove', path: `members[value eq "${ids.bob}"]` });
  await place.idle();
  expect(await approvals()).toMatchObject([{ kinds: { removeMembers: 1 } }]);
  await place.commands.run('links', 'forget', `Group:${ids.team}`);
  await place.idle();
  expect(await approvals()).toEqual([]);
}, 60_000);

test('a clearing is rejected, and the link is dropped and imported again → no sync clears the value', async () => {
  const file = `${place.commands.folder}/links.ndjson`;
  await place.commands.run('links', 'export', file);
  await empty('yan');
  await place.idle();
  const [{ id }] = await approvals();
  await place.commands.run('approvals', 'reject', id, '--yes');
  await place.idle();
  await place.commands.run('links', 'forget', YAN);
  await place.idle();
  await place.change(({ targets }) => Object.assign(targets.main, { guard: {} }));
  await expect(place.commands.run('links', 'import', file)).resolves.toMatchObject({ code: 0 });
  await place.idle();
  expect((await place.platform.user(YAN))?.attributes.country).toBe('DE');
  expect((await place.commands.run('links', 'show', YAN)).text).toContain('Rejected');
}, 60_000);
