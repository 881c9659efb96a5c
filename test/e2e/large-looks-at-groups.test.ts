// Tests how many accounts explain and a dry run of sync read of a group with many changed members, and what they say of the others.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

const mail = (number: number): string => `p${number}@acme.example`;

let place: Place;
afterEach(() => place.stop());

async function open(target: object, people: number): Promise<string[]> {
  place = await openPlace({ target: { guard: { removeMembers: { count: 0, percent: 0 } }, ...target } });
  const ids: string[] = [];
  for (let number = 0; number < people; number++) ids.push(await place.idp.createUser(mail(number)));
  return ids;
}
const { outcome } = commandsAt(() => place);
const idOfCrew = async (): Promise<string> => (await place.platform.group('crew'))?.scimId ?? '';
const accountReads = async (): Promise<number> =>
  (await place.platform.requests()).filter(
    ({ method, path }) => method === 'GET' && path.includes('/scim/v2/Users/'),
  ).length;

test('somebody makes more than 100 held removals by hand → explain compares 100 and counts the rest, and sync ends all holds', async () => {
  const ids = await open({}, 104);
  const crew = await place.idp.createGroup('crew', ids);
  await place.idle();
  await place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: 'members' });
  await place.idle();
  await byHand(place, 'PATCH', `/Groups/${await idOfCrew()}`, { op: 'remove', path: 'members' });
  await place.platform.forgetRequests();
  expect((await outcome('explain', 'crew', '--all'))[1]).toContain(
    '4 removals of members were not compared, because they are too many for one look, so some of them may be made at the platform already',
  );
  expect(await accountReads()).toBe(100);
  expect((await outcome('sync', 'crew'))[0]).toBe(0);
  expect((await outcome('approvals', 'list'))[1]).toContain('The guard holds nothing');
}, 60_000);

test('somebody makes more than 100 removals by hand while the target is on hold → sync --dry-run of the group counts those not compared', async () => {
  const ids = await open({ guard: {} }, 104);
  const crew = await place.idp.createGroup('crew', ids);
  await place.idle();
  await outcome('hold', '--by', 'olga');
  await place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: 'members' });
  await byHand(place, 'PATCH', `/Groups/${await idOfCrew()}`, { op: 'remove', path: 'members' });
  const [, dryRun] = await outcome('sync', 'crew', '--dry-run');
  expect(dryRun).toContain('4 removals of members were not compared');
  const [, explained] = await outcome('explain', 'crew', '--all');
  expect(explained).toContain('4 removals of members were not compared');
  expect(explained).toContain('- 4 members still to be removed.');
}, 60_000);

test('rejected removals of a person from more than 20 groups are made by hand → sync counts the groups not compared, and does not say that the person stays', async () => {
  const [person] = await open({}, 1);
  const groups: string[] = [];
  for (let number = 0; number < 22; number++)
    groups.push(await place.idp.createGroup(`team ${number}`, [person ?? '']));
  await place.idle();
  for (const group of groups) await place.idp.patch(`/Groups/${group}`, { op: 'remove', path: 'members' });
  await place.idle();
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  await outcome('approvals', 'reject', approval.id, '--yes');
  await place.idle();
  expect((await outcome('sync', mail(0)))[1]).toMatch(
    /rejected the removal from 22 groups, so the person stays there: (team \d+, ){4}team \d+ and 17 more; /,
  );
  for (const { scimId } of (await place.platform.state()).groups)
    await byHand(place, 'PATCH', `/Groups/${scimId}`, { op: 'remove', path: 'members' });
  const [code, text] = await outcome('sync', mail(0));
  expect(text).toContain('2 groups of the person were not compared');
  expect([code, text]).toEqual([0, expect.not.stringContaining('stays')]);
}, 60_000);

test('the accounts of more than 20 members are deleted at the platform → explain searches for 20 and lists all members, and sync creates all accounts again', async () => {
  const ids = await open({}, 22);
  await place.idp.createGroup('crew', ids);
  await place.idle();
  await place.stopApps();
  for (const { scimId, userName } of (await place.platform.state()).users)
    if (/^p\d+@/.test(userName)) await byHand(place, 'DELETE', `/Users/${scimId}`);
  await place.platform.forgetRequests();
  const { json } = await place.commands.run('explain', 'crew', '--json');
  const reasons = json[0].platform.differences.map(({ reason }: { reason: string }) => reason);
  const gone = 'member at the source, whose account is gone at the platform';
  expect(reasons.filter((reason: string) => reason === gone)).toHaveLength(2);
  expect(reasons).toHaveLength(22);
  const lookUps = (await place.platform.requests()).filter(({ path }) => path.endsWith('/scim/v2/Users'));
  expect(lookUps).toHaveLength(20);
  const [, dryRun] = await outcome('sync', 'crew', '--dry-run');
  expect(dryRun.match(/ create p/g)).toHaveLength(22);
  expect(await outcome('sync', 'crew')).toEqual([0, expect.stringMatching(/ equal$/)]);
  expect((await place.platform.group('crew'))?.members).toHaveLength(22);
}, 60_000);

test('a group has more than 100 unmanaged members → plan reads none of these accounts singly, and sync --dry-run reads 100 and names all', async () => {
  const ids = await open({ groups: { members: 'authoritative' } }, 1);
  await place.idp.createGroup('crew', ids);
  await place.idle();
  const { platformUrl, fixtures } = place.sandbox.ready;
  const headers = {
    authorization: `Bearer ${fixtures.apiKeys.admin}`,
    'content-type': 'application/scim+json',
  };
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
  for (let number = 0; number < 102; number++)
    await send(platformUrl, 'POST', '/api/scim/v2/Users', {
      headers,
      body: { schemas, userName: `ext${number}@acme.example`, active: true },
    });
  const others = (await place.platform.state()).users.filter(({ userName }) => userName.startsWith('ext'));
  const value = others.map(({ scimId }) => ({ value: scimId }));
  await byHand(place, 'PATCH', `/Groups/${await idOfCrew()}`, { op: 'add', path: 'members', value });
  await place.platform.forgetRequests();
  expect((await outcome('plan'))[1]).toContain('102 memberships to remove');
  expect(await accountReads()).toBe(0);
  await outcome('reconcile', '--yes');
  // After the approval the removals are to be written, and no worker writes them.
  await place.stopApps();
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  await outcome('approvals', 'approve', approval.id, '--yes');
  await place.platform.forgetRequests();
  const [, text] = await outcome('sync', 'crew', '--dry-run');
  expect(text.match(/removeMember ext\d+@acme[.]example in crew/g)).toHaveLength(102);
  expect(text.match(/not read, as one of more than 100: nothing is written if/g)).toHaveLength(2);
  expect(await accountReads()).toBe(100);
}, 120_000);

test('explain of a group with 104 pending members lists some and counts the rest, and its timeline counts the added members', async () => {
  const ids = await open({}, 104);
  await place.idle();
  await outcome('hold', '--by', 'olga');
  await place.idp.createGroup('crew', ids);
  const listed = (text: string): number => text.match(/ \+ p\d+@/g)?.length ?? 0;
  for (const options of [[], ['--all']]) {
    const [, text] = await outcome('explain', 'crew', ...options);
    expect(text).toContain('(104 desired, 104 to add, 0 to remove)');
    expect(text).toContain(`… and ${104 - listed(text)} more`);
  }
  await outcome('release', '--by', 'olga');
  await place.idle();
  const [, text] = await outcome('explain', 'crew');
  expect(text).toContain('applied 100 members added');
  expect(text).toContain('applied 4 members added');
}, 60_000);
