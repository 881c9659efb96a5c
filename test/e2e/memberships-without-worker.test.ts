// Tests that apply and reconcile write the memberships of their plan when no worker runs, and that verify-access says that none runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { isChange } from '../../src/reconcile/entry.ts';
import { parseSaved } from '../../src/reconcile/plan.ts';
import { openPlace, type Place } from '../support/situation.ts';

const mail = (name: string): string => `${name}@acme.example`;
// The rule reads groups, so a changed membership marks the person too.
const regions = { type: 'string_array', expression: '[groups.display[$match($, /^region-/)]]' };

let place: Place;
let file: string;
let ids: Record<string, string>;
beforeEach(async () => {
  place = await openPlace({ target: { attributes: { regions } } });
  file = join(place.commands.folder, 'plan.json');
  ids = {};
  for (const name of ['ann', 'bob']) ids[name] = await place.idp.createUser(mail(name));
  for (const name of ['team', 'crew']) ids[name] = await place.idp.createGroup(name, [ids.bob ?? '']);
  ids.club = await place.idp.createGroup('club', []);
  await place.idle();
  // From here on no worker runs.
  await place.stopApps();
  await place.start('api');
}, 60_000);
afterEach(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);
const add = (group: string, name: string): Promise<unknown> =>
  place.idp.patch(`/Groups/${ids[group]}`, { op: 'add', path: 'members', value: [{ value: ids[name] }] });
const membersOf = async (group: string): Promise<string[]> =>
  ((await place.platform.state()).groups.find((each) => each.displayName === group)?.members ?? [])
    .map(String)
    .toSorted();

test('the only change of a plan is the membership of a person with a pending change → apply writes the membership', async () => {
  await add('team', 'ann');
  await expect(run('plan', '--out', file)).resolves.toMatchObject({ code: 2 });
  const [plan] = parseSaved(readFileSync(file, 'utf8'));
  expect(plan?.entries.filter(isChange).map(({ action, member }) => `${action} ${member?.name}`)).toEqual([
    `addMember ${mail('ann')}`,
  ]);
  await expect(run('apply', file, '--yes', '--deadline', '40s')).resolves.toMatchObject({ code: 0 });
  await expect(membersOf('team')).resolves.toEqual(['ann', 'bob'].map(mail));
  await expect(run('plan')).resolves.toMatchObject({ code: 0 });
}, 90_000);

test('a person to be added changes after the plan → apply exits 3 and writes nothing', async () => {
  await add('team', 'ann');
  await run('plan', '--out', file);
  await place.idp.patch(`/Users/${ids.ann}`, { op: 'replace', path: 'displayName', value: 'Ann New' });
  await expect(run('apply', file, '--yes')).resolves.toMatchObject({ code: 3 });
  await expect(membersOf('team')).resolves.toEqual([mail('bob')]);
}, 90_000);

test('a person to be added to a group loses another group after the plan → apply exits 1 and names the person, and reconcile writes both changes', async () => {
  await add('club', 'bob');
  await run('plan', '--out', file);
  await place.idp.patch(`/Groups/${ids.crew}`, { op: 'remove', path: `members[value eq "${ids.bob}"]` });
  await expect(run('apply', file, '--yes', '--deadline', '40s')).resolves.toMatchObject({
    code: 1,
    text: expect.stringContaining(`not written: 1, such as one of ${mail('bob')}`) as string,
  });
  await expect(membersOf('club')).resolves.toEqual([]);
  await expect(run('reconcile', '--yes', '--deadline', '40s')).resolves.toMatchObject({ code: 0 });
  await expect(Promise.all(['club', 'crew'].map(membersOf))).resolves.toEqual([[mail('bob')], []]);
}, 90_000);

test('the group of a new person is made before the account → reconcile writes the membership and activates the account', async () => {
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'POST', path: '/Users$', latencyMs: 1500 }],
  });
  ids.cid = await place.idp.createUser(mail('cid'));
  await place.idp.createGroup('staff', [ids.cid]);
  await expect(run('reconcile', '--yes', '--deadline', '40s')).resolves.toMatchObject({ code: 0 });
  await expect(membersOf('staff')).resolves.toEqual([mail('cid')]);
  await expect(place.platform.user(mail('cid'))).resolves.toMatchObject({ active: true });
}, 90_000);

test("a change of a person or of the person's group waits without a worker → verify-access names the process to start", async () => {
  const start = 'no worker runs: start scim-bridge serve --role worker, or all';
  await place.idp.patch(`/Users/${ids.bob}`, { op: 'replace', path: 'name.givenName', value: 'Bobby' });
  expect((await run('verify-access', mail('bob'))).text).toContain(`a change waits to be applied: ${start}`);
  await add('club', 'ann');
  expect((await run('verify-access', mail('ann'))).text).toContain(start);
  await run('reconcile', '--yes', '--deadline', '40s');
  expect((await run('verify-access', mail('bob'))).text).not.toContain('no worker');
}, 90_000);
