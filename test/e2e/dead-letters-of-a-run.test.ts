// Tests that a command tells of dead letters by their number and with the command that names them.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = [0, 1, 2].map((number) => `p${number}@acme.example`);

let place: Place;
beforeAll(async () => {
  place = await openPlace({
    target: { adopt: 'report' },
    // The command itself syncs.
    roles: ['api'],
    before: (platform) =>
      platform.control('POST', '/fixtures', { users: NAMES.map((userName) => ({ userName })) }),
  });
  for (const name of NAMES) await place.idp.createUser(name);
}, 60_000);
afterAll(() => place.stop());

test('reconcile ends with the number of dead letters, and standard error does not list the single dead letters', async () => {
  const { code, text, errors } = await place.commands.run('reconcile', '--yes');
  expect(code).toBe(1);
  expect(errors).not.toContain('needs a person');
  expect(text).toContain('blocked: 3 dead letters: see scim-bridge dead-letters list');
  const listed = (await place.commands.run('dead-letters', 'list')).text;
  for (const name of NAMES) expect(listed).toContain(name);
}, 30_000);
