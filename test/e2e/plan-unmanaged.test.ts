// Tests which accounts a plan lists as unmanaged beside dead letters without account: all but those that a dead letter tells of.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { adopt: 'report' } });
}, 60_000);
afterAll(() => place.stop());

/** Returns the lines of a plan; an unmanaged account is a line without a colon. */
const lines = async (...flags: string[]): Promise<string[]> =>
  (await place.commands.run('plan', '--all', ...flags)).text.split('\n').map((line) => line.trim());

test('an account whose adoption was refused is a conflict in plan, and not listed as unmanaged', async () => {
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

test('an unmanaged account has the userName of a dead letter → plan lists the conflict, and also the account as unmanaged', async () => {
  const faults = (rules: object[]) => place.platform.control('PATCH', '/faults', { rules });
  await faults([
    { method: 'POST', path: 'scim/v2/Users', times: 9999, status5xx: { share: 1, status: 403 } },
  ]);
  const dan = await place.idp.createUser('dan@acme.example');
  await place.idle();
  await faults([]);
  const { platformUrl, fixtures } = place.sandbox.ready;
  for (const userName of ['dan@acme.example', 'new-dan@acme.example'])
    await send(platformUrl, 'POST', '/api/scim/v2/Users', {
      headers: {
        authorization: `Bearer ${fixtures.apiKeys.admin}`,
        'content-type': 'application/scim+json',
      },
      body: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName, active: true },
    });
  const shown = await lines();
  expect(shown.join(' ')).toContain('User dan@acme.example: conflict');
  expect(shown).toContain('User dan@acme.example');
  const file = join(place.commands.folder, 'plan.json');
  await place.commands.run('plan', '--out', file);
  expect(readFileSync(file, 'utf8')).toContain('the next sync of that resource may take it over');

  // The dead letter is now about the account with the new name.
  await place.idp.patch(`/Users/${dan}`, { op: 'replace', path: 'userName', value: 'new-dan@acme.example' });
  await place.idle();
  const renamed = await lines();
  expect(renamed).not.toContain('User new-dan@acme.example');
  expect(renamed).toContain('User dan@acme.example');
}, 30_000);
