// Tests a person who gets the userName that the account of somebody else still has: of a person whose own rename waits for a held
// removal, of a protected person, and of a leaver whose closing the platform refused or who was pushed anew.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const IVY = 'ivy@acme.example';
const JAN = 'jan@acme.example';
const NEW_NAME = 'ivy.new@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let ivy: string;
let jan: string;
afterEach(() => place.stop());

/** Opens the place with ivy, who is in the group Ops, and jan. */
async function open(target: object): Promise<void> {
  place = await openPlace({ target });
  ivy = await place.idp.createUser(IVY, { nickName: 'red' });
  jan = await place.idp.createUser(JAN, { nickName: 'red' });
  await place.idp.createGroup('Ops', [ivy]);
  await place.idle();
}
const { outcome } = commandsAt(() => place);
const rename = (id: string, userName: string) =>
  place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value: userName });
const explains = (id: string, words: string): Promise<boolean> =>
  eventually(`explain says: ${words}`, async () =>
    (await outcome('explain', `User:${id}`))[1].includes(words),
  );
const approveAll = async (): Promise<void> => {
  for (const { id } of (await place.commands.run('approvals', 'list', '--json')).json)
    await place.commands.run('approvals', 'approve', id, '--yes');
};
const hasName = (name: string, of: string) =>
  eventually(
    `${name} is the name of ${of}`,
    async () => (await place.platform.user(name))?.externalId === `ext-${of}`,
  );

test('a new person gets the userName of a person whose rename waits for a held removal → explain names that person, and after the approval each of the two has the desired userName', async () => {
  const attributes = { team: { type: 'string', from: 'nickName' } };
  await open({ guard: { removeMembers: NONE }, attributes });
  const [{ id: ops }] = (await place.idp.send('GET', '/Groups')).body.Resources;
  await place.idp.patch(`/Groups/${ops}`, { op: 'remove', path: 'members' });
  await place.idle();
  await place.idp.patch(`/Users/${ivy}`, { op: 'replace', path: 'nickName', value: 'blue' });
  await rename(ivy, NEW_NAME);
  const hire = await place.idp.createUser(IVY, { externalId: `ext-hire` });
  const waits = `it waits until User:${ivy} gives up a name or account, and the guard holds a change of User:${ivy}`;
  await explains(hire, waits);
  const [code, plan] = await outcome('plan');
  expect([code, plan]).toEqual([
    0,
    expect.stringContaining('waits for a held change of the user or group that has'),
  ]);
  expect((await outcome('explain', `User:${hire}`))[1] + plan).not.toMatch(/a leaver|who or what/);
  const [{ id: approval = '' }] = (await place.commands.run('approvals', 'list', '--json')).json;
  const [, held] = await outcome('approvals', 'show', approval);
  expect(held).toContain(NEW_NAME);
  await approveAll();
  await hasName(NEW_NAME, IVY);
  await hasName(IVY, 'hire');
}, 60_000);

test('a person gets the userName of a protected account → plan, sync --dry-run and explain say that the account is protected, until somebody renames it and retries', async () => {
  await open({});
  await place.change(({ targets }) => (targets.main.users = { protected: [NEW_NAME] }));
  await rename(ivy, NEW_NAME);
  await place.idle();
  await outcome('hold', '--by', 'olga');
  await rename(jan, IVY);
  const taken = `userName is already taken by the account of a protected person, User:${ivy}, whom the bridge does not change: rename the account at the platform`;
  for (const command of [['plan'], ['sync', `User:${jan}`, '--dry-run']])
    expect(await outcome(...command)).toEqual([0, expect.stringContaining(taken)]);
  await outcome('release');
  await explains(jan, taken);
  const [, explained] = await outcome('explain', `User:${jan}`);
  expect(explained).not.toContain('who left');
  await byHand(place, 'PATCH', `/Users/${(await place.platform.user(IVY))?.scimId}`, {
    op: 'replace',
    path: 'userName',
    value: NEW_NAME,
  });
  expect((await outcome('dead-letters', 'retry', `User:${jan}`))[0]).toBe(0);
  await hasName(IVY, JAN);
}, 60_000);

