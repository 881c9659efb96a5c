// Tests the plan of a group that gets the name of an adopted group, which stays at the platform after its deletion at the source.
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
let hand = '';
let fresh = '';
beforeAll(async () => {
  place = await openPlace({});
  const { platformUrl, fixtures } = place.sandbox.ready;
  await fetch(`${platformUrl}/api/scim/v2/Groups`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'Hand',
    }),
  });
  const ann = await place.idp.createUser('ann@acme.example');
  hand = await place.idp.createGroup('Hand', [ann]);
  fresh = await place.idp.createGroup('Fresh', [ann]);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const outputOf = async (...words: string[]): Promise<string> => (await place.commands.run(...words)).text;

test('a group is renamed to the name of a deleted, adopted group, which stays at the platform → plan, dry run and explain name the conflict before and after the sync that is refused', async () => {
  await outputOf('hold');
  await place.idp.send('DELETE', `/Groups/${hand}`);
  await place.idp.patch(`/Groups/${fresh}`, { op: 'replace', path: 'displayName', value: 'Hand' });
  const stays = `a group that was deleted at the source, Group:${hand}, stays at the platform with the name Hand: rename or delete it there`;
  const plan = await outputOf('plan');
  expect(plan).toContain(`Group Hand: conflict, Conflict: ${stays}`);
  expect(plan).not.toContain('to update');
  const dryRun = await outputOf('sync', `Group:${fresh}`, '--dry-run');
  expect(dryRun).toContain('nothing would be written');
  expect(dryRun).toContain(stays);
  const explained = await outputOf('explain', `Group:${fresh}`, '--all');
  expect(explained).toContain(stays);
  expect(explained).not.toContain('as desired');
  await outputOf('release');
  await eventually('the rename is refused', async () =>
    (await outputOf('dead-letters', 'list')).includes(`Group:${fresh}`),
  );
  await place.idle();
  expect(await outputOf('plan')).toContain(
    'Conflict: a group that the bridge does not manage has the name Hand at the platform: rename or delete it there',
  );
}, 60_000);
