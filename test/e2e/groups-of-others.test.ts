// Tests what explain tells of the members of a group that another connection took over while theirs was out of the settings.
import { TOKEN } from '../support/build-bridge.ts';
import { byHand } from '../support/by-hand.ts';
import { untilIdle } from '../support/idle.ts';
import { createIdp } from '../support/idp.ts';
import { openPlace, type Place } from '../support/situation.ts';

const HR_TOKEN = `${TOKEN}-hr`;
const ANN = 'ann@acme.example';

const DEFAULT = { tokens: [{ name: 'primary', secret: TOKEN }], targets: ['main'] };
const HR = { tokens: [{ name: 'hr', secret: HR_TOKEN }], targets: ['main'] };

let place: Place;
let group = '';
beforeAll(async () => {
  place = await openPlace({ rest: { connections: { default: DEFAULT } } });
  const ann = await place.idp.createUser(ANN);
  group = await place.idp.createGroup('sales', [ann, await place.idp.createUser('bob@acme.example')]);
  await place.idle();
  await place.change((settings) => void Object.assign(settings, { connections: { hr: HR } }));
  const hr = createIdp(`http://127.0.0.1:${place.port}/connections/hr/scim/v2`, HR_TOKEN);
  await hr.createGroup('sales', [await hr.createUser('cho@acme.example')]);
  const { url, prefix } = place.settings.redis;
  await untilIdle({ url, prefix: `${prefix}:{hr}` });
  await place.change(
    (settings) => void Object.assign(settings, { connections: { hr: HR, default: DEFAULT } }),
  );
  await place.idle();
  const { scimId } = (await place.platform.group('sales')) ?? {};
  const path = `members[value eq "${(await place.platform.user(ANN))?.scimId}"]`;
  await byHand(place, 'PATCH', `/Groups/${scimId}`, { op: 'remove', path });
}, 60_000);
afterAll(() => place.stop());

test('the group of a person belongs to another connection → explain does not call the membership as desired, and says that a person has to act on the group', async () => {
  expect((await place.platform.group('sales'))?.members).not.toContain(ANN);
  const [found] = (await place.commands.run('explain', ANN, '--json')).json;
  expect(found).toMatchObject({
    verdict: 'needsPerson',
    memberships: [{ ref: `Group:${group}`, name: 'sales', state: 'toAdd', condition: 'TakenByConnection' }],
  });
  expect(found.reasons.join(' ')).toContain(
    'The group sales needs a person before this membership is written',
  );
  const { text } = await place.commands.run('explain', ANN);
  expect(text).not.toContain('= sales');
});
