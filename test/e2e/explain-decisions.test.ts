// Tests that explain tells the truth about changes that wait for a decision, were decided, or were made by hand at the platform.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { scimPatch } from '../support/reconciling.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
const ids = new Map<string, string>();
beforeEach(async () => {
  const attributes = { team: { type: 'string', from: 'nickName' } };
  const guard = { deactivate: NONE, delete: NONE, removeMembers: NONE, clearAttributes: NONE };
  place = await openPlace({ target: { guard, attributes } });
  for (const name of [ANN, BOB]) ids.set(name, await place.idp.createUser(name, { nickName: 'red' }));
  await place.idle();
});
afterEach(() => place.stop());

const idOf = (name: string): string => ids.get(name) ?? '';
const explain = async (name: string) => (await place.commands.run('explain', name, '--json')).json[0];

async function leaveGroup(group: string, name: string): Promise<void> {
  await place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${idOf(name)}"]` });
  await place.idle();
}

test('a value waits for a held removal of the person from a group → explain has the verdict held and says that a person has to approve or reject', async () => {
  const finance = await place.idp.createGroup('Finance', [idOf(ANN), idOf(BOB)]);
  await place.idle();
  await leaveGroup(finance, ANN);
  await place.idp.patch(`/Users/${idOf(ANN)}`, { op: 'replace', path: 'nickName', value: 'blue' });
  const found = await eventually('the change waits', async () => {
    const each = await explain(ANN);
    return each.reasons.join(' ').includes('It waits until Finance is left.') ? each : undefined;
  });
  expect(found.verdict).toBe('held');
  expect(found.summary).toContain('a person has to approve or reject it');
}, 30_000);

test('somebody reactivates at the platform an account that an approval had closed → explain says that the guard will hold the deactivation, and reconcile holds it', async () => {
  await place.idp.patch(`/Users/${idOf(ANN)}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
  const { platformUrl, fixtures } = place.sandbox.ready;
  const { scimId } = (await place.platform.user(ANN)) ?? {};
  await fetch(`${platformUrl}/api/scim/v2/Users/${scimId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify(scimPatch({ op: 'replace', path: 'active', value: true })),
  });
  expect((await place.platform.user(ANN))?.active).toBe(true);
  expect((await explain(ANN)).summary).toContain('asks the guard, which will hold it');
  expect((await place.commands.run('reconcile')).text).toContain('held');
  await place.idle();
  expect(await explain(ANN)).toMatchObject({ verdict: 'held' });
}, 30_000);

test('the platform ignores the addition of a member → explain names cause and time of the failing addition', async () => {
  const rule = { method: 'PATCH', path: 'Groups', times: 50, ignoreMembers: true };
  await place.platform.control('PATCH', '/faults', { rules: [rule] });
  await place.idp.createGroup('crew', [idOf(ANN)]);
  const { summary } = await eventually('the write has failed', async () => {
    const each = await explain(ANN);
    return each.memberships.some(({ because }: { because?: string }) => because) ? each : undefined;
  });
  expect(summary).toMatch(
    /has failed since \S+: group crew: .*if it stays, ask the operator of the platform/,
  );
  await place.platform.control('PATCH', '/faults', { rules: [] });
}, 30_000);

test('the removal of a person is rejected → explain names the decision and the command that withdraws the rejection for this person only', async () => {
  const crew = await place.idp.createGroup('crew', [idOf(ANN), idOf(BOB)]);
  await place.idle();
  await leaveGroup(crew, ANN);
  await leaveGroup(crew, BOB);
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', id, '--person', ANN, '--yes');
  await place.idle();
  // The group has a held and a rejected removal.
  expect((await explain('crew')).reasons.join(' ')).toMatch(/withdraw \S+ --ref Group:\S+ takes it back/);
  const found = await explain(ANN);
  const told = found.reasons.join(' ');
  expect(told).toMatch(/ rejected its removal from crew at \S+: /);
  const [, words = ''] = /scim-bridge (approvals withdraw .*?) takes it back/.exec(told) ?? [];
  expect((await place.commands.run(...words.split(' '), '--yes')).code).toBe(0);
  await place.idle();
  expect((await explain(ANN)).rejections).toEqual([]);
}, 30_000);

test('explain of a held deactivation says that a person decides, or else the guard judges it anew when the approval expires', async () => {
  await place.idp.patch(`/Users/${idOf(ANN)}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  const [{ expiresAt }] = (await place.commands.run('approvals', 'list', '--json')).json;
  expect((await explain(ANN)).reasons.join(' ')).toContain(
    `no run writes the held change before a person decides or the guard judges it anew at ${expiresAt}.`,
  );
}, 30_000);

test('explain of a group names the member who will leave the group with a held deactivation', async () => {
  const crew = await place.idp.createGroup('crew', [idOf(ANN), idOf(BOB)]);
  await place.idle();
  await place.idp.patch(`/Users/${idOf(BOB)}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await leaveGroup(crew, ANN);
  await leaveGroup(crew, BOB);
  const { reasons, memberships } = await explain('crew');
  expect(reasons.join(' ')).toMatch(
    /holds the removal of 1 member and the deactivation of its member bob@acme.example, who leaves with the account:/,
  );
  expect(memberships.find(({ name }: { name: string }) => name === BOB).because).toContain(
    'leaves with the account',
  );
}, 30_000);

test('with guard.approvers: 2, explain names the first approval after it was given, and the command by which a second person approves', async () => {
  await place.change(({ targets: { main } }) => {
    if (main) main.guard = { ...(main.guard as object), approvers: 2 };
  });
  await place.idp.patch(`/Users/${idOf(ANN)}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', id, '--yes');
  const { reasons } = await explain(ANN);
  expect(reasons.join(' ')).toMatch(
    / approved 1 change at \S+: a second person approves with scim-bridge approvals approve \S+\./,
  );
}, 30_000);

test('a group has a held and a rejected removal, a refused name and a long history → explain shows the commands that decide about each removal, and shortens the timeline', async () => {
  const green = await place.idp.createGroup('Green', [idOf(ANN), idOf(BOB)]);
  await place.idle();
  for (const name of ['Lime', 'Olive', 'Mint', 'Jade']) {
    await place.idp.patch(`/Groups/${green}`, { op: 'replace', path: 'displayName', value: name });
    await place.idle();
  }
  await leaveGroup(green, ANN);
  const [{ id: rejected }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', rejected, '--yes', '--by', 'op');
  await leaveGroup(green, BOB);
  await place.idp.patch(`/Groups/${green}`, { op: 'replace', path: 'displayName', value: 'system:Green' });
  await place.idle();
  const { text, lines } = await place.commands.run('explain', `Group:${green}`);
  expect(lines.length).toBeLessThanOrEqual(40);
  expect(text).toMatch(/scim-bridge approvals show \S+, then approve or reject/);
  expect(text).toMatch(/scim-bridge approvals withdraw \S+ --ref Group:\S+/);
  expect(text).toContain(' earlier, since ');
}, 60_000);
