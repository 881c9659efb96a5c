// Tests which counts, times and first approvals `approvals show` tells where two persons have to approve.
import '../support/load-modules.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['ann', 'bob', 'cid', 'dan'].map((name) => `${name}@acme.example`);

let place: Place;
let members: string[];
let sales: string;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { approvers: 2, removeMembers: { count: 1, percent: 100 } } } });
  const { idp } = place;
  members = [];
  for (const name of NAMES) members.push(await idp.createUser(name));
  sales = await idp.createGroup('Sales', members);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const outputOf = async (...words: string[]): Promise<string> => (await place.commands.run(...words)).text;
const openId = async (): Promise<string> =>
  (await place.commands.run('approvals', 'list', '--json')).json[0].id;
async function remove(index: number): Promise<void> {
  await place.idp.patch(`/Groups/${sales}`, {
    op: 'remove',
    path: `members[value eq "${members[index] ?? ''}"]`,
  });
  await place.idle();
}

test('two required approvals are given → the guard counts from 0 again, and `approvals show` of later removals says 0 counted', async () => {
  await remove(0);
  await remove(1);
  expect(await outputOf('approvals', 'show', await openId())).toMatch(
    /; 1 counted since \S+, 0 accepted, 1 held;/,
  );
  const id = await openId();
  await place.commands.run('approvals', 'approve', id, '--yes', '--by', 'eva');
  expect(await outputOf('approvals', 'show', id)).toContain('1 of 2 approvals: eva approved 1 change at');
  await place.commands.run('approvals', 'approve', id, '--yes', '--by', 'fay');
  await place.idle();
  expect((await place.platform.group('Sales'))?.members).toEqual(NAMES.slice(2));
  await place.idp.patch(`/Groups/${sales}`, { op: 'remove', path: 'members' });
  await place.idle();
  const shown = await outputOf('approvals', 'show', await openId());
  expect(shown).toContain('; 0 counted, 0 accepted, 2 held; an approval of all starts the count anew');
  expect(shown).not.toContain('written');
}, 60_000);

test('`approvals show` dates every held removal from a group by the time since when the group has waited, also a removal that was held later', async () => {
  const { json } = await place.commands.run('approvals', 'show', await openId(), '--json');
  const [{ since }] = json.items;
  await sleep(50);
  const eve = await place.idp.createUser('eve@acme.example');
  await place.idp.patch(`/Groups/${sales}`, { op: 'add', path: 'members', value: [{ value: eve }] });
  await place.idle();
  await place.idp.patch(`/Groups/${sales}`, { op: 'remove', path: 'members' });
  await place.idle();
  const shown = await outputOf('approvals', 'show', await openId());
  expect(shown).toContain('opened ');
  expect(shown.replaceAll(/\s+/g, ' ')).toContain(
    'memberships, those removed in this time and those whose removal is held included',
  );
  const times = [...shown.matchAll(/ \(Sales has waited for decisions since (\S+)\)/g)].map(
    ([, time]) => time,
  );
  expect(times).toEqual([since, since, since]);
}, 60_000);

/** Approves the held removals of these members. @returns the output with --json */
async function approve(by: string, ...names: string[]) {
  const order = ['approve', await openId(), '--person', ...names, '--yes', '--by', by, '--json'];
  return (await place.commands.run('approvals', ...order)).json;
}

test('a first approval covers two of three held removals → `approvals approve --json` has the id for the second approver and the expiry of the approval', async () => {
  const [{ expiresAt: end }] = (await place.commands.run('approvals', 'list', '--json')).json;
  const { id, outcome, expiresAt } = await approve('mike', ...NAMES.slice(2));
  expect([outcome, expiresAt]).toEqual(['noted', end]);
  for (const words of [['list'], ['show', await openId()]])
    expect(await outputOf('approvals', ...words)).toContain(`; a second person approves ${id} before ${end}`);
}, 60_000);

test('a first approval covers two removals, one of which two other operators approve → `approvals show` of the first approval counts one removal', async () => {
  const dan = NAMES[3] ?? '';
  const part = (await place.commands.run('approvals', 'list', '--json')).json[0].firstApprovals[0].id;
  expect(await outputOf('approvals', 'show', part)).toContain('\n  2 to take out of groups\n');
  await approve('pete', dan);
  expect(await approve('olga', dan)).toMatchObject({ outcome: 'decided', items: 1 });
  await place.idle();
  const shown = await outputOf('approvals', 'show', part);
  expect(shown).toContain('\n  1 to take out of groups\n');
  expect(shown).toContain('mike approved 2 changes at');
  expect((await place.commands.run('approvals', 'show', part, '--json')).json).toMatchObject({
    kinds: { removeMembers: 1 },
    total: 1,
    matching: 1,
  });
}, 60_000);

test('a group with held member removals is deleted → `approvals show` gives the time since when the group has waited, not the time of the deletion', async () => {
  await place.idp.send('DELETE', `/Groups/${sales}`);
  await place.idle();
  const shown = await outputOf('approvals', 'show', await openId());
  expect(shown).toMatch(/- Sales.*\(Sales has waited for decisions since /);
  expect(shown).not.toContain('(since ');
}, 60_000);

test('an approval expires after its first of two decisions → its changes are held under a new id, and the second decision with the former id is refused', async () => {
  const id = await openId();
  const [{ expiresAt: end }] = (await place.commands.run('approvals', 'list', '--json')).json;
  expect(await outputOf('approvals', 'approve', id, '--yes', '--by', 'mike')).toContain(
    `before a second person approves ${id}: the first approval ends at ${end}.`,
  );
  await place.redis.hset(await place.key(':guardApproval:main'), 'expires', String(Date.now() - 1000));
  await place.commands.run('sync', 'Sales');
  const [again] = (await place.commands.run('approvals', 'list', '--json')).json;
  expect(again.id).not.toBe(id);
  expect(again.firstApprovals).toBeUndefined();
  const second = await place.commands.run('approvals', 'approve', id, '--yes', '--by', 'fay');
  expect([second.code, second.text]).toEqual([
    1,
    expect.stringContaining('It may have expired, with its first approval'),
  ]);
}, 60_000);
