// Tests that a change of settings that is undone ends the held changes, rejections and lost access that it had caused.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const SCOPE = 'title ne "guest"';

let place: Place;
let ann: string;

async function open(most: number, target: object = {}, rest: object = {}): Promise<void> {
  const guard = { deactivate: { count: most, percent: 100 } };
  place = await openPlace({ target: { guard, ...target }, rest });
  ann = await place.idp.createUser(ANN, { title: 'guest' });
  await place.idp.createUser(BOB);
  await place.idle();
}
afterEach(() => place.stop());

const outputOf = async (...args: string[]): Promise<string> => (await place.commands.run(...args)).text;
const withUsers = (users: object): Promise<void> => withTarget({ users });
/** Changes the settings, and waits for the reconcile that the restart begins. */
async function withTarget(settings: object): Promise<void> {
  const lastRun = async () =>
    (await place.commands.run('status', '--json')).json[0].reconcile.last?.startedAt;
  const before = await lastRun();
  await place.change(({ targets: { main } }) => {
    Object.assign(main, settings);
  });
  await eventually('reconciled', async () => (await lastRun()) !== before);
  await place.idle();
}

test('a new scope is removed again → a deactivation that was held because of it is no longer held', async () => {
  await open(0);
  await withUsers({ scope: SCOPE });
  expect(await outputOf('exceptions')).toContain(`${ANN} `);
  await withUsers({});
  expect(await outputOf('exceptions')).toBe('No exceptions.');
  expect(await outputOf('approvals', 'list')).toBe('The guard holds nothing.');
  expect(await outputOf('explain', ANN)).toContain(`${ANN} is at main as desired`);
});

test('a new scope is removed again → a deactivation that was rejected because of it is no exception', async () => {
  await open(0);
  await withUsers({ scope: SCOPE });
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', id, '--yes');
  await place.idle();
  expect(await outputOf('exceptions')).toContain('rejected');
  await withUsers({});
  expect(await outputOf('exceptions')).toBe('No exceptions.');
});

test('a new scope is removed again → an account that it had closed is active', async () => {
  await open(5);
  await withUsers({ scope: SCOPE });
  expect((await place.platform.user(ANN))?.active).toBe(false);
  await withUsers({});
  expect((await place.platform.user(ANN))?.active).toBe(true);
});

test('the protection of a leaver is removed → the account is deactivated', async () => {
  await open(5);
  await withUsers({ protected: [ANN] });
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(true);
  await withUsers({});
  expect((await place.platform.user(ANN))?.active).toBe(false);
});

test("a held deactivation is no longer wanted under onDrift: report → explain says so, and an operator's sync ends the hold", async () => {
  await open(0, {}, { reconcile: { schedule: null, onDrift: 'report' } });
  await withUsers({ scope: SCOPE });
  await place.commands.run('reconcile');
  await place.idle();
  const words = 'By the source and the present settings the account stays active';
  expect(await outputOf('explain', ANN, '--all')).not.toContain(words);
  await withUsers({});
  expect(await outputOf('explain', ANN, '--all')).toContain(words);
  await place.commands.run('sync', ANN);
  await place.idle();
  expect(await outputOf('exceptions')).toBe('No exceptions.');
  expect(await outputOf('explain', ANN, '--all')).not.toContain(words);
});

test('under the policy upsert-only explain of a deleted person says that the policy leaves the account as it is', async () => {
  await open(5, { policy: 'upsert-only' });
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(true);
  expect(await outputOf('explain', ANN, '--all')).toContain(
    'the account at main is left as it is by the policy',
  );
});

test.each(['a dead letter', 'a held change'])(
  'a new scope is removed again and the following reconcile ends with %s → a rejection because of the scope still ends',
  async (what) => {
    await open(0);
    await withUsers({ scope: SCOPE });
    const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
    await place.commands.run('approvals', 'reject', id, '--yes');
    await place.idle();
    if (what === 'a dead letter') {
      await place.platform.control('PATCH', '/faults', {
        rules: [{ method: 'POST', path: 'scim/v2/Users', times: 1000, status5xx: { share: 1, status: 403 } }],
      });
      await place.idp.createUser('cid@acme.example');
      await place.idle();
      await withUsers({});
    } else await withUsers({ scope: 'not (userName sw "bob")' });
    expect((await place.commands.run('exceptions', '--json')).json.map(({ reason }: any) => reason)).toEqual(
      what === 'a dead letter' ? [] : ['Held'],
    );
  },
  30_000,
);

test('the policy upsert-only left access to people and becomes sync again → their access is removed', async () => {
  await open(5, { policy: 'upsert-only' });
  await leave();
  expect(await atPlatform()).toEqual([true, true, 2, 1, 1]);
  expect(await outputOf('explain', 'cid@acme.example')).not.toContain('did not write');
  expect((await outputOf('plan')).replaceAll(/\s+/g, ' ')).toContain(
    'nothing to write, but the platform is not as desired: 6 differences that no run changes',
  );
  await place.commands.run('reconcile', '--yes');
  expect((await outputOf('status')).replaceAll(/\s+/g, ' ')).toContain(
    'converged, except 5 differences left alone by the policy upsert-only',
  );
  await withTarget({ policy: 'sync' });
  expect(await atPlatform()).toEqual([false, false, 1, undefined, 0]);
  expect(await outputOf('plan')).toContain('no changes. The platform is as desired.');
}, 30_000);

test('the policy upsert-only kept members and becomes sync again → the guard judges their removals', async () => {
  await open(0, { policy: 'upsert-only' });
  await leave();
  await withTarget({
    policy: 'sync',
    guard: Object.fromEntries(['deactivate', 'delete', 'removeMembers'].map((kind) => [kind, NONE])),
  });
  expect(await atPlatform()).toEqual([true, true, 2, 1, 1]);
  const [id = ''] = /default\.main\.\d+-\d+/.exec(await outputOf('approvals', 'list')) ?? [];
  await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
  expect(await atPlatform()).toEqual([false, false, 1, undefined, 0]);
}, 30_000);

const NONE = { count: 0, percent: 100 };
/** Whether Ann and Bob are active, and how many members north, south and east have; undefined: no such group. */
async function atPlatform(): Promise<unknown[]> {
  const size = async (name: string): Promise<number | undefined> =>
    (await place.platform.group(name))?.members.length;
  const active = [(await place.platform.user(ANN))?.active, (await place.platform.user(BOB))?.active];
  return [...active, await size('north'), await size('south'), await size('east')];
}

/**
 * Ann becomes inactive and Bob is deleted. Cid leaves the group north, and Dan stays in it. The source deletes the groups south,
 * which the bridge has created, and east, which the platform had before and the bridge adopted.
 */
async function leave(): Promise<void> {
  const bob = (await place.idp.send('GET', `/Users?filter=${encodeURIComponent(`userName eq "${BOB}"`)}`))
    .body.Resources[0].id;
  const cid = await place.idp.createUser('cid@acme.example');
  const dan = await place.idp.createUser('dan@acme.example');
  const north = await place.idp.createGroup('north', [cid, dan]);
  const south = await place.idp.createGroup('south', [dan]);
  const { platformUrl, fixtures } = place.sandbox.ready;
  await send(platformUrl, 'POST', '/api/scim/v2/Groups', {
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
    body: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'east' },
  });
  const east = await place.idp.createGroup('east', [dan]);
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idp.send('DELETE', `/Users/${bob}`);
  await place.idp.patch(`/Groups/${north}`, { op: 'remove', path: `members[value eq "${cid}"]` });
  for (const group of [south, east]) await place.idp.send('DELETE', `/Groups/${group}`);
  await place.idle();
}
