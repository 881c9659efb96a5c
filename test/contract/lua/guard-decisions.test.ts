// Tests the scripts that store decisions about held changes: approvals, rejections, expiry and interrupted decisions (ADR 0011).
import type { ArchiveLine } from '../../../src/directory/archive/archive.ts';
import type { Destruction } from '../../../src/directory/guard/held-changes.ts';
import { deactivations, guard, HOUR, passTime, range, useGuardRig, user } from './guard-rig.ts';
import { add, drop, idOf } from './rig.ts';

const rig = useGuardRig();

/** Backs the connection up, deletes its data, and restores the backup. */
async function restore(): Promise<void> {
  const { archive } = rig.store.state;
  const lines: ArchiveLine[] = [];
  for await (const line of archive.dump()) lines.push(line);
  await archive.clear({ tokens: true });
  for (const line of lines) await archive.load(line);
  await archive.finish();
}

/** Returns the stored lists of chosen changes; -1: such a list does not expire. */
async function choices(): Promise<{ expiresInMs: number }[]> {
  const { redis, keys } = rig.store;
  const names = (await rig.store.families()).filter((key) => key.includes('guardChoice'));
  return Promise.all(names.map(async (name) => ({ expiresInMs: await redis.pttl(keys.base + name) })));
}

it('an approval covers exactly the changes listed under its id, and a change held later stays held', async () => {
  await rig.guardStore.take(deactivations(1, 2, 3), guard(2));
  const listed = (await rig.guardStore.open())?.id ?? '';
  await rig.guardStore.take(deactivations(4), guard(2));
  await expect(rig.guardStore.decide('approve', listed, 'ops')).resolves.toMatchObject({
    kind: 'decided',
    items: 3,
  });
  await expect(rig.heldRefs()).resolves.toEqual([user(4)]);
  await expect(rig.guardStore.take(deactivations(1, 2, 3), guard(0))).resolves.toEqual([
    'allowed',
    'allowed',
    'allowed',
  ]);
  await expect(rig.guardStore.take(deactivations(4), guard(2))).resolves.toEqual(['held']);
  expect((await rig.guardStore.counts(24 * HOUR)).kinds.deactivate).toMatchObject({ used: 0, approved: 3 });
});

it('of two concurrent approvals of the same held changes one is stored, and the other returns `unknown`', async () => {
  await rig.guardStore.take(deactivations(1, 2, 3), guard(2));
  const id = (await rig.guardStore.open())?.id ?? '';
  const answers = await Promise.all([
    rig.guardStore.decide('approve', id, 'one'),
    rig.rival.decide('approve', id, 'two'),
  ]);
  expect(answers.map(({ kind }) => kind).sort()).toEqual(['decided', 'unknown']);
  await expect(rig.guardStore.decisions()).resolves.toHaveLength(1);
});

it('an approval limited to one user allows the changes of that user only', async () => {
  await rig.guardStore.take(deactivations(1, 2, 3), guard(2));
  await expect(rig.decide('approve', [user(2)])).resolves.toMatchObject({ items: 1 });
  await expect(rig.heldRefs()).resolves.toEqual([user(1), user(3)]);
});

it('an approval of all held changes of a kind resets the count of the kind, and an approval of a part does not', async () => {
  await rig.guardStore.take(deactivations(1, 2), guard(2));
  await rig.guardStore.take(deactivations(3, 6), guard(2));
  await rig.decide('approve', [user(6)]);
  expect((await rig.guardStore.counts(HOUR)).kinds.deactivate.used).toBe(2);
  await rig.decide('approve');
  await expect(rig.guardStore.take(deactivations(4, 5), guard(2))).resolves.toEqual(['allowed', 'allowed']);
});

