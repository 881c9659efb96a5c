// Tests that the log of a person names the entries of a former record of the same name.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let former: string;
let present: string;
beforeAll(async () => {
  place = await openPlace({});
  await place.idp.createUser(BOB);
  former = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${former}`);
  await place.idle();
  present = await place.idp.createUser(ANN.toUpperCase());
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);
const named = () =>
  `other records with this name, such as a deleted one (User:${former}): scim-bridge log --resource User:${former} shows those of User:${former}`;

test.each([[ANN], [ANN.toUpperCase()]])(
  'a person is deleted and pushed again → log --resource %s names the ref of the former record, under which its entries are found',
  async (name) => {
    expect(await told('log', '--resource', name)).toContain(named());
    const { errors, lines } = await place.commands.run('log', '--resource', name, '--json');
    expect(errors.replaceAll(/\s+/g, ' ')).toContain(named());
    expect(lines.join('')).not.toContain(`"id":"${former}"`);
    const ofFormer = await told('log', '--resource', `User:${former}`);
    expect(ofFormer).toContain(`${ANN} create`);
    expect(ofFormer).not.toContain('other records');
  },
);

test('log --resource of an id, a ref or a person without a former record names no other record', async () => {
  for (const resource of [present, `User:${present}`, BOB])
    expect(await told('log', '--resource', resource)).not.toContain('other records');
});
