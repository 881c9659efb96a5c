// Tests what reconcile does about pushes that arrive while it syncs the resources of its plan without a worker.
import '../support/load-modules.ts';
import { systemClock } from '../../src/support/sources.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const mail = (name: string): string => `${name}@acme.example`;
const NEW_USERS = 250;

let place: Place;
let dan: string;
beforeEach(async () => {
  place = await openPlace({ roles: ['all'] });
  dan = await place.idp.createUser(mail('dan'));
  await place.idle();
  // From here on no worker runs.
  await place.stopApps();
  await place.start('api');
}, 60_000);
afterEach(() => place.stop());

const change = (path: string, value: unknown) =>
  place.idp.patch(`/Users/${dan}`, { op: 'replace', path, value });
const account = () => place.platform.user(mail('dan'));

test('a user is deactivated during a reconcile that creates many users → the account is closed before all of these are created', async () => {
  await change('displayName', 'Dan New');
  for (let index = 0; index < NEW_USERS; index++) await place.idp.createUser(mail(`new${index}`));
  await place.platform.control('PATCH', '/faults', { latencyMs: [300, 300] });
  const end = place.commands.run('reconcile', '--yes');
  await eventually('Dan is renamed', async () => (await account())?.displayName === 'Dan New', 30_000);
  await change('active', false);
  await eventually('Dan is closed', async () => (await account())?.active === false, 60_000);
  expect((await place.platform.state()).users.length).toBeLessThan(200);
  await expect(end).resolves.toMatchObject({ code: 0 });
}, 120_000);

test('people are pushed again and again during a reconcile → the reconcile still ends', async () => {
  const ids: string[] = [];
  for (let index = 0; index < 20; index++) ids.push(await place.idp.createUser(mail(`person${index}`)));
  await place.platform.control('PATCH', '/faults', { latencyMs: [100, 100] });
  const isEnded = { yet: false };
  const end = place.commands
    .run('reconcile', '--yes', '--deadline', '30s')
    .finally(() => (isEnded.yet = true));
  for (let count = 1; !isEnded.yet; count++) {
    const value = `Name ${count}`;
    await place.idp.patch(`/Users/${ids[count % ids.length]}`, { op: 'replace', path: 'displayName', value });
    await systemClock.sleep(20);
  }
  await expect(end).resolves.toMatchObject({ code: 0 });
}, 60_000);
