// Tests the advice of status about a platform key that was just replaced in its file.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';

let place: Place;
afterAll(() => place.stop());
const { told } = commandsAt(() => place);

test('a refused key is replaced in its file → status advises a restart only after 20 s, and the service works with the new key without one', async () => {
  place = await openPlace({});
  const file = join(place.commands.folder, 'key');
  const key = place.sandbox.ready.fixtures.apiKeys.admin ?? '';
  writeFileSync(file, key, { mode: 0o600 });
  await place.change(({ targets: { main } }) => {
    main.token = `\${file:${file}}`;
  });
  writeFileSync(file, 'a-key-that-was-revoked');
  // The service reads the file every two seconds.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  await place.idp.createUser(BOB);
  await eventually('the key is refused', async () => (await told('status')).includes('refuses the key'));

  writeFileSync(file, key);
  expect(await told('status')).toMatch(
    /refuses the key \(401\) of a process of the service .*: a process takes a key over from its file and tries it within 20 s; if this is still said then, restart the service/,
  );
  await eventually('it works', async () => !(await told('status')).includes('refuses the key'), 30_000);
  // The first good answer ends the refusal; the syncs that waited for it follow.
  await eventually('Bob is active', async () => (await place.platform.user(BOB))?.active === true, 20_000);
}, 60_000);
