// Tests that several reasons why a person or group is not as desired are told together: a decision about the account, the refused name of
// a group, refused values, and a write that the platform ignores.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let ann: string;
let bob: string;
let crew: string;
afterEach(() => place.stop());

async function open(target: object = {}): Promise<void> {
  const guard = { deactivate: NONE, removeMembers: NONE };
  place = await openPlace({ target: { guard, ...target } });
  ann = await place.idp.createUser(ANN, { title: '3' });
  bob = await place.idp.createUser(BOB, { title: '3' });
  crew = await place.idp.createGroup('crew', [ann, bob]);
  await place.idle();
}
const { outcome } = commandsAt(() => place);
const approvals = async (): Promise<{ id: string }[]> =>
  (await place.commands.run('approvals', 'list', '--json')).json;
/** Rejects what the guard holds. @returns the id of the decision */
async function reject(): Promise<string> {
  const [{ id } = { id: '' }] = await approvals();
  await outcome('approvals', 'reject', id, '--yes');
  await place.idle();
  return id;
}
const replace = (path: string, name: string, value: unknown) =>
  place.idp.patch(path, { op: 'replace', path: name, value });
/** Makes the platform refuse each change of an account or a group. */
const refuse = (path: 'Users' | 'Groups') =>
  place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'PATCH', path: `scim/v2/${path}`, times: 9999, status5xx: { share: 1, status: 400 } }],
  });
const deadLetters = (): Promise<{ message: string }[]> =>
  eventually('there is a dead letter', async () => {
    const { json } = await place.commands.run('dead-letters', 'list', '--json');
    return json.length > 0 ? json : undefined;
  });

test.each(['rejected', 'held'])(
  'a deactivation is %s and the platform refused the new name of a group of the person → sync and explain of the person name both reasons and their commands',
  async (state) => {
    await open();
    await replace(`/Users/${ann}`, 'active', false);
    await place.idle();
    const id = state === 'rejected' ? await reject() : ((await approvals())[0]?.id ?? '');
    await refuse('Groups');
    await replace(`/Groups/${crew}`, 'displayName', 'team');
    await deadLetters();
    const parts =
      state === 'rejected'
        ? ['a person rejected the deactivation', `scim-bridge approvals withdraw ${id} --ref User:${ann}`]
        : ['the deactivation', `scim-bridge approvals show ${id}`];
    const [, synced] = await outcome('sync', ANN);
    const [, explained] = await outcome('explain', ANN, '--all');
    for (const part of [...parts, 'team', `scim-bridge explain Group:${crew}`])
      expect(synced).toContain(part);
    for (const part of [...parts, 'crew']) expect(explained).toContain(part);
  },
  60_000,
);

test('an attribute of a person cannot be mapped and the platform refuses the new name of the person → the dead letter names both faults', async () => {
  await open({ attributes: { level: { type: 'number', from: 'title' } } });
  await refuse('Users');
  await place.idp.patch(
    `/Users/${ann}`,
    { op: 'replace', path: 'title', value: 'high' },
    { op: 'replace', path: 'displayName', value: 'Ann' },
  );
  const [{ message } = { message: '' }] = await deadLetters();
  expect(message).toMatch(/^(?!level).+; level is string and cannot become a number$/);
}, 60_000);

test('a group has a rejected removal and an addition that the platform ignores → explain of the group names both causes', async () => {
  await open();
  await place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  await place.idle();
  await reject();
  const cyd = await place.idp.createUser('cyd@acme.example');
  await place.idle();
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'PATCH', path: 'scim/v2/Groups', times: 9999, ignoreMembers: { share: 1 } }],
  });
  await place.idp.patch(`/Groups/${crew}`, { op: 'add', path: 'members', value: [{ value: cyd }] });
  await eventually('the addition is ignored', async () => {
    const [, text] = await outcome('explain', `Group:${crew}`);
    return text.includes('left 1 of 1 member out; a person rejected the removal of members');
  });
}, 60_000);

test('a group has a held removal and a member with a held deactivation → the condition of the group names both', async () => {
  await open();
  await place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  await place.idp.send('DELETE', `/Users/${bob}`);
  await eventually('both are told', async () =>
    (await outcome('explain', `Group:${crew}`))[1].includes(
      'the removal of members and the deactivation of 1 member, who leaves the group with the account',
    ),
  );
}, 60_000);
