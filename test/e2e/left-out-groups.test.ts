// Tests what status, plan and explain tell of groups that changed settings leave out.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';

const ANN = 'ann@acme.example';
const ids: string[] = [];
let group = '';
let place: Place;
beforeAll(async () => {
  place = await openPlace({});
  for (const name of [ANN, 'ben@acme.example']) ids.push(await place.idp.createUser(name));
  await place.idp.createGroup('north', ids);
  group = await place.idp.createGroup('tmp-one', ids);
  await place.idp.createGroup('tmp-two', ids.slice(1));
  await place.idle();
  await run(place, 'reconcile', '--yes');
  await place.stopApps();
  exclude('^tmp-');
}, 60_000);
afterAll(() => place.stop());

function exclude(...patterns: string[]): void {
  const file = join(place.commands.folder, 'bridge.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  settings.targets.main.groups = { exclude: patterns };
  writeFileSync(file, JSON.stringify(settings));
}

const { told } = commandsAt(() => place);

test('new settings exclude a group → plan no longer counts this group as desired, and status says that the settings changed', async () => {
  const plan = await told('plan');
  expect(plan).toContain('groups: 1 in all: 1 linked (1 shown by the platform), 0 missing');
  expect(plan).toContain('Members were read of 1 of 1 group.');
  const { code, text } = await place.commands.run('status');
  expect(code).toBe(2);
  expect(text).toContain(
    'mapping, scope, group names or policy in the settings changed, or the target was not in them, since a reconcile last brought them to everybody: the counts may be by the former settings',
  );
}, 30_000);

test('the settings exclude a group → reconcile writes nothing to the platform, and status and explain show the group as left out', async () => {
  await place.platform.forgetRequests();
  await run(place, 'reconcile', '--yes');
  await expect(place.platform.writes()).resolves.toEqual([]);
  await place.start();
  const status = await told('status');
  expect(status).toContain('groups: 1 in all: 1 linked (1 shown by the platform');
  expect(status).not.toContain('the settings changed');
  expect(await told('plan')).toContain('Members were read of 1 of 1 group.');
  expect(await told('explain', 'tmp-one')).toContain('tmp-one is not meant for main');
  expect(await told('explain', 'tmp-one')).not.toContain('as last written');
}, 30_000);

test('the source removes a person from an excluded group → explain of the person still names this group of the account', async () => {
  const sentence =
    'At the platform it is also in 1 group that the settings leave out (groups.include, groups.exclude): tmp-one. This membership stays until somebody ends it at the platform, or the source deletes the group.';
  expect(await told('explain', ANN)).toContain(sentence);
  await place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${ids[0]}"]` });
  await place.idle();
  expect((await place.platform.user(ANN))?.groups).toContain('tmp-one');
  expect(await told('explain', ANN)).toContain(sentence);
}, 30_000);

test('the deactivation of a person is held, and then rejected → explain names an excluded group of the person each time', async () => {
  const sentence = 'leave out (groups.include, groups.exclude): tmp-one. This membership stays';
  await place.change(({ targets }) => {
    targets.main.guard = { deactivate: { count: 0, percent: 0 } };
  });
  await place.idp.patch(`/Users/${ids[0]}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  const held = await told('explain', ANN, '--all');
  expect(held).toContain('The guard holds a part of what shall happen');
  expect(held).toContain(sentence);
  expect(held).not.toContain('At the platform, active');
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', approval.id, '--yes');
  await place.idle();
  expect(await told('explain', ANN, '--all')).toContain(sentence);
  await place.idp.patch(`/Users/${ids[0]}`, { op: 'replace', path: 'active', value: true });
  await place.idle();
}, 30_000);

test('explain of a person marks a group that the settings exclude as left out', async () => {
  expect(await told('explain', 'ben@acme.example')).toContain(
    '– tmp-one (left out by groups.include or groups.exclude)',
  );
}, 30_000);

test('the settings include a group again → this group counts as desired after a reconcile, even without a write', async () => {
  await place.stopApps();
  exclude();
  await place.start();
  await run(place, 'reconcile', '--yes');
  expect(await told('status')).toContain('groups: 3 in all: 3 linked');
  expect(await told('explain', 'tmp-two')).toContain('tmp-two is at main as desired');
}, 60_000);
