// Tests a person who is renamed at the source and deleted before a sync, so that the closed account has a former userName.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let ann: string;
let bob: string;
beforeEach(async () => {
  place = await openPlace({});
  ann = await place.idp.createUser(ANN);
  bob = await place.idp.createUser(BOB);
  await place.idle();
  await place.stopApps();
  await place.start('api');
});
afterEach(() => place.stop());

const rename = (id: string, value: string) =>
  place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value });
const accountOf = async (externalId: string) =>
  (await place.platform.state()).users.find((user) => user.externalId === externalId);

test('a leaver is renamed and deleted at once, and another person gets the former userName → the closed account is renamed to free it, without a dead letter', async () => {
  await rename(ann, 'ann.new@acme.example');
  await place.idp.send('DELETE', `/Users/${ann}`);
  await rename(bob, ANN);
  await place.start('worker');
  await eventually('the name', async () => (await accountOf(`ext-${BOB}`))?.userName === ANN, 20_000);
  await place.idle();
  expect(await accountOf(`ext-${ANN}`)).toMatchObject({ active: false, userName: `${ann}.${ANN}` });
  expect((await place.commands.run('dead-letters', 'list', '--json')).json).toEqual([]);
  expect((await place.commands.run('plan')).code).toBe(0);
}, 60_000);

test('a leaver is renamed and deleted at once, and nobody needs the former userName → the closed account keeps it without a further write', async () => {
  await rename(ann, 'ann.new@acme.example');
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.platform.forgetRequests();
  await place.start('worker');
  await eventually('closed', async () => (await accountOf(`ext-${ANN}`))?.active === false);
  await place.idle();
  expect((await accountOf(`ext-${ANN}`))?.userName).toBe(ANN);
  const writes = (await place.platform.requests()).filter(({ method }) => method === 'PATCH');
  expect(writes).toHaveLength(1);
}, 60_000);

test('a leaver is renamed and deleted at once, and a new person gets the former userName → the new person takes the closed account over', async () => {
  await rename(ann, 'ann.new@acme.example');
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idp.createUser(ANN, { externalId: 'ext-second' });
  await place.start('worker');
  await eventually('taken over', async () => (await accountOf('ext-second'))?.active === true, 20_000);
  await place.idle();
  expect((await accountOf('ext-second'))?.userName).toBe(ANN);
}, 60_000);
