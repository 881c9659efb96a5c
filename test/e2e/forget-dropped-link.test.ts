// Tests that forget counts the account of a person whose link was dropped before the source deleted the person.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import type { TestSettings } from '../support/settings.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';

let place: Place;
let bob: string;
beforeEach(async () => {
  place = await openPlace({});
  bob = await place.idp.createUser(BOB);
  const ann = await place.idp.createUser('ann@acme.example');
  await place.idp.createGroup('sales', [ann, bob]);
  await place.idle();
}, 60_000);
afterEach(() => place.stop());

/** Drops Bob's link while the target is on hold, so that no sync links the account again, and deletes Bob at the source. */
async function dropLinkAndDelete(): Promise<void> {
  await place.commands.run('hold');
  expect((await place.commands.run('links', 'forget', `User:${bob}`)).code).toBe(0);
  expect((await place.idp.send('DELETE', `/Users/${bob}`)).status).toBe(204);
}

const { outcome } = commandsAt(() => place);
const forget = (...flags: string[]) => outcome('forget', `User:${bob}`, '--yes', ...flags);
const scimId = async (): Promise<string> => (await place.platform.user(BOB))?.scimId ?? '';

test('a leaver with a dropped link is still in a group at the platform → forget --leave-account names the group', async () => {
  await dropLinkAndDelete();
  expect(await forget()).toEqual([
    1,
    expect.stringContaining(`account ${await scimId()} at main is active.`),
  ]);
  const [code, text] = await forget('--leave-account');
  expect(code).toBe(0);
  expect(text).toContain(`account ${await scimId()} stays at main, as it is`);
  expect(text).toContain('it stays in sales there');
  await place.commands.run('release');
  await place.idle();
  expect((await place.platform.group('sales'))?.members).toContain(BOB);
}, 60_000);

test('a leaver has a dropped link at a target that left the settings → forget exits 1, because the account may be active', async () => {
  await dropLinkAndDelete();
  await place.change(renameTarget);
  const id = await scimId();
  const [code, text] = await forget();
  expect(code).toBe(1);
  expect(text).toContain(`account ${id} at main may be active`);
  expect(text).toContain('A target is no longer configured');
  expect((await forget('--leave-account'))[0]).toBe(0);
}, 60_000);

test('a create at a target that left the settings got no answer → forget exits 1 because an account may be active, and --leave-account says that it may stay', async () => {
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'POST', path: '/Users$', dropBefore: true }],
  });
  const cid = await place.idp.createUser('cid@acme.example');
  await eventually('the create was tried', async () =>
    (await place.commands.run('explain', `User:${cid}`, '--json')).json[0].link.creating ? true : undefined,
  );
  await place.commands.run('hold');
  await place.idp.send('DELETE', `/Users/${cid}`);
  await place.change(renameTarget);
  const order = ['forget', `User:${cid}`, '--yes'];
  const [code, text] = await outcome(...order);
  expect([code, text]).toEqual([
    1,
    expect.stringContaining(
      'an account without a known id at main may be there and active, because a create got no answer. A target is no longer configured: put it back',
    ),
  ]);
  const [left, told] = await outcome(...order, '--leave-account');
  expect([left, told]).toEqual([0, expect.stringContaining('an account may stay at main, active')]);
}, 60_000);

/** Takes the target `main` out of the settings; the connection gets another target. */
function renameTarget({ targets, connections }: TestSettings): void {
  const { main, ...others } = targets as Record<string, object>;
  const renamed = { ...others, other: main };
  Object.assign(targets, renamed);
  delete (targets as Record<string, unknown>).main;
  for (const each of Object.values(connections)) Object.assign(each, { targets: ['other'] });
}