describe('a decision whose process ends before all its changes are moved', () => {
  const MANY = 600;
  /** Changes that one script moves (stored-decisions.ts). */
  const PORTION = 120;
  const NOTE = { note: 'asked the HR team' };
  const allHeld = async () => (await rig.guardStore.counts(HOUR)).kinds.deactivate.held;
  /** Holds MANY changes and one more, and moves one portion of a decision about the first MANY. @returns the id of their list */
  const halfDecided = async (
    action: 'approve' | 'reject',
    choose?: (page: Destruction[]) => Destruction[],
  ) => {
    await rig.guardStore.holdAll(deactivations(...range(0, MANY)), HOUR);
    const id = (await rig.guardStore.open())?.id ?? '';
    await rig.guardStore.holdAll(deactivations(MANY), HOUR);
    await rig.rival.decide(action, id, 'ops', { ...NOTE, choose, portions: 1 });
    return id;
  };

  it.each(['approve', 'reject'] as const)(
    'after an interrupted order to %s, the next read of the decisions completes it, and a change held later stays held',
    async (action) => {
      const id = await halfDecided(action);
      expect(await allHeld()).toBe(MANY + 1 - PORTION);
      const [decision] = await rig.guardStore.decisions();
      expect(decision).toMatchObject({ id, action, ...NOTE, kinds: { deactivate: MANY } });
      await expect(rig.heldRefs()).resolves.toEqual([user(MANY)]);
      const { approved, rejected, held } = (await rig.guardStore.counts(HOUR)).kinds.deactivate;
      expect([approved, rejected, held]).toEqual(action === 'approve' ? [MANY, 0, 1] : [0, MANY, 1]);
      expect((await rig.store.marks()).size).toBe(MANY);
      await expect(rig.guardStore.decisions()).resolves.toHaveLength(1);
    },
  );

  it('a rejection after an interrupted approval first completes the approval, and rejects only the change that is still held', async () => {
    const id = await halfDecided('approve');
    const [, serial = ''] = /^(.*)-/.exec(id) ?? [];
    await expect(rig.guardStore.decide('reject', serial, 'ops')).resolves.toMatchObject({ items: 1 });
    const { approved, rejected, held } = (await rig.guardStore.counts(HOUR)).kinds.deactivate;
    expect([approved, rejected, held]).toEqual([MANY, 1, 0]);
  });

  it('after an interrupted rejection of a part of the held changes, the next read rejects the rest of that part and keeps the others held', async () => {
    await halfDecided('reject', (page) => page.slice(0, 400));
    const [decision] = await rig.guardStore.decisions();
    expect(decision?.kinds.deactivate).toBe(400);
    expect(decision?.items.length).toBeLessThanOrEqual(200);
    await expect(rig.heldRefs()).resolves.toHaveLength(MANY + 1 - 400);
    expect((await rig.store.families()).filter((key) => /guardChoice|guardDeciding/.test(key))).toEqual([]);
  });

  it('when a backup of an interrupted rejection of some held changes is restored, the rejection of exactly these changes is completed', async () => {
    await halfDecided('reject', (page) => page.slice(0, 400));
    await restore();
    const [choice] = await choices();
    expect(choice?.expiresInMs).toBeGreaterThan(HOUR);
    await expect(rig.heldRefs()).resolves.toHaveLength(MANY + 1 - 400);
    await expect(choices()).resolves.toEqual([]);
  });
});

it('when a backup with the first approval of some held changes is restored, the stored selection of changes still expires in Redis', async () => {
  await rig.guardStore.take(deactivations(1, 2, 3), guard(2));
  const id = (await rig.guardStore.open())?.id ?? '';
  const approver = { by: 'anna', identity: 'anna' };
  const choose = (page: Destruction[]) => page.slice(0, 1);
  await expect(rig.guardStore.decide('approve', id, 'anna', { approver, choose })).resolves.toMatchObject({
    kind: 'noted',
  });
  await restore();
  await expect(choices()).resolves.toEqual([{ expiresInMs: expect.any(Number) }]);
  for (const { expiresInMs } of await choices()) expect(expiresInMs).toBeGreaterThan(0);
});

