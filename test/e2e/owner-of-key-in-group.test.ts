// Tests what is told of the owner of the platform key, whom somebody added to a group by hand, under `groups.members: authoritative`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const OWNER = 'admin@acme.example';

let place: Place;
let crew: string;
beforeAll(async () => {
  place = await openPlace({ target: { groups: { members: 'authoritative' } } });
  const ann = await place.idp.createUser('ann@acme.example');
  crew = await place.idp.createGroup('crew', [ann]);
  await place.idle();
  const owner = (await place.platform.user(OWNER))?.scimId ?? '';
  const viewer = (await place.platform.user('viewer@acme.example'))?.scimId ?? '';
  await byHand(place, 'PATCH', `/Groups/${(await place.platform.group('crew'))?.scimId}`, {
    op: 'add',
    path: 'members',
    value: [{ value: owner }, { value: viewer }],
  });
}, 60_000);
afterAll(() => place.stop());

/** Returns the entries of a plan about groups. */
async function planned(...options: string[]) {
  const file = join(place.commands.folder, 'plan.json');
  await place.commands.run('plan', '--out', file, ...options);
  const { entries } = JSON.parse(readFileSync(file, 'utf8')).plans[0];
  return entries.filter(({ kind }: { kind: string }) => kind === 'Group');
}

test('an account and the owner of the key were added by hand → a reconcile removes the account, and plan and explain name the owner, who stays', async () => {
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect((await place.platform.group('crew'))?.members).toEqual(['ann@acme.example', OWNER]);
  const plan = await place.commands.run('plan');
  expect(plan).toMatchObject({ code: 0, text: expect.stringContaining('no changes.') });
  expect(plan.text).toContain(`Account ${OWNER} in crew`);
  const [{ verdict, reasons }] = (await place.commands.run('explain', 'crew', '--json')).json;
  expect([verdict, reasons.join(' ')]).toEqual(['asDesired', expect.stringContaining(OWNER)]);
}, 60_000);

test('a group whose only surplus member is the owner of the key was compared → plan looks for no cause at the platform', async () => {
  expect(await planned()).toMatchObject([
    { action: 'unmanaged', member: { name: OWNER }, attribution: { cause: 'none' } },
  ]);
}, 60_000);

test('the owner of the key is pushed as a member of the group → plan --full does not call the owner a surplus member', async () => {
  const owner = await place.idp.createUser(OWNER);
  await place.idp.patch(`/Groups/${crew}`, { op: 'add', path: 'members', value: [{ value: owner }] });
  await place.idle();
  expect(await planned('--full')).toEqual([]);
}, 60_000);
