// Tests that a plan does not count an account as unmanaged that a pushed person would take over.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { adopt: 'report' } });
}, 60_000);
afterAll(() => place.stop());

/** Returns the lines of a plan; an unmanaged account is a line without a colon. */
const lines = async (...flags: string[]): Promise<string[]> =>
  (await place.commands.run('plan', '--all', ...flags)).text.split('\n').map((line) => line.trim());

test('an account that is not adopted is not listed as unmanaged', async () => {
  expect(await lines()).toContain('User viewer@acme.example');
  await place.idp.createUser('Viewer@ACME.example');
  await place.idle();
  await place.commands.run('reconcile');
  await place.idle();
  for (const flags of [[], ['--full']]) {
    const shown = await lines(...flags);
    expect(shown).toContain('User auditor@acme.example');
    expect(shown).not.toContain('User viewer@acme.example');
    expect(shown.join(' ')).toContain('User Viewer@ACME.example: not adopted');
  }
}, 30_000);
