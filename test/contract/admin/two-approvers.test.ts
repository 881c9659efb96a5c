// Tests approvals by two persons: the first approval is stored. The changes are applied when another person approves
// the same ones.
import { connectRedis, untilReady } from '../../../src/directory/redis/connection.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { createCommands, type Commands } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor } from '../../support/settings.ts';
import { NAMES, openTwoApprovers, type TwoApproversRig } from './two-approvers-rig.ts';

let rig: TwoApproversRig['rig'];
let ids: TwoApproversRig['ids'];
let leave: TwoApproversRig['leave'];
let closed: TwoApproversRig['closed'];
let heldId: TwoApproversRig['heldId'];
let commands: Commands;

beforeEach(async () => {
  ({ rig, ids, leave, closed, heldId } = await openTwoApprovers());
  const { sandbox, config } = rig.bridge;
  const guard = { approvers: 2 };
  commands = createCommands(settingsFor(sandbox, { guard }, { redis: config.redis }));
}, 60_000);
afterEach(async () => {
  commands.remove();
  await rig.bridge.stop();
});

/** Sends an order as a person whom the proxy names. */
async function as(name: string, action: string, id: string, body: object = {}, groups = 'approvers') {
  const answer = await rig.raw(`/admin/v1/approvals/${encodeURIComponent(id)}/${action}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-scim-bridge-via': 'page',
      'x-forwarded-user': name,
      'x-forwarded-groups': groups,
    },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as any };
}

test('a second approval by the first approver, even under another spelling of the name, answers 409; one by another person applies the changes', async () => {
  await leave(0, 1, 2);
  const id = await heldId();
  expect(await as('vera', 'approve', id, {}, 'viewers')).toMatchObject({ status: 403 });
  expect(await as('Anna', 'approve', id, { note: 'HR agreed' })).toMatchObject({
    status: 200,
    body: { outcome: 'noted', id, by: 'Anna', items: 3 },
  });
  expect(await as('Anna', 'approve', id)).toMatchObject({ status: 409 });
  expect(await as(' anna', 'approve', id)).toMatchObject({ status: 409 });
  await rig.untilSynced();
  expect(await closed()).toEqual([]);

  const { body: shown } = await rig.operator.get(`/approvals/${id}`);
  expect(shown).toMatchObject({
    state: 'held',
    approvers: 2,
    total: 3,
    firstApprovals: [{ id, by: 'Anna', total: 3, note: 'HR agreed' }],
  });
  expect(await as('Ben', 'approve', id)).toMatchObject({
    body: { outcome: 'decided', items: 3, remaining: 0 },
  });
  await eventually('they are closed', async () => (await closed()).length === 3);
  const [decided] = (await rig.operator.get('/approvals?all=true')).body;
  expect(decided).toMatchObject({ state: 'approved', by: 'Anna and Ben', total: 3 });
  expect(decided.firstApprovals).toBeUndefined();
  const acts = (await rig.operator.get('/acts')).body.map(({ act, by, note }: any) => [act, by, note]);
  expect(acts.slice(0, 2)).toEqual([
    ['approve', 'Ben', 'approved first by Anna'],
    ['approveFirst', 'Anna', 'HR agreed'],
  ]);
});

test('the second approval of held changes applies those that the first person approved, and none that were held later', async () => {
  await leave(0, 1);
  const id = await heldId();
  await as('anna', 'approve', id);
  await leave(2);
  const later = await heldId();
  expect(later).not.toBe(id);
  expect(await as('ben', 'approve', later)).toMatchObject({ body: { outcome: 'noted', items: 3 } });
  expect(await closed()).toEqual([]);
  expect(await as('cleo', 'approve', id)).toMatchObject({
    body: { outcome: 'decided', items: 2, remaining: 1 },
  });
  await eventually('two are closed', async () => (await closed()).length === 2);
  await rig.untilSynced();
  expect(await closed()).toEqual(NAMES.slice(0, 2));
});

test('a first approval of one selected change gets its own id, and the second approval of this id applies only that change', async () => {
  await leave(0, 1, 2);
  const id = await heldId();
  const { body: first } = await as('anna', 'approve', id, { persons: [NAMES[1]] });
  expect(first).toMatchObject({ outcome: 'noted', items: 1 });
  expect(first.id).toMatch(new RegExp(`^${id}~`));
  const { body: shown } = await rig.operator.get(`/approvals/${encodeURIComponent(first.id)}`);
  expect(shown).toMatchObject({ total: 1, matching: 1, items: [{ name: NAMES[1] }] });
  // An approval of another part, or of the whole list, counts as a separate first approval.
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'noted', items: 3 } });
  expect(await as('ben', 'approve', first.id, { persons: [NAMES[2]] })).toMatchObject({ status: 400 });
  expect(await as('ben', 'approve', `${id}~00000000`)).toMatchObject({ status: 404 });
  expect(await as('ben', 'approve', first.id)).toMatchObject({ body: { outcome: 'decided', items: 1 } });
  await eventually('one is closed', async () => (await closed()).length === 1);
  expect(await closed()).toEqual([NAMES[1]]);
});

test('first approvals of different selections get different ids and apply nothing, even if both selections have the same stored description', async () => {
  await leave(0, 1);
  const id = await heldId();
  const [own, other] = [0, 1].map((number) => `User:${ids[number]}`);
  // Stored descriptions of selections are shortened, so these two are stored with the same description.
  const padding = Array.from({ length: 20 }, (_, index) => `User:${'0'.repeat(30)}${10 + index}`);
  const anna = await as('anna', 'approve', id, { refs: [...padding, own] });
  const ben = await as('ben', 'approve', id, { refs: [...padding, other] });
  expect([anna.body.outcome, ben.body.outcome]).toEqual(['noted', 'noted']);
  expect(anna.body.id).not.toBe(ben.body.id);
  await rig.untilSynced();
  expect(await closed()).toEqual([]);
  // A selection by name of the same change joins the same first approval, so the same person is refused.
  expect(await as('anna', 'approve', id, { persons: [NAMES[0]] })).toMatchObject({ status: 409 });
  expect(await as('ben', 'approve', id, { persons: [NAMES[0]] })).toMatchObject({
    body: { outcome: 'decided', items: 1 },
  });
  await eventually('one is closed', async () => (await closed()).length === 1);
  expect(await closed()).toEqual([NAMES[0]]);
});

test('when a change is held between two approvals under one id, the second approval covers more changes and counts as a first approval', async () => {
  await leave(0);
  const id = await heldId();
  const beyond = id.replace(/\d+$/, '99999999');
  expect(await as('anna', 'approve', beyond)).toMatchObject({ body: { outcome: 'noted', id, items: 1 } });
  await leave(1);
  expect(await as('ben', 'approve', beyond)).toMatchObject({ body: { outcome: 'noted', items: 2 } });
  await rig.untilSynced();
  expect(await closed()).toEqual([]);
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'decided', items: 1 } });
  await eventually('one is closed', async () => (await closed()).length === 1);
  expect(await closed()).toEqual([NAMES[0]]);
});

test('when the 100 first approvals that a target may have end by a rejection, a first approval of a later change is accepted', async () => {
  await leave(0, 1);
  const before = await heldId();
  expect(await as('anna', 'approve', before, { persons: [NAMES[0]] })).toMatchObject({ status: 200 });
  const redis = connectRedis(rig.bridge.config.redis, 'commands', silentLogger);
  await untilReady(redis, 5000);
  const [key = ''] = await redis.keys(`${rig.bridge.config.redis.prefix}*guardFirst*`);
  const [[field = '', text = '']] = Object.entries(await redis.hgetall(key)) as [[string, string]];
  // With the one above, 100 first approvals are stored, the limit of a target.
  for (let index = 0; index < 99; index++) await redis.hset(key, `${field}${index}`, text);
  redis.disconnect();
  expect(await as('anna', 'approve', before)).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('too many first approvals of its target') },
  });
  expect(await as('ben', 'reject', before)).toMatchObject({ body: { outcome: 'decided' } });
  await leave(2);
  const after = await heldId();
  expect(await as('anna', 'approve', after)).toMatchObject({ body: { outcome: 'noted', items: 1 } });
  expect(await as('cleo', 'approve', after)).toMatchObject({ body: { outcome: 'decided', items: 1 } });
});

const firstIds = async (): Promise<string[]> =>
  ((await rig.operator.get('/approvals')).body[0]?.firstApprovals ?? []).map(({ id }: any) => id);
const firstsOf = async (name: string): Promise<string[]> => {
  const { body } = await rig.operator.get(`/explain?resource=${encodeURIComponent(name)}`);
  return body[0].firstApprovals.map(({ id }: any) => id);
};

test('when the source takes back a change with a first approval and the change is held again, that approval no longer covers it', async () => {
  await leave(0, 1, 2);
  const id = await heldId();
  const { body: part } = await as('anna', 'approve', id, { persons: [NAMES[1]] });
  await as('anna', 'approve', id);
  expect(await firstsOf(NAMES[1] ?? '')).toEqual([part.id, id]);
  await rig.bridge.idp.patch(`/Users/${ids[1]}`, { op: 'replace', path: 'active', value: true });
  await rig.untilSynced();
  await leave(1);

  expect(await firstIds()).toEqual([id]);
  // Anna's approval of the list covers the other two changes only.
  expect(await firstsOf(NAMES[1] ?? '')).toEqual([]);
  expect(await firstsOf(NAMES[0] ?? '')).toEqual([id]);
  const order = await commands.run('approvals', 'approve', part.id, '--by', 'ben', '--yes');
  expect(order).toMatchObject({ code: 1 });
  expect(order.text).toContain('nothing of it waits any more');
  expect(await as('ben', 'approve', part.id)).toMatchObject({ status: 404 });
  expect((await rig.operator.get('/approvals?all=true')).body).toHaveLength(1);
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'decided', items: 2 } });
  await eventually('two are closed', async () => (await closed()).length === 2);
  await rig.untilSynced();
  expect(await closed()).toEqual([NAMES[0], NAMES[2]]);
});

test('when two operators have approved all held changes, the first approval of a part of them is removed', async () => {
  await leave(0, 1);
  const id = await heldId();
  await as('anna', 'approve', id, { persons: [NAMES[1]] });
  await as('anna', 'approve', id);
  await leave(2);
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'decided', items: 2 } });
  await eventually('two are closed', async () => (await closed()).length === 2);
  expect(await firstIds()).toEqual([]);
});

test('when one of two changes with a first approval was taken back and held again, the second approval applies only the other change', async () => {
  await leave(0, 1, 2);
  const id = await heldId();
  const { body: part } = await as('anna', 'approve', id, { persons: [NAMES[0], NAMES[1]] });
  await rig.bridge.idp.patch(`/Users/${ids[1]}`, { op: 'replace', path: 'active', value: true });
  await rig.untilSynced();
  await leave(1);
  expect(await as('ben', 'approve', part.id)).toMatchObject({
    body: { outcome: 'decided', items: 1, kinds: { deactivate: 1 }, remaining: 2 },
  });
  await eventually('one is closed', async () => (await closed()).length === 1);
  await rig.untilSynced();
  expect(await closed()).toEqual([NAMES[0]]);
});

test('one person alone can reject changes that need two approvers; to approve them after the rejection needs two persons again', async () => {
  await leave(0, 1);
  const id = await heldId();
  await as('anna', 'approve', id);
  expect(await as('ben', 'reject', id)).toMatchObject({ body: { outcome: 'decided', items: 2 } });
  // Rejected changes can still be approved, which needs two persons again.
  expect(await as('cleo', 'approve', id)).toMatchObject({ body: { outcome: 'noted', items: 2 } });
  await rig.untilSynced();
  expect(await closed()).toEqual([]);
  expect(await as('anna', 'approve', id)).toMatchObject({ body: { outcome: 'decided', items: 2 } });
  await eventually('they are closed', async () => (await closed()).length === 2);
});

test('after a first approval was withdrawn, the approval of another person counts as the first and writes nothing', async () => {
  await leave(0);
  const id = await heldId();
  await as('anna', 'approve', id);
  expect(await as('anna', 'withdraw', id)).toMatchObject({ body: { outcome: 'retracted', items: 1 } });
  expect(await as('anna', 'withdraw', id)).toMatchObject({ status: 409 });
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'noted' } });
  expect(await closed()).toEqual([]);
});

test('`approvals withdraw` of changes that are only held exits 1, says that none was rejected, and names the command that withdraws the first approval', async () => {
  await leave(0, 1, 2);
  const id = await heldId();
  const { body: part } = await as('anna', 'approve', id, { persons: [NAMES[0], NAMES[1]] });
  const taken = await commands.run('approvals', 'withdraw', id, '--person', NAMES[0] ?? '', '--yes');
  expect(taken).toMatchObject({ code: 1 });
  expect(taken.text).not.toContain('There is no approval');
  expect(taken.text).toContain('is held and nothing of it was rejected');
  expect(taken.text).toContain(`approvals withdraw ${part.id} (by anna)`);
  expect(await firstIds()).toEqual([part.id]);
  expect(await commands.run('approvals', 'withdraw', part.id, '--yes')).toMatchObject({ code: 0 });
  expect(await firstIds()).toEqual([]);
});

test('with one approver in the settings, one approval applies changes that had a first approval, and no command mentions a second person', async () => {
  await leave(0);
  const id = await heldId();
  await as('anna', 'approve', id);
  const { sandbox, config } = rig.bridge;
  const one = createCommands(settingsFor(sandbox, { guard: { approvers: 1 } }, { redis: config.redis }));
  try {
    expect((await one.run('approvals', 'list')).text).not.toContain('second person');
    expect((await one.run('approvals', 'show', id)).text).not.toContain('second person');
    expect(await one.run('approvals', 'approve', id, '--by', 'anna', '--yes')).toMatchObject({ code: 0 });
    await eventually('closed', async () => (await closed()).length === 1);
  } finally {
    one.remove();
  }
});

test('of two concurrent second approvals only one is carried out, and a second approval with the same admin token answers 409', async () => {
  await leave(0, 1);
  const id = await heldId();
  const token = (by: string) => rig.operator.post(`/approvals/${id}/approve`, { by });
  expect((await token('anna')).body).toMatchObject({ outcome: 'noted' });
  expect((await token('ben')).status).toBe(409);
  // A name given with the admin token is stored with a note that it is not verified, and counts as that person.
  expect(await as('anna', 'approve', id)).toMatchObject({ status: 409 });
  const both = await Promise.all([as('cleo', 'approve', id), as('dora', 'approve', id)]);
  const items = both.map(({ body }) => (body.outcome === 'decided' ? body.items : 0));
  expect(items.reduce((sum, each) => sum + each, 0)).toBe(2);
  await eventually('they are closed', async () => (await closed()).length === 2);
});

test('a first approval at the command line and a second one by another person on the page apply the change', async () => {
  await leave(0);
  const id = await heldId();
  const approve = (by: string) => commands.run('approvals', 'approve', id, '--by', by, '--yes', '--json');
  expect(await approve('anna')).toMatchObject({ code: 0, json: { outcome: 'noted', items: 1 } });
  expect(await approve('anna')).toMatchObject({ code: 1 });
  expect((await commands.run('approvals', 'list')).text).toContain(`a second person approves ${id}`);
  expect((await commands.run('approvals', 'withdraw', id, '--yes', '--by', 'ben')).text).toContain(
    'Withdrawn',
  );
  expect(await approve('anna')).toMatchObject({ json: { outcome: 'noted' } });
  expect(await as('Anna', 'approve', id)).toMatchObject({ status: 409 });
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'decided', items: 1 } });
  await eventually('closed', async () => (await closed()).length === 1);
});

test('a second approval with the admin token answers 409 and says that all holders of the token count as one person', async () => {
  await leave(0);
  const id = await heldId();
  const approve = (by: string) => rig.operator.post(`/approvals/${id}/approve`, { by });
  expect((await approve('alice')).body).toMatchObject({ outcome: 'noted' });
  expect((await rig.operator.get(`/approvals/${id}`)).body.firstApprovals).toMatchObject([
    { withToken: true },
  ]);
  const { status, body } = await approve('carol');
  expect([status, body.detail]).toEqual([
    409,
    expect.stringMatching(
      /^alice \(admin token\) has approved .* All holders of the admin token count as one/,
    ),
  ]);
  expect(body.detail).not.toContain('You have');
});

test('when two operators reject the same held changes at once, one gets 200, and the other 409 with the name of the first', async () => {
  await leave(0, 1);
  const id = await heldId();
  const answers = await Promise.all(['anna', 'ben'].map((name) => as(name, 'reject', id)));
  const [won, lost] = answers.toSorted((one, other) => one.status - other.status);
  expect(won).toMatchObject({ status: 200, body: { outcome: 'decided', items: 2 } });
  expect([lost?.status, lost?.body.detail]).toEqual([
    409,
    expect.stringMatching(
      new RegExp(`^Approval ${id} was rejected at .* by ${won?.body.by}: nothing of it is left to reject`),
    ),
  ]);
});
