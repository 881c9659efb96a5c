// Tests what the reading commands say while the address in the settings leads to a platform that has none of the linked accounts, and
// no reconcile has looked at it: nothing is written there.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const WAITS =
  'the address of main changed, and nothing is written before a worker or scim-bridge reconcile --target main finds a linked account there';

let place: Place;
let other: Sandbox;
beforeAll(async () => {
  place = await openPlace({});
  await place.idp.createUser(ANN);
  await place.idle();
  other = await startSandbox();
}, 60_000);
afterAll(async () => {
  await place.stop();
  await other.stop();
});

const { outcome, told } = commandsAt(() => place);
const plain = (text: string): string => text.replaceAll(/\S*main\.js /g, 'scim-bridge ');

/** Restarts with another platform, and without a scheduler, which would reconcile at once. */
async function moveTo({ ready }: Sandbox): Promise<void> {
  await place.stopApps();
  const file = join(place.commands.folder, 'bridge.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  Object.assign(settings.targets.main, { url: ready.platformUrl, token: ready.fixtures.apiKeys.admin });
  writeFileSync(file, JSON.stringify(settings));
  await place.start('api');
  await place.start('worker');
}

test('the address leads to another platform → status, doctor, explain, sync and verify-access say that nothing is written and why, and no command reads the accounts there as those of the links', async () => {
  await moveTo(other);
  await place.idp.createUser(BOB);
  expect(plain(await told('status'))).toContain(WAITS);
  expect(plain((await outcome('doctor'))[1])).toContain(`address default → main: ${WAITS}`);
  const bob = plain(await told('explain', BOB, '--all'));
  expect(bob).toContain(`A change of ${BOB} waits because ${WAITS}.`);
  expect(bob).not.toContain('on its way');
  expect(bob).not.toContain('It is due at');
  expect((await place.commands.run('explain', BOB, '--json')).json[0]).toMatchObject({
    verdict: 'stopped',
    hasMoved: true,
  });
  const ann = plain(await told('explain', ANN, '--all'));
  expect(ann).toContain(`The state of ${ANN} is not known: main was not read at its new address`);
  expect(ann).toContain(`T${WAITS.slice(1)}.`);
  const [code, synced] = await outcome('sync', BOB);
  expect([code, plain(synced)]).toEqual([2, expect.stringContaining(`held: ${WAITS}`)]);
  expect(plain((await outcome('verify-access', BOB))[1])).toContain(`a change waits to be applied: ${WAITS}`);
}, 60_000);

test('the address leads to the platform of the links again → a worker finds an account there, and no command names the address', async () => {
  await moveTo(place.sandbox);
  await place.idle();
  expect(await told('explain', BOB, '--all')).toContain(`${BOB} is at main as desired`);
  expect(await told('status')).not.toContain('the address');
  await eventually('doctor has no finding about the address', async () =>
    (await told('doctor')).includes('address default') ? undefined : true,
  );
}, 60_000);
