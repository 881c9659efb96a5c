// Tests what a member reads while a group has another name at the platform, because access goes by the name.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { createScenarios } from '../support/scenario.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';

const test = createScenarios(
  () => openPlace({}),
  (place) => place.stop(),
);

/** Creates the group ops with Bob and the group sales with Ann. @returns the ids of ops and of both people */
async function foundGroups(place: Place): Promise<{ ops: string; ann: string; bob: string }> {
  const { idp } = place;
  const bob = await idp.createUser(BOB);
  const ops = await idp.createGroup('ops', [bob]);
  const ann = await idp.createUser('ann@acme.example');
  await idp.createGroup('sales', [ann]);
  await place.idle();
  return { ops, ann, bob };
}

async function renameByHand(place: Place, from: string, to: string): Promise<void> {
  const { groups } = await place.platform.state();
  const id = groups.find(({ displayName }) => displayName === from)?.scimId ?? '';
  await byHand(place, 'PATCH', `/Groups/${id}`, { op: 'replace', path: 'displayName', value: to });
}

const told = async ({ commands }: Place, ...args: string[]) => {
  const { text, code } = await commands.run(...args);
  return { text: text.replaceAll(/\s+/g, ' '), code };
};

test('somebody renames a group at the platform → explain and sync of a member report it, and sync writes the name of the group back', async (place) => {
  await foundGroups(place);
  await renameByHand(place, 'ops', 'between');
  await renameByHand(place, 'sales', 'ops');
  await renameByHand(place, 'between', 'former ops');
  const explained = await told(place, 'explain', BOB);
  expect(explained.text).toContain(
    'At the platform, ops: the group is called former ops at the platform, so its members have the access of that name.',
  );
  expect(explained.text).toContain('sync User:');
  expect(explained.text).not.toContain('as desired: active');
  const dry = await told(place, 'sync', BOB, '--dry-run');
  expect(dry.text).toContain('update ops (the group is called former ops at the platform');
  expect(dry.code).toBe(2);
  await place.commands.run('sync', 'ann@acme.example');
  await place.commands.run('sync', BOB);
  await place.idle();
  expect((await place.platform.user(BOB))?.groups).toEqual(['ops']);
  expect((await told(place, 'explain', BOB)).text).toContain('as desired: active, in 1 group');
}, 60_000);

test('a group waits for its rename → explain of a member says that the group is still to get its new name', async (place) => {
  const { ops, bob } = await foundGroups(place);
  const staff = await place.idp.createGroup('staff', [bob]);
  await place.idle();
  await place.commands.run('hold', '--note', 'maintenance');
  await place.idp.patch(`/Groups/${ops}`, { op: 'replace', path: 'displayName', value: 'operations' });
  const explained = await told(place, 'explain', BOB);
  expect(explained.text).toContain('1 group still to get its new name');
  expect(explained.text).not.toContain('to be joined');
  const dry = await told(place, 'sync', BOB, '--dry-run');
  expect(dry.text).toContain('update operations (the group is called ops at the platform');
  expect(dry.code).toBe(2);
  await place.idp.patch(`/Groups/${staff}`, { op: 'replace', path: 'displayName', value: 'everybody' });
  expect((await told(place, 'explain', BOB)).text).toContain('2 groups still to get their new names');
}, 60_000);

test("another group has the name of a person's group → sync of the person names this group and exits nonzero", async (place) => {
  await foundGroups(place);
  await renameByHand(place, 'ops', 'former ops');
  await renameByHand(place, 'sales', 'ops');
  const synced = await told(place, 'sync', BOB);
  expect((await place.platform.user(BOB))?.groups).toEqual(['former ops']);
  expect(synced.text).toContain(
    '1 group of the person does not have its name at the platform: ops; scim-bridge explain Group:',
  );
  expect(synced.code).not.toBe(0);
}, 60_000);

