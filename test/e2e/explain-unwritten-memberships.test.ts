// Tests that explain and verify-access do not tell memberships as applied that no sync writes.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const KEPT = 'kept@acme.example';
const WES = 'wes@acme.example';

let place: Place;
let ids: Record<string, string>;
async function open(target: object): Promise<void> {
  place = await openPlace({ target });
  ids = {};
  for (const name of [ANN, KEPT, WES]) ids[name] = await place.idp.createUser(name);
}
afterEach(() => place.stop());

const told = async (...args: string[]): Promise<string> => (await place.commands.run(...args)).text;
const remove = (group: string, name: string): Promise<unknown> =>
  place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${ids[name] ?? ''}"]` });

test('explain of a group counts only the members at the platform, and names a protected member of the source who is missing there', async () => {
  await open({ users: { protected: [KEPT] } });
  await place.idp.createGroup('analysts', [ids[ANN] ?? '', ids[KEPT] ?? '']);
  await place.idle();
  await place.commands.run('reconcile', '--yes');
  expect((await place.platform.group('analysts'))?.members).toEqual([ANN]);
  const person = await told('explain', KEPT);
  expect(person).not.toContain('= analysts');
  expect(person).toContain('no membership of a protected person');
  const group = await told('explain', 'analysts');
  expect(group).toContain('with 1 member.');
  expect(group).toContain('The source has 1 member more');
}, 60_000);

test('a group contains a person outside users.scope → explain of the group and of the person announces no addition', async () => {
  await open({ users: { scope: 'userName ne "wes@acme.example"' } });
  await place.idp.createGroup('analysts', [ids[ANN] ?? '', ids[WES] ?? '']);
  await place.idle();
  const group = await told('explain', 'analysts');
  expect(group).not.toContain('on its way');
  expect(group).toContain('with 1 member.');
  expect(await told('explain', WES)).not.toContain('still to be joined');
}, 60_000);

test('the source removes a member under the policy upsert-only → the member stays, and explain and verify-access report the difference', async () => {
  await open({ policy: 'upsert-only' });
  const analysts = await place.idp.createGroup('analysts', [ids[ANN] ?? '', ids[WES] ?? '']);
  await place.idle();
  await remove(analysts, ANN);
  await place.idle();
  expect((await place.platform.group('analysts'))?.members.toSorted()).toEqual([ANN, WES]);
  const person = await told('explain', ANN);
  expect(person).toContain('still in 1 group against the source');
  expect(person).not.toContain('✔');
  expect(await told('explain', 'analysts')).toContain('still has 1 member against the source');
  const proof = await told('verify-access', ANN);
  expect(proof).toContain('group analysts (the source took the person out');
  expect(proof).not.toContain('every value as desired');
}, 60_000);

test('the source deletes a group under the policy upsert-only → the group stays, and explain of the group and of its member reports it', async () => {
  await open({ policy: 'upsert-only' });
  const analysts = await place.idp.createGroup('analysts', [ids[ANN] ?? '']);
  await place.idle();
  await place.idp.send('DELETE', `/Groups/${analysts}`);
  await place.idle();
  expect((await place.platform.group('analysts'))?.members).toEqual([ANN]);
  expect(await told('explain', `Group:${analysts}`)).toContain('the group at main is left as it is');
  expect(await told('explain', ANN)).toContain('still in 1 group against the source');
}, 60_000);

test('a group cannot get its new name → explain of a member shows the name that the platform still has, and explain of the group shows the difference once', async () => {
  await open({ groups: { rename: [{ match: '^acme-(.*)$', to: '$1' }] } });
  await place.idp.createGroup('analysts', [ids[ANN] ?? '']);
  const ops = await place.idp.createGroup('ops', [ids[WES] ?? '']);
  await place.idle();
  await place.idp.patch(`/Groups/${ops}`, { op: 'replace', path: 'displayName', value: 'acme-analysts' });
  await place.idle();
  const person = await told('explain', WES);
  expect(person).toContain('still called ops at the platform');
  expect(person).not.toContain('✔');
  const group = await told('explain', `Group:${ops}`);
  expect(group).toContain('≠ displayName: "analysts" ← "ops"');
  expect(group).not.toContain('1 value differs');
}, 60_000);

test('the platform refuses the rename of a group → explain of a member shows the old name of the group, unless somebody made the rename by hand', async () => {
  await open({});
  const ops = await place.idp.createGroup('ops', [ids[WES] ?? '']);
  await place.idle();
  const rules = [{ method: 'PATCH', path: 'scim/v2/Groups', times: 9, status5xx: { share: 1, status: 400 } }];
  await place.platform.control('PATCH', '/faults', { rules });
  await place.idp.patch(`/Groups/${ops}`, { op: 'replace', path: 'displayName', value: 'crew' });
  await place.idle();
  await place.platform.control('PATCH', '/faults', { rules: [] });
  const renameByHand = async (name: string): Promise<void> => {
    const [group] = (await place.platform.state()).groups.filter(({ members }) => members.includes(WES));
    await byHand(place, 'PATCH', `/Groups/${group?.scimId}`, {
      op: 'replace',
      path: 'displayName',
      value: name,
    });
  };
  const explained = async (): Promise<string> => (await told('explain', WES)).replaceAll(/\s+/g, ' ');
  const STILL_OPS = 'still called ops at the platform as of its last sync';
  expect(await explained()).toContain(STILL_OPS);
  await renameByHand('crew');
  const person = await explained();
  expect(person).not.toMatch(/still called|new name|needs a person/);
  expect(person).toContain('✔');
  await renameByHand('others');
  expect(await explained()).toContain(STILL_OPS);
}, 60_000);

test('a person has a rejected removal, a group with a refused rename and a removed membership → explain says that sync writes only the membership, and sync does', async () => {
  await open({ guard: { removeMembers: { count: 0, percent: 0 } } });
  const groups: string[] = [];
  for (const name of ['kept', 'refused', 'crew'])
    groups.push(await place.idp.createGroup(name, [ids[ANN] ?? '', ids[WES] ?? '']));
  await place.idle();
  await remove(groups[0] ?? '', ANN);
  await place.idle();
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', id, '--yes');
  await place.idp.patch(`/Groups/${groups[1]}`, { op: 'replace', path: 'displayName', value: 'system:x' });
  await place.idle();
  const { scimId = '' } = (await place.platform.user(ANN)) ?? {};
  const crew = await place.platform.group('crew');
  await byHand(place, 'PATCH', `/Groups/${crew?.scimId}`, {
    op: 'remove',
    path: `members[value eq "${scimId}"]`,
  });
  const explained = async () => (await place.commands.run('explain', ANN, '--json')).json[0];
  const found = await explained();
  expect(found.reasons[0]).toContain('needs a person before this membership is written: Refused');
  expect(found.summary).toMatch(
    /sync User:\S+, brings it, except what a person rejected and what needs a person first[.]$/,
  );
  await place.commands.run('sync', ANN);
  const members = async (name: string) => (await place.platform.group(name))?.members;
  expect([await members('crew'), await members('kept')]).toEqual([
    expect.arrayContaining([ANN]),
    expect.arrayContaining([ANN]),
  ]);
  expect((await explained()).summary).not.toContain('brings it');
}, 60_000);
