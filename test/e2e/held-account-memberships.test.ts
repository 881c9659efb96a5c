// Tests plan, sync and explain while the memberships of a person wait for a held or rejected deactivation.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const deactivate = { count: 0, percent: 0 };
const EVE = 'eve@acme.example';

let place: Place;
let eve: string;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate } } });
  const { idp } = place;
  eve = await idp.createUser(EVE);
  const bob = await idp.createUser('bob@acme.example');
  const finance = await idp.createGroup('Finance', [eve, bob]);
  const sales = await idp.createGroup('Sales', [bob]);
  await place.idle();
  await idp.patch(`/Users/${eve}`, { op: 'replace', path: 'active', value: false });
  await idp.patch(`/Groups/${finance}`, { op: 'remove', path: `members[value eq "${eve}"]` });
  await idp.patch(`/Groups/${sales}`, { op: 'add', path: 'members', value: [{ value: eve }] });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

async function plan(): Promise<any> {
  const file = join(place.commands.folder, `${Math.random()}.json`);
  await place.commands.run('plan', '--out', file);
  return JSON.parse(readFileSync(file, 'utf8')).plans[0];
}

/** Returns the membership entries as `<action> <group> <effect>`, with their reasons. */
const memberships = (entries: any[]) =>
  entries
    .filter(({ member }) => member)
    .map(({ action, name, effect, reason }) => [`${action} ${name} ${effect}`, reason]);

test('a person with a held deactivation has new memberships → plan and sync --dry-run show these as waiting, not as changes', async () => {
  expect(memberships((await plan()).entries).toSorted()).toEqual([
    ['addMember Sales report', expect.stringContaining('; waits for the held account')],
    ['removeMember Finance report', expect.stringContaining('; waits for the held account')],
  ]);
  const { json: dry } = await place.commands.run('sync', 'Finance', '--dry-run', '--json');
  expect(memberships([dry].flat()[0].differences)).toEqual([
    ['removeMember Finance report', expect.stringContaining('; waits for the held account')],
  ]);
});

test('a group waits for a member whose deactivation is held → sync exits 2 as held and names the member, and explain has the verdict held', async () => {
  const { json: synced, code } = await place.commands.run('sync', 'Sales', '--json');
  expect([synced].flat()[0]).toMatchObject({ outcome: 'held', message: expect.stringContaining(EVE) });
  expect(code).toBe(2);
  const [found] = (await place.commands.run('explain', 'Sales', '--json')).json;
  expect(found).toMatchObject({ verdict: 'held', platform: { state: 'equal', differences: [] } });
  expect(found.reasons.join()).toContain(`holds changes of its member ${EVE}`);
});

test('the deactivation of a person is rejected → plan and sync exit 0 and say that the person is therefore not added to a group', async () => {
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', approval.id, '--yes');
  await place.idle();
  expect((await place.commands.run('plan')).code).toBe(0);
  expect(memberships((await plan()).entries)).toEqual([
    ['addMember Sales report', expect.stringContaining('an operator rejected')],
  ]);
  const { json: synced, code } = await place.commands.run('sync', 'Sales', '--json');
  expect(code).toBe(0);
  expect([synced].flat()[0]).toMatchObject({ outcome: 'equal', message: expect.stringContaining(EVE) });
  const [found] = (await place.commands.run('explain', 'Sales', '--json')).json;
  expect(found).toMatchObject({ verdict: 'leftAlone' });
  expect((await place.commands.run('exceptions', '--json')).text).toContain('except new memberships');
});

test('the deactivation of a person is rejected → explain says that a new membership is not added, and that a drifted name is repaired', async () => {
  const explained = async () => (await place.commands.run('explain', EVE, '--json')).json[0];
  const before = await explained();
  expect(before.verdict).toBe('leftAlone');
  const text = before.reasons.join(' ');
  expect(text).toContain('no run writes the rejected change before the rejection is withdrawn');
  expect(text).toMatch(/Not added while .* the rejection stands: the membership in Sales/);
  const { scimId } = (await place.platform.user(EVE)) ?? {};
  const change = { op: 'replace', path: 'displayName', value: 'Somebody' };
  await byHand(place, 'PATCH', `/Users/${scimId}`, change);
  expect(await explained()).toMatchObject({
    verdict: 'differs',
    summary: expect.stringMatching(/the next reconcile .* brings it, except what a person rejected/),
  });
  await place.commands.run('sync', EVE);
  expect((await place.platform.user(EVE))?.displayName).toBe(`Jo ${EVE}`);
});

test('while the target is on hold, plan reports the unwritten membership of a person with a rejected deactivation, even if another change of the person waits', async () => {
  await place.commands.run('hold');
  await place.idp.patch(`/Users/${eve}`, { op: 'replace', path: 'displayName', value: 'Eva' });
  expect(memberships((await plan()).entries)).toContainEqual([
    'addMember Sales report',
    expect.stringContaining('an operator rejected'),
  ]);
  await place.commands.run('release');
  await place.idle();
});

test('a person with a rejected deactivation has a failing change that is retried → no retry adds the person to a group', async () => {
  const failing = { method: 'PATCH', path: 'scim/v2/Users', times: 2, status5xx: { share: 1, status: 503 } };
  await place.platform.control('PATCH', '/faults', { rules: [failing] });
  await place.idp.patch(`/Users/${eve}`, { op: 'replace', path: 'displayName', value: 'Eve' });
  await place.idle();
  expect((await place.platform.user(EVE))?.displayName).toBe('Eve');
  expect((await place.platform.group('Sales'))?.members).toEqual(['bob@acme.example']);
});
