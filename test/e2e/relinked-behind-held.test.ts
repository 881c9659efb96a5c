// Tests what plan and explain announce for a person whose deactivation is held and whose account somebody deleted at the platform and
// made again by hand.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { send } from '../support/send.ts';

const EVE = 'eve@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  const { idp } = place;
  const eve = await idp.createUser(EVE);
  const bob = await idp.createUser('bob@acme.example');
  await idp.createGroup('crew', [eve, bob]);
  await place.idle();
  await idp.patch(`/Users/${eve}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await byHand(place, 'DELETE', `/Users/${(await place.platform.user(EVE))?.scimId}`);
  const { platformUrl, fixtures } = place.sandbox.ready;
  const made = await send(platformUrl, 'POST', '/api/scim/v2/Users', {
    headers: {
      authorization: `Bearer ${fixtures.apiKeys.admin}`,
      'content-type': 'application/scim+json',
    },
    body: {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: EVE,
      name: { givenName: 'Jo', familyName: 'Doe' },
      displayName: `Jo ${EVE}`,
      emails: [{ value: EVE, type: 'work', primary: true }],
      active: true,
    },
  });
  expect(made.status).toBe(201);
}, 60_000);
afterAll(() => place.stop());

/** Returns the memberships of the plan as `<action> <group> <effect>`, with their reasons. */
async function plannedMemberships(): Promise<string[][]> {
  const file = join(place.commands.folder, `${Math.random()}.json`);
  await place.commands.run('plan', '--out', file);
  const [plan] = JSON.parse(readFileSync(file, 'utf8')).plans;
  return plan.entries
    .filter(({ member }: any) => member)
    .map(({ action, name, effect, reason }: any) => [`${action} ${name} ${effect}`, reason]);
}

test('an account is linked again while its deactivation is held → plan and explain say that its membership waits, and reconcile writes none', async () => {
  const waiting = [['addMember crew report', expect.stringContaining('; waits for the held account')]];
  const before = await plannedMemberships();
  const [{ platform }] = (await place.commands.run('explain', EVE, '--json')).json;
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect((await place.platform.group('crew'))?.members).toEqual(['bob@acme.example']);
  expect(before).toEqual(waiting);
  expect(await plannedMemberships()).toEqual(waiting);
  expect(platform.differences.map(({ action }: any) => action)).toEqual(['relink', 'update']);
}, 60_000);