it('an approval of held deactivations marks the users for a sync with the priority deactivation', async () => {
  await rig.guardStore.take(deactivations(1, 2, 3), guard(2));
  await rig.decide('approve');
  const claims = await rig.store.outbox.claim(10, 100);
  expect(claims.map(({ ref, priority }) => [ref, priority]).sort()).toEqual([
    [user(1), 'deactivation'],
    [user(2), 'deactivation'],
    [user(3), 'deactivation'],
  ]);
});

it('a rejected change stays rejected until the source reverts it, or an operator approves it', async () => {
  await rig.guardStore.take(deactivations(1, 2, 3), guard(2));
  const approval = (await rig.guardStore.open())?.id ?? '';
  await rig.decide('reject');
  await expect(rig.guardStore.take(deactivations(1, 2, 3), guard(100))).resolves.toEqual(
    Array(3).fill('rejected'),
  );
  await expect(rig.endSync(user(1), [])).resolves.toBe(1);
  await expect(rig.guardStore.take(deactivations(1), guard(100))).resolves.toEqual(['allowed']);
  await expect(rig.guardStore.decide('approve', approval, 'ops')).resolves.toMatchObject({
    kind: 'decided',
    items: 2,
  });
  await expect(rig.guardStore.take(deactivations(2, 3), guard(0))).resolves.toEqual(['allowed', 'allowed']);
});

it('an approval allows one write of each change, and the same change later is held again', async () => {
  await rig.guardStore.take(deactivations(1), guard(0));
  await rig.decide('approve');
  await rig.endSync(user(1), []);
  await expect(rig.guardStore.take(deactivations(1), guard(0))).resolves.toEqual(['held']);
});

it('a rejected removal stays rejected until the member is added again', async () => {
  const [ada, group] = [idOf('ada'), idOf('g')];
  const removal: Destruction[] = [{ kind: 'removeMembers', ref: `Group:${group}`, subject: ada }];
  await rig.store.putUser(ada, { userName: 'ada' });
  await rig.store.putGroup(group, 'Sales', [add(ada)]);
  await rig.store.members(group, drop(ada));
  await rig.guardStore.take(removal, guard(0));
  await rig.decide('reject');
  await rig.endSync(`Group:${group}`, []);
  await expect(rig.guardStore.take(removal, guard(9))).resolves.toEqual(['rejected']);
  await rig.store.members(group, add(ada));
  await rig.endSync(`Group:${group}`, []);
  await expect(rig.guardStore.take(removal, guard(9))).resolves.toEqual(['allowed']);
});

it('an approval older than 72 hours cannot be approved; its changes are judged anew, and allowed once they fit the limit', async () => {
  await rig.guardStore.take(deactivations(1, 2, 3), guard(2));
  const id = (await rig.guardStore.open())?.id ?? '';
  await passTime(rig.store, 73 * HOUR);
  await expect(rig.guardStore.decide('approve', id, 'ops')).resolves.toEqual({ kind: 'expired' });
  await rig.store.redis.zadd(rig.store.keys.key('alarms', 'main'), 1, user(1));
  await expect(rig.store.claimRefs()).resolves.toEqual([user(1)]);
  await expect(rig.guardStore.take(deactivations(1), guard(2))).resolves.toEqual(['held']);
  await expect(rig.heldRefs()).resolves.toEqual([user(1)]);
  await rig.endSync(user(2), []);
  await expect(rig.guardStore.take(deactivations(3), guard(2))).resolves.toEqual(['allowed']);
});

it.each([
  { limit: 1, verdict: 'held' },
  { limit: 2, verdict: 'allowed' },
] as const)(
  'two changes whose approval expired are judged together: under a limit of $limit each is $verdict',
  async ({ limit, verdict }) => {
    await rig.guardStore.take(deactivations(1, 2), guard(0));
    await passTime(rig.store, 73 * HOUR);
    await expect(rig.guardStore.take(deactivations(1), guard(limit))).resolves.toEqual([verdict]);
    await expect(rig.guardStore.take(deactivations(2), guard(limit))).resolves.toEqual([verdict]);
  },
);

