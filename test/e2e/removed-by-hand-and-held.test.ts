// Tests the guard's limit for removals of which somebody has made some at the platform while the target was on hold.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['ann', 'bob', 'cid', 'dan'];
const mail = (name: string): string => `${name}@acme.example`;

let place: Place;
let crew: string;
let ids: string[];
beforeEach(async () => {
  place = await openPlace({ target: { guard: { removeMembers: { count: 3, percent: 100 } } } });
  ids = [];
  for (const name of NAMES) ids.push(await place.idp.createUser(mail(name)));
  crew = await place.idp.createGroup('crew', ids);
  await place.idle();
  await place.commands.run('hold');
}, 60_000);
afterEach(() => place.stop());

const takeOut = (...users: string[]): Promise<unknown> =>
  place.idp.patch(
    `/Groups/${crew}`,
    ...users.map((user) => ({ op: 'remove', path: `members[value eq "${user}"]` })),
  );
async function takeOutByHand(name: string): Promise<void> {
  const { scimId } = (await place.platform.group('crew')) as { scimId: string };
  const member = (await place.platform.user(mail(name)))?.scimId ?? '';
  await byHand(place, 'PATCH', `/Groups/${scimId}`, {
    op: 'remove',
    path: `members[value eq "${member}"]`,
  });
}

test('four removals exceed a limit of three and one is made by hand → plan and sync --dry-run announce three as held, and none is written', async () => {
  await takeOut(...ids);
  await takeOutByHand('ann');
  const plan = await place.commands.run('plan');
  expect(plan.text).toContain('3 memberships to remove. The guard is to hold 3 of them');
  const dryRun = await place.commands.run('sync', 'crew', '--dry-run');
  expect(dryRun.text.match(/to be held by the guard/g)).toHaveLength(3);
  await place.commands.run('release');
  await place.idle();
  expect(((await place.platform.group('crew')) as any).members).toHaveLength(3);
  expect((await place.commands.run('status')).text).toContain('4 held by the guard');
}, 90_000);

test('three removals fit a limit of three and one is made by hand → plan announces none as held, and all are written', async () => {
  await takeOut(...ids.slice(0, 3));
  await takeOutByHand('ann');
  const plan = await place.commands.run('plan');
  expect(plan.text).toContain('2 memberships to remove.');
  expect(plan.text).not.toContain('The guard is to hold');
  await place.commands.run('release');
  await place.idle();
  expect(((await place.platform.group('crew')) as any).members).toHaveLength(1);
}, 90_000);