test('the platform refuses the rename of a group → sync of a member names the group, and its dry run lists the rename as not written', async (place) => {
  const { ops } = await foundGroups(place);
  const { platformUrl, fixtures } = place.sandbox.ready;
  await send(platformUrl, 'POST', '/api/scim/v2/Groups', {
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'taken', members: [] },
  });
  await place.idp.patch(`/Groups/${ops}`, { op: 'replace', path: 'displayName', value: 'taken' });
  await place.idle();
  const unnamed = `waiting: 1 group of the person does not have its name at the platform: taken; scim-bridge explain Group:${ops} tells why`;
  for (const isDropped of [false, true]) {
    if (isDropped) expect((await place.commands.run('dead-letters', 'drop', `Group:${ops}`)).code).toBe(0);
    const dry = await told(place, 'sync', BOB, '--dry-run');
    expect(dry.text).toMatch(
      /nothing would be written differs and is not written: (conflict|update) taken \(the group is called ops at the platform, so/,
    );
    expect(dry.text).toContain('displayName: "ops" → "taken"');
    expect(dry.code).toBe(0);
    expect(await told(place, 'sync', BOB)).toEqual({ text: expect.stringContaining(unnamed), code: 2 });
    expect((await place.platform.user(BOB))?.groups).toEqual(['ops']);
  }
}, 60_000);

test('sync of a member repairs the name of a group that waits for other members → sync exits 0', async (place) => {
  const { ops, ann } = await foundGroups(place);
  await renameByHand(place, 'ops', 'former ops');
  await place.stopApps();
  // One new member has no account yet, so the group waits for both.
  await place.start('api');
  const members = [{ value: ann }, { value: await place.idp.createUser('eve@acme.example') }];
  await place.idp.patch(`/Groups/${ops}`, { op: 'add', path: 'members', value: members });
  const synced = await told(place, 'sync', BOB);
  expect((await place.platform.user(BOB))?.groups).toEqual(['ops']);
  // The group and the new member are marked.
  expect((await place.commands.run('status', '--json')).json[0].dirty).toBe(2);
  expect(synced.text).not.toContain('not written yet');
  expect(synced.code).toBe(0);
}, 60_000);

test('a group has another name at the platform and another sync of it runs → sync of a member exits 2 and names the group', async (place) => {
  const { ops } = await foundGroups(place);
  await renameByHand(place, 'ops', 'former ops');
  await place.stopApps();
  const links = await place.key(':links:main');
  await place.redis.set(links.replace(/links:main$/, `lease:main:Group:${ops}`), 'other', 'EX', 60);
  const synced = await told(place, 'sync', BOB);
  expect((await place.platform.user(BOB))?.groups).toEqual(['former ops']);
  expect(synced.text).toContain(`waiting: Group:${ops} changed during the comparison or was being synced`);
  expect(synced.code).toBe(2);
}, 60_000);

test('a person joins a group that has another name at the platform → sync of the person renames the group and adds the person', async (place) => {
  const { ops, ann } = await foundGroups(place);
  const scimId = (await place.platform.user(BOB))?.scimId;
  const { groups } = await place.platform.state();
  const group = groups.find(({ displayName }) => displayName === 'ops')?.scimId;
  await place.stopApps();
  await byHand(place, 'PATCH', `/Groups/${group}`, { op: 'remove', path: `members[value eq "${scimId}"]` });
  await renameByHand(place, 'ops', 'admins');
  const rename = 'update ops (the group is called admins at the platform';
  expect(await told(place, 'sync', BOB, '--dry-run')).toEqual({
    text: expect.stringContaining(rename),
    code: 2,
  });
  expect((await told(place, 'sync', BOB)).code).toBe(0);
  expect((await place.platform.user(BOB))?.groups).toEqual(['ops']);
  // A person with an account joins the group, then a new person.
  for (const person of ['ann@acme.example', 'eve@acme.example']) {
    await renameByHand(place, 'ops', 'admins');
    await place.start('api');
    const joining = person.startsWith('ann') ? ann : await place.idp.createUser(person);
    await place.idp.patch(`/Groups/${ops}`, { op: 'add', path: 'members', value: [{ value: joining }] });
    await place.stopApps();
    expect((await told(place, 'sync', person, '--dry-run')).text).toContain(rename);
    expect((await told(place, 'sync', person)).code).toBe(0);
    expect((await place.platform.group('ops'))?.members).toContain(person);
  }
}, 60_000);