it('an approved change counts as unwritten until its sync, and is held again if it is not written within 72 hours', async () => {
  await rig.guardStore.take(deactivations(1, 2), guard(0));
  await rig.decide('approve');
  await expect(rig.guardStore.arePermitted(deactivations(1, 2))).resolves.toEqual([true, true]);
  await rig.endSync(user(2), []);
  const [decision] = await rig.guardStore.decisions();
  await expect(rig.guardStore.countUnwritten(decision?.approvedUntil ?? 0)).resolves.toMatchObject({
    count: 1,
  });
  await passTime(rig.store, 73 * HOUR);
  await expect(rig.guardStore.arePermitted(deactivations(1))).resolves.toEqual([false]);
  let heldAgain = 0;
  const onHeldAgain = (): void => void heldAgain++;
  await expect(rig.guardStore.take(deactivations(1), guard(0), { onHeldAgain })).resolves.toEqual(['held']);
  await rig.guardStore.take(deactivations(1), guard(0), { onHeldAgain });
  expect(heldAgain).toBe(1);
});

it('the list of decisions has all 55 rejections in force, and at most 50 entries after they are withdrawn', async () => {
  const MANY = 55;
  await rig.guardStore.take(deactivations(...range(0, MANY)), guard(0));
  const list = (await rig.guardStore.open())?.id ?? '';
  for (let number = 0; number < MANY; number++)
    await rig.guardStore.decide('reject', list, 'ops', {
      choose: (page) => page.filter(({ ref }) => ref === user(number)),
    });
  const decisions = await rig.guardStore.decisions();
  expect(decisions).toHaveLength(MANY);
  const first = decisions.at(-1)?.id ?? '';
  await expect(rig.guardStore.decide('withdraw', first, 'ops')).resolves.toMatchObject({ items: 1 });
  const kept = (await rig.guardStore.decisions()).filter(
    ({ id, action }) => id === first && action === 'reject',
  );
  expect(kept).toHaveLength(1);
  await expect(rig.guardStore.decide('withdraw', list, 'ops')).resolves.toMatchObject({ items: MANY - 1 });
  await rig.guardStore.take(deactivations(MANY + 1), guard(0));
  await rig.decide('reject');
  expect(await rig.guardStore.decisions()).toHaveLength(50);
});

test('when an approval has expired and a later change is held, the former change has the state `expired` and the later one `held`', async () => {
  const { store, guardStore } = rig;
  const [former, later] = deactivations(1, 2) as [Destruction, Destruction];
  await guardStore.take([former], guard(0));
  await passTime(store, 73 * HOUR);
  const states = async () => {
    const statuses = await Promise.all([former, later].map(({ ref }) => store.outbox.resourceStatus(ref)));
    const ofResources = statuses.map((each) => each.guard[0]?.state);
    expect(await guardStore.statesOf([former, later])).toEqual(ofResources);
    return ofResources;
  };
  expect(await states()).toEqual(['expired', undefined]);
  expect((await guardStore.open())?.leftMs).toBeLessThan(0);
  await guardStore.take([later], guard(0));
  expect(await states()).toEqual(['expired', 'held']);
  expect(await guardStore.verdictsOn([former, later])).toEqual([undefined, 'held']);
  expect((await guardStore.open())?.leftMs).toBeGreaterThan(0);
  await guardStore.take([former], guard(0));
  expect(await states()).toEqual(['held', 'held']);
});

test('changes of an expired approval count as expired until a sync asks the guard about them again', async () => {
  const { store, guardStore } = rig;
  const expired = async () => (await guardStore.countHeld()).expired;
  expect(await expired()).toBe(0);
  await guardStore.take(deactivations(1, 2), guard(0));
  expect(await expired()).toBe(0);
  await passTime(store, 73 * HOUR);
  expect(await expired()).toBe(2);
  await guardStore.take(deactivations(3), guard(0));
  expect(await expired()).toBe(2);
  // The former changes stay expired when the guard holds nothing else.
  await rig.decide('approve');
  expect(await guardStore.open()).toBeUndefined();
  expect(await expired()).toBe(2);
  await guardStore.take(deactivations(1), guard(0));
  expect(await expired()).toBe(1);
});
