// Tests links forget of a protected person: neither the order nor the deletion at the source changes the account.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
afterEach(() => place.stop());

const protect = (...names: string[]): Promise<void> =>
  place.change(({ targets: { main } }) => {
    main.users = { ...(main.users as object), protected: names };
  });

/** Creates a place with the protected person ANN in the group crew. @returns the id of the person */
async function openWithProtected(): Promise<string> {
  place = await openPlace({});
  const ann = await place.idp.createUser(ANN);
  await place.idp.createGroup('crew', [ann]);
  await place.idle();
  await protect(ANN);
  return ann;
}

test('links forget of a protected person leaves account and groups, even when the source then deletes the person', async () => {
  const ann = await openWithProtected();
  const order = async (...words: string[]): Promise<void> => {
    const { code, text } = await place.commands.run('links', 'forget', ...words);
    expect([code, text]).toEqual([0, expect.stringContaining('Forgotten')]);
    await place.idle();
  };
  await order(ANN);
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  expect((await place.commands.run('exceptions')).text).toContain('protected');
  await order(`User:${ann}`, '--leave-account');
  expect((await place.commands.run('reconcile', '--yes')).code).toBe(0);
  await place.idle();
  expect(await place.platform.user(ANN)).toMatchObject({ active: true, groups: ['crew'] });
  expect((await place.commands.run('exceptions')).text).toContain('No exceptions');
  expect((await place.commands.run('dead-letters', 'list')).text).toContain('No dead letters');
}, 60_000);

test('links forget of a protected person, whom the source then deletes → a reconcile after the end of the protection closes the account', async () => {
  const ann = await openWithProtected();
  expect((await place.commands.run('links', 'forget', ANN)).code).toBe(0);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  await protect();
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect(await place.platform.user(ANN)).toMatchObject({ active: false, groups: [] });
}, 60_000);