/** Makes the platform refuse each change of an account. */
const refuseChanges = (isRefused: boolean) =>
  place.platform.control('PATCH', '/faults', {
    rules: isRefused
      ? [{ method: 'PATCH', path: 'scim/v2/Users', times: 9999, status5xx: { share: 1, status: 400 } }]
      : [],
  });
const isDeadLetter = () =>
  eventually(
    'there is a dead letter',
    async () => (await place.commands.run('dead-letters', 'list', '--json')).json.length > 0,
  );

test('a person gets the userName of a person whose rename the platform refused → explain names that person, and a retry of both dead letters renames both', async () => {
  await open({});
  await refuseChanges(true);
  await rename(ivy, NEW_NAME);
  await isDeadLetter();
  await refuseChanges(false);
  await rename(jan, IVY);
  await explains(
    jan,
    `userName is already taken by the account of User:${ivy}, whose own change was refused: scim-bridge explain User:${ivy}`,
  );
  for (const id of [ivy, jan]) await outcome('dead-letters', 'retry', `User:${id}`);
  await hasName(NEW_NAME, IVY);
  await hasName(IVY, JAN);
}, 60_000);

test.each(['deleted', 'out of scope'] as const)(
  'a person gets the userName of a leaver who is %s and whose deactivation was refused → explain, plan and sync name the leaver and how to free the name',
  async (state) => {
    await open({ users: { scope: 'title ne "guest"' } });
    await refuseChanges(true);
    if (state === 'deleted') await place.idp.send('DELETE', `/Users/${ivy}`);
    else {
      await place.idp.patch(`/Users/${ivy}`, { op: 'replace', path: 'title', value: 'guest' });
      await rename(ivy, NEW_NAME);
    }
    await isDeadLetter();
    await refuseChanges(false);
    await rename(jan, IVY);
    const taken = `userName is already taken by the account of a person who left, User:${ivy}, and closing that account alone does not free the name: rename the account at the platform, or delete it there once it is closed`;
    await explains(jan, taken);
    expect(await outcome('plan')).toEqual([expect.any(Number), expect.stringContaining(taken)]);
    expect(await outcome('sync', `User:${jan}`, '--dry-run')).toEqual([0, expect.stringContaining(taken)]);
    expect(await outcome('sync', `User:${jan}`)).toEqual([1, expect.stringContaining(taken)]);
  },
  60_000,
);

test('a leaver with a held deactivation is pushed anew under another userName, and a person gets the former one → both wait for the decision, and the approval frees the name', async () => {
  await open({ guard: { deactivate: NONE, removeMembers: NONE } });
  await place.idp.send('DELETE', `/Users/${ivy}`);
  await eventually(
    'the deactivation is held',
    async () => (await place.commands.run('approvals', 'list', '--json')).json.length > 0,
  );
  const anew = await place.idp.createUser(NEW_NAME, {
    externalId: `ext-${IVY}`,
    displayName: `Jo ${IVY}`,
  });
  const waits = `it waits until User:${ivy} gives up a name or account, and the guard holds a change of User:${ivy}`;
  await explains(anew, waits);
  await rename(jan, IVY);
  await explains(jan, waits);
  expect(await outcome('sync', `User:${jan}`)).toEqual([2, expect.stringContaining(waits)]);
  const [code, plan] = await outcome('plan');
  expect([code, plan]).toEqual([0, expect.not.stringContaining('alone does not free the name')]);
  expect((await outcome('sync', `User:${jan}`, '--dry-run'))[1]).not.toContain(
    'alone does not free the name',
  );
  await approveAll();
  await eventually('all decided', async () => {
    await approveAll();
    return (await place.platform.user(NEW_NAME))?.externalId === `ext-${IVY}`;
  });
  await hasName(IVY, JAN);
}, 120_000);
