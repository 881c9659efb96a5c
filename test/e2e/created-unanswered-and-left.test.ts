// Tests people and groups who leave while the answer to the create of their account or group is lost, and what operators order then.
import '../support/load-modules.ts';
import { systemClock } from '../../src/support/sources.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
/** Longer than a look-up may lag behind a create whose answer was lost. */
const LATER_MS = 125_000;

let place: Place;
afterEach(() => place.stop());

const { told, succeed } = commandsAt(() => place);
const activeOf = async (name: string) => (await place.platform.user(name))?.active;
const laterClock = { ...systemClock, now: () => systemClock.now() + LATER_MS };
const startLater = async (): Promise<void> => {
  await place.start('worker', undefined, laterClock);
  await place.idle();
};

/** Starts a worker, loses the answer of the next create at the platform, and stops the worker before it looks again. */
async function loseAnswer(path: 'Users' | 'Groups', order: () => Promise<unknown>): Promise<void> {
  const { platform } = place;
  const rules = [
    { method: 'POST', path: `/${path}$`, dropAfter: true, times: 1 },
    { method: 'POST', path: `/${path}$`, status5xx: true },
  ];
  await platform.control('PATCH', '/faults', { rules });
  await platform.forgetRequests();
  await order();
  await eventually('the create was sent', async () => {
    const requests = await platform.requests();
    return requests.some(({ method, path: asked }) => method === 'POST' && asked.endsWith(`/${path}`));
  });
  await place.stopApps();
  await place.start('api');
  await platform.control('PATCH', '/faults', { rules: [] });
}

/** A person whose account somebody changed after a create whose answer was lost, so that it is not known whose it is. */
async function openUnanswered(target: object = {}): Promise<string> {
  place = await openPlace({
    target: { adopt: 'report', users: { activation: 'immediate' }, ...target },
  });
  let ann = '';
  await loseAnswer('Users', async () => {
    ann = await place.idp.createUser(ANN, { externalId: undefined, displayName: 'Ann Able' });
  });
  const { scimId = '' } = (await place.platform.user(ANN)) ?? {};
  await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'displayName', value: 'Ann A.' });
  return ann;
}

/** A group that the source deleted after a create whose answer was lost, with a member whom somebody added at the platform. */
async function deletedUnanswered(
  target: object = {},
  member: object = {},
): Promise<Record<'bob' | 'group', string>> {
  place = await openPlace({ target: { adopt: 'report', ...target } });
  const bob = await place.idp.createUser(BOB, member);
  await place.idle();
  let group = '';
  await loseAnswer('Groups', async () => {
    group = await place.idp.createGroup('crew', [bob]);
  });
  const { scimId = '' } = (await place.platform.group('crew')) ?? {};
  const value = [{ value: (await place.platform.user(BOB))?.scimId }];
  await byHand(place, 'PATCH', `/Groups/${scimId}`, { op: 'add', path: 'members', value });
  await place.idp.send('DELETE', `/Groups/${group}`);
  return { bob, group };
}

test('links forget --leave-account after an unanswered create leaves the account, and no later run closes it', async () => {
  const ann = await openUnanswered();
  await place.idp.send('DELETE', `/Users/${ann}`);
  await startLater();
  expect(await told('dead-letters', 'list')).toContain(
    `links forget User:${ann} --target main --leave-account`,
  );
  await succeed('links', 'forget', `User:${ann}`, '--target', 'main', '--leave-account');
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(ann);
  await succeed('reconcile', '--yes');
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(ann);
  expect(await told('exceptions')).not.toContain(ann);
  expect(await activeOf(ANN)).toBe(true);
}, 60_000);

test('links forget --leave-account of a person whose earlier link was dropped and whose new create got no answer leaves the new account', async () => {
  place = await openPlace({ target: { users: { activation: 'immediate' } } });
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await succeed('hold');
  await succeed('links', 'forget', ANN);
  await byHand(place, 'DELETE', `/Users/${(await place.platform.user(ANN))?.scimId ?? ''}`);
  await loseAnswer('Users', () => succeed('release'));
  await succeed('hold');
  await place.idp.send('DELETE', `/Users/${ann}`);
  expect((await place.commands.run('links', 'forget', `User:${ann}`)).code).toBe(1);
  await succeed('links', 'forget', `User:${ann}`, '--leave-account');
  await succeed('release');
  await startLater();
  expect(await told('dead-letters', 'list')).not.toContain(ann);
  await succeed('reconcile', '--yes');
  await place.idle();
  expect(await activeOf(ANN)).toBe(true);
}, 60_000);

