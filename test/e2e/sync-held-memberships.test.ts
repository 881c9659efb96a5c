// Tests sync, its dry run and explain of people whose removal from a group waits for a decision of the guard.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const IDA = 'ida@acme.example';

let place: Place;
let approval: string;
let annId: string;
let north: string;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { removeMembers: { count: 0, percent: 0 } } } });
  const { idp } = place;
  const [ann, bob, ida] = [
    (annId = await idp.createUser(ANN)),
    await idp.createUser('bob@acme.example'),
    await idp.createUser(IDA),
  ];
  north = await idp.createGroup('north', [ann, bob]);
  const south = await idp.createGroup('south', [bob, ida]);
  await place.idle();
  await idp.patch(`/Users/${ida}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await idp.patch(`/Groups/${north}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  // The removal of Bob is held with the deletion; the account of Ida is closed, so her removal is not listed.
  await idp.send('DELETE', `/Groups/${south}`);
  await place.idle();
  approval = (await place.commands.run('approvals', 'list', '--json')).json[0].id;
}, 60_000);
afterAll(() => place.stop());

const { outcome } = commandsAt(() => place);

test.each([
  [ANN, 'north'],
  [IDA, 'south'],
])('sync of %s exits 2 and names the approval that holds the removal from %s', async (person, group) => {
  expect(await outcome('sync', person)).toEqual([
    2,
    expect.stringContaining(
      `held: the guard holds the removal from 1 group: ${group}: scim-bridge approvals show ${approval}`,
    ),
  ]);
  expect((await place.platform.user(person))?.groups).toContain(group);
});

test('an inactive person is in a group with a held deletion → sync --dry-run lists the removal as held and not written, and explain asks for a decision', async () => {
  const [code, text] = await outcome('sync', IDA, '--dry-run');
  expect(text).toContain(`differs and is not written: removeMember ${IDA} in south (held by the guard`);
  expect([code, text]).toEqual([0, expect.not.stringContaining('would write:')]);
  const [, explained] = await outcome('explain', IDA, '--all');
  expect(explained).toContain('a person has to approve or reject it');
  expect(explained).not.toContain('brings it');
});

test('held removals are approved → the persons leave their groups at the platform, and sync exits 0', async () => {
  await place.commands.run('approvals', 'approve', approval, '--yes');
  await place.idle();
  for (const person of [ANN, IDA]) {
    expect(await outcome('sync', person)).toEqual([0, expect.stringContaining('equal already')]);
    expect((await place.platform.user(person))?.groups).toEqual([]);
  }
});

async function takeOutByHand(group: string): Promise<void> {
  const [from, ann] = await Promise.all([place.platform.group(group), place.platform.user(ANN)]);
  const path = `members[value eq "${ann?.scimId}"]`;
  await byHand(place, 'PATCH', `/Groups/${from?.scimId}`, { op: 'remove', path });
}

/** Runs a command about an approval, such as `reject`. */
async function order(...words: string[]): Promise<void> {
  expect((await place.commands.run('approvals', ...words, '--yes')).code).toBe(0);
  await place.idle();
}

test('the removals of a person are rejected → sync names the groups and the commands that withdraw the rejection, and these commands succeed', async () => {
  const { idp } = place;
  const [east, west] = [await idp.createGroup('east', [annId]), await idp.createGroup('west', [annId])];
  await idp.patch(`/Groups/${north}`, { op: 'add', path: 'members', value: [{ value: annId }] });
  await place.idle();
  const leave = (group: string) =>
    idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${annId}"]` });
  for (const group of [east, west]) await leave(group);
  await place.idle();
  const held = (await place.commands.run('approvals', 'list', '--json')).json[0].id;
  await order('reject', held);
  const rejected = `nothing to do: an operator rejected the removal from 2 groups, so the person stays there: east, west; scim-bridge approvals withdraw ${held} --kind removeMembers --person User:${annId} takes that back`;
  expect(await outcome('sync', ANN)).toEqual([0, expect.stringContaining(rejected)]);
  // A write of the same sync does not hide the rejection.
  await takeOutByHand('north');
  const [code, text] = await outcome('sync', ANN);
  expect(text).toContain('nothing more to do: an operator rejected the removal from 2 groups');
  expect([code, text]).toEqual([0, expect.not.stringContaining('equal')]);
  // A held removal beside the rejected ones.
  await leave(north);
  await place.idle();
  const [heldCode, both] = await outcome('sync', ANN);
  expect(heldCode).toBe(2);
  expect(both).toMatch(
    /held: the guard holds the removal from 1 group: north: .*; an operator rejected .*: east, west;/,
  );
  expect((await place.platform.user(ANN))?.groups.toSorted()).toEqual(['east', 'north', 'west']);
  await order('withdraw', held, '--kind', 'removeMembers', '--person', `User:${annId}`);
  await order('approve', (await place.commands.run('approvals', 'list', '--json')).json[0].id);
  expect((await place.platform.user(ANN))?.groups).toEqual([]);
  expect(await outcome('sync', ANN)).toEqual([0, expect.stringContaining('equal already')]);
}, 60_000);

test('a person leaves a group by hand after the removal was rejected → sync does not say that the person stays there', async () => {
  const { idp } = place;
  const harbour = await idp.createGroup('harbour', [annId]);
  await place.idle();
  await idp.patch(`/Groups/${harbour}`, { op: 'remove', path: `members[value eq "${annId}"]` });
  await place.idle();
  await order('reject', (await place.commands.run('approvals', 'list', '--json')).json[0].id);
  await takeOutByHand('harbour');
  expect(await outcome('sync', ANN)).toEqual([0, expect.not.stringContaining('stays')]);
}, 60_000);
