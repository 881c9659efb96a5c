// Tests that each command says that a protected account stays active although its person left at the source.
import '../support/load-modules.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let ann: string;
let bob: string;
beforeAll(async () => {
  place = await openPlace({});
  ann = await place.idp.createUser(ANN);
  bob = await place.idp.createUser(BOB);
  await place.idle();
  await place.change(({ targets: { main } }) => {
    main.users = { ...(main.users as object), protected: [ANN] };
  });
});
afterAll(() => place.stop());

const outputOf = async (...args: string[]): Promise<string> => (await place.commands.run(...args)).text;
const everywhere = async (words: string): Promise<void> => {
  for (const command of [['exceptions'], ['status'], ['plan'], ['explain', ANN, '--all']])
    expect(await outputOf(...command)).toContain(words);
};

test('the source deactivates or deletes a protected person → commands say that the account stays active', async () => {
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await everywhere('so it stays active although the person is inactive at the source');
  expect(await outputOf('explain', ANN, '--all')).not.toContain('left by us');
  expect(await outputOf('links', 'list')).not.toContain('  left  ');
  expect(await outputOf('plan')).toContain('2 in all: 1 linked (1 shown by the platform), 1 left alone');
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  await everywhere('so it stays active although the person is deleted at the source');
  expect((await place.platform.user(ANN))?.active).toBe(true);
});

test('a deleted user is no longer protected → explain and links list mark the account as left', async () => {
  await place.idp.send('DELETE', `/Users/${bob}`);
  await place.idle();
  expect(await outputOf('explain', BOB, '--all')).toContain('left by us');
  expect(await outputOf('links', 'list')).toContain('  left');
});

test('the protection of a leaver ends → plan lists the deactivation, and reconcile closes the account', async () => {
  await place.stopApps();
  const file = join(place.commands.folder, 'bridge.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  settings.targets.main.users.protected = [];
  writeFileSync(file, JSON.stringify(settings));
  expect(await outputOf('plan')).toMatch(/deactivate +(person|user) +ann@acme[.]example/);
  await place.start();
  await place.commands.run('reconcile');
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(false);
});