for (const policy of ['create-only', 'upsert-only'])
  test(`a person leaves after an unanswered create, and the policy is ${policy} now → no dead letter asks for the account to be closed`, async () => {
    const ann = await openUnanswered();
    await place.change(({ targets }) => {
      Object.assign(targets.main, { policy });
    });
    await place.stopApps();
    await place.start('api');
    await place.idp.send('DELETE', `/Users/${ann}`);
    await startLater();
    expect(await told('dead-letters', 'list')).not.toContain(ann);
    expect(await activeOf(ANN)).toBe(true);
  }, 60_000);

test('a person leaves after an unanswered create under upsert-only, and the policy becomes sync → a dead letter asks about the account', async () => {
  const ann = await openUnanswered({ policy: 'upsert-only' });
  await place.idp.send('DELETE', `/Users/${ann}`);
  await startLater();
  expect(await told('dead-letters', 'list')).not.toContain(ann);
  await place.change(({ targets }) => {
    Object.assign(targets.main, { policy: 'sync' });
  });
  await place.commands.run('reconcile', '--yes');
  await eventually('a dead letter asks', async () => (await told('dead-letters', 'list')).includes(ann));
}, 60_000);

test('links forget --leave-account of a deleted group after an unanswered create leaves the group with its members', async () => {
  const { group } = await deletedUnanswered();
  await startLater();
  expect(await told('dead-letters', 'list')).toContain(`links forget Group:${group} --target main`);
  await succeed('links', 'forget', `Group:${group}`, '--target', 'main', '--leave-account');
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(group);
  expect((await place.platform.group('crew'))?.members).toHaveLength(1);
}, 60_000);

test('forget after an unanswered create of a person whom the policy leaves open is refused without --leave-account', async () => {
  const ann = await openUnanswered({ policy: 'upsert-only' });
  await place.idp.send('DELETE', `/Users/${ann}`);
  await startLater();
  const { code, text } = await place.commands.run('forget', ANN, '--yes');
  expect([code, text]).toEqual([1, expect.stringContaining('active')]);
}, 60_000);

test('a group is deleted at the source after an unanswered create, under upsert-only → its members can be activated later', async () => {
  const { bob } = await deletedUnanswered({ policy: 'upsert-only' }, { active: false });
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value: true });
  await place.start('worker', undefined, laterClock);
  await eventually('the member is active', async () => (await activeOf(BOB)) === true, 10_000);
}, 60_000);

test('links forget of a deleted group after an unanswered create is refused without --leave-account, also under upsert-only', async () => {
  const { group } = await deletedUnanswered({ policy: 'upsert-only' });
  await startLater();
  expect((await place.commands.run('links', 'forget', `Group:${group}`)).code).toBe(1);
  await place.change(({ targets }) => {
    Object.assign(targets.main, { policy: 'sync' });
  });
  await place.commands.run('reconcile', '--yes');
  await eventually('a dead letter asks', async () => (await told('dead-letters', 'list')).includes(group));
}, 60_000);

test('after an unanswered create a person goes out of scope under upsert-only, and the policy becomes sync → a dead letter asks about the account until it is closed', async () => {
  const ann = await openUnanswered({
    policy: 'upsert-only',
    users: { activation: 'immediate', scope: 'title ne "guest"' },
  });
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value: 'guest' });
  await startLater();
  expect(await told('dead-letters', 'list')).not.toContain(ann);
  await place.change(({ targets }) => {
    Object.assign(targets.main, { policy: 'sync' });
  });
  await place.commands.run('reconcile', '--yes');
  await eventually('a dead letter asks', async () => (await told('dead-letters', 'list')).includes(ann));
  const { scimId = '' } = (await place.platform.user(ANN)) ?? {};
  await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'active', value: false });
  await succeed('dead-letters', 'retry', `User:${ann}`);
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(ann);
  // No run marks the person again.
  await succeed('reconcile', '--yes');
}, 60_000);
