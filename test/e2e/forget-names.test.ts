// Tests that the command forget removes the externalId of a person from notes of a connection that never linked the person.
import { createIdp, type Idp } from '../support/idp.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ZOE = 'zoe@acme.example';
const ZOE_ID = 'zoe-ext-77';
const SECOND_TOKEN = 'b-token-for-tests';

let place: Place;
let second: Idp;

beforeEach(async () => {
  const connections = {
    default: { tokens: [{ name: 'primary', secret: TOKEN }] },
    second: { tokens: [{ name: 'primary', secret: SECOND_TOKEN }] },
  };
  place = await openPlace({ rest: { connections } });
  second = createIdp(`http://127.0.0.1:${place.port}/connections/second/scim/v2`, SECOND_TOKEN);
}, 60_000);
afterEach(() => place.stop());

/** Pushes a person to the second connection, where the person is a dead letter and then deleted, and names the person in a note. */
async function failInSecond(userName: string, externalId: string): Promise<void> {
  const id = await second.createUser(userName, { externalId });
  await place.idle();
  await place.commands.run('hold', '--target', 'main', '--note', `pause because of ${ZOE_ID}`);
  await place.commands.run('release', '--note', `${ZOE_ID} solved`);
  await second.send('DELETE', `/Users/${id}`);
  await place.idle();
}

const actsOf = async (connection: string) =>
  (await place.commands.run('acts', '--connection', connection, '--json')).text;

test('the note of forget contains an externalId that a dead letter names → no audit entry of this connection contains the externalId', async () => {
  await place.idp.createUser(ZOE, { externalId: ZOE_ID });
  await place.idle();
  await failInSecond(ZOE, ZOE_ID);
  const order = ['forget', ZOE, '--connection', 'second', '--yes', '--note', `GDPR ${ZOE_ID}`, '--by', 'dpo'];
  expect((await place.commands.run(...order)).code).toBe(0);
  expect(await actsOf('second')).not.toContain(ZOE_ID);
});

test('the note of forget in all connections contains an externalId known to one → no audit entry of any connection contains it', async () => {
  const id = await place.idp.createUser(ZOE, { externalId: ZOE_ID });
  await place.idle();
  await failInSecond(ZOE, 'another-id-1');
  await place.idp.send('DELETE', `/Users/${id}`);
  await place.idle();
  const order = ['forget', ZOE, '--yes', '--note', `request ${ZOE_ID}`, '--by', 'dpo'];
  expect((await place.commands.run(...order)).code).toBe(0);
  expect(await actsOf('default')).not.toContain(ZOE_ID);
  expect(await actsOf('second')).not.toContain(ZOE_ID);
});
