// Tests the former userName of a leaver that somebody is to get after the account was closed.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
afterEach(() => place.stop());
const rename = (id: string, value: string) =>
  place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value });
const NO_GUESTS = { users: { scope: 'title ne "guest"' } };
/** Returns how many changes of accounts the platform has refused with 409. */
const renames = async () =>
  (await place.platform.requests()).filter(({ method, status }) => method === 'PATCH' && status === 409)
    .length;
const accountOf = async (externalId: string) =>
  (await place.platform.state()).users.find((user) => user.externalId === externalId);

/** Creates Ann and Bob. The source renames Ann and deletes her before the next sync, so that her account has her former userName. */
async function renamedAndDeleted(): Promise<Record<'ann' | 'bob', string>> {
  const ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  await place.idle();
  await place.stopApps();
  await place.start('api');
  await rename(ann, 'ann.new@acme.example');
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.start('worker');
  return { ann, bob };
}

test('a person gets the former userName of a leaver, which the closed account still has → the closed account is renamed to free it', async () => {
  place = await openPlace({});
  const { bob } = await renamedAndDeleted();
  await eventually('closed', async () => (await accountOf(`ext-${ANN}`))?.active === false);
  await place.idle();
  await rename(bob, ANN);
  await place.idle();
  expect(await accountOf(`ext-${BOB}`)).toMatchObject({ active: true, userName: ANN });
  expect(await accountOf(`ext-${ANN}`)).toMatchObject({ active: false });
  expect((await place.commands.run('dead-letters', 'list', '--json')).json).toEqual([]);
}, 60_000);

test('a person out of scope is renamed after the account was closed, and another person gets the former userName → the closed account is renamed to free it', async () => {
  place = await openPlace({ target: NO_GUESTS });
  const ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value: 'guest' });
  await place.idle();
  await rename(ann, 'ann.new@acme.example');
  await place.idle();
  await rename(bob, ANN);
  await place.idle();
  expect(await accountOf(`ext-${BOB}`)).toMatchObject({ active: true, userName: ANN });
  expect(await accountOf(`ext-${ANN}`)).toMatchObject({ active: false });
}, 60_000);

test.each(['deleted at the source', 'out of scope'])(
  'a person needs the former userName of a leaver %s, and the mark of the rename is lost → plan and sync --dry-run list the rename, and reconcile writes it',
  async (state) => {
    place = await openPlace({ target: NO_GUESTS });
    const ann = await place.idp.createUser(ANN);
    const bob = await place.idp.createUser(BOB);
    await place.idle();
    if (state === 'out of scope')
      await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value: 'guest' });
    await place.idle();
    await place.stopApps();
    await place.start('api');
    await rename(ann, 'ann.new@acme.example');
    if (state === 'deleted at the source') await place.idp.send('DELETE', `/Users/${ann}`);
    await place.start('worker');
    await eventually('closed', async () => (await accountOf(`ext-${ANN}`))?.active === false);
    await place.idle();
    await place.commands.run('hold', '--by', 'olga');
    await rename(bob, ANN);
    await place.redis.del(await place.key(':marks:main'), await place.key(':dirty:main'));
    const plan = await place.commands.run('plan');
    expect(plan.text).toContain('1 to update');
    expect(plan.text).not.toContain('already taken');
    const dryRun = await place.commands.run('sync', `User:${bob}`, '--dry-run');
    expect(dryRun.text.replaceAll(/\s+/g, ' ')).toContain(`would write: update ${ANN}`);
    await place.commands.run('release');
    expect((await place.commands.run('reconcile', '--yes')).code).toBe(0);
    await place.idle();
    expect(await accountOf(`ext-${BOB}`)).toMatchObject({ active: true, userName: ANN });
    expect(await accountOf(`ext-${ANN}`)).toMatchObject({ active: false, userName: `${ann}.${ANN}` });
    expect((await place.commands.run('plan')).text).toContain('The platform is as desired');
  },
  60_000,
);

test('a person needs the former userName of a leaver whose account is not closed yet → plan and sync --dry-run list the rename', async () => {
  place = await openPlace({});
  const ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  await place.idle();
  await place.commands.run('hold', '--by', 'olga');
  await rename(ann, 'ann.new@acme.example');
  await place.idp.send('DELETE', `/Users/${ann}`);
  await rename(bob, ANN);
  const plan = await place.commands.run('plan');
  expect([plan.code, plan.text]).toEqual([2, expect.stringContaining('1 to deactivate, 1 to update')]);
  const dryRun = await place.commands.run('sync', `User:${bob}`, '--dry-run');
  expect(dryRun.text.replaceAll(/\s+/g, ' ')).toContain(`would write: update ${ANN}`);
  await place.commands.run('release');
  await place.idle();
  expect(await accountOf(`ext-${BOB}`)).toMatchObject({ active: true, userName: ANN });
}, 60_000);

test('a person gets the last userName of a leaver → the closed account keeps it, and the person becomes a dead letter', async () => {
  place = await openPlace({});
  const ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  await rename(bob, ANN);
  await place.idle();
  expect((await accountOf(`ext-${ANN}`))?.userName).toBe(ANN);
  expect((await place.commands.run('dead-letters', 'list')).text).toContain('person who left');
}, 60_000);

test('the deactivation of a renamed leaver is held, and another person gets the former userName → the person waits, after at most three rename calls', async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  const { bob } = await renamedAndDeleted();
  await eventually(
    'held',
    async () => (await place.commands.run('approvals', 'list', '--json')).json.length > 0,
  );
  await place.platform.forgetRequests();
  await rename(bob, ANN);
  await eventually('refused', async () => (await renames()) > 0);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect(await renames()).toBeLessThan(4);
}, 60_000);
