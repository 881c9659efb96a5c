// Tests the repair of lost or damaged derived data from the records.
import fc from 'fast-check';
import type { Finding } from '../../../src/directory/proof/findings.ts';
import { isRepaired } from '../../../src/directory/outbox/mapped-by.ts';
import { add, drop, idOf, openStore, type Store } from '../lua/rig.ts';
import { createRandom } from '../../support/company.ts';

const ORDER = { repair: true, request: 'repair' };
const SYNCED = { kind: 'synced' } as const;
const ADA = idOf('ada');
const SALES = idOf('sales');

/** Makes the same pushes for the same seed. */
async function push(store: Store, seed: number, steps = 40, first = 0): Promise<void> {
  const random = createRandom(seed);
  const of = (most: number): number => Math.floor(random() * most);
  const user = (): string => idOf(`u${of(8)}`);
  const group = (): string => idOf(`g${of(4)}`);
  for (let step = first; step < first + steps; step++) {
    const what = random();
    const [one, other, number] = [user(), group(), of(6)];
    if (what < 0.45) {
      const userName = `${one.slice(0, 2)}.${number}@x.com`;
      const emails = [{ value: userName }, { value: `shared${number}@x.com` }];
      await store.putUser(one, {
        userName,
        externalId: `e-${one.slice(0, 2)}-${number}`,
        emails,
        active: number > 0,
      });
    } else if (what < 0.6) await store.putGroup(other, `${other.slice(0, 2)} ${number}`, [add(one)]);
    else if (what < 0.85) await store.members(other, add(one, user()), drop(user()));
    else if (what < 0.92) await store.members(other, add(`later${number}`));
    else if (what < 0.96) await store.remove('User', one);
    else await store.remove('Group', other);
    if (step === first + 20) await store.settleAll();
  }
}

/** Returns all derived data without numbers and times. */
async function derived(store: Store): Promise<Record<string, unknown>> {
  const { redis, keys } = store;
  const all: Record<string, unknown> = {};
  for (const family of await store.families()) {
    const key = keys.key(family);
    if (/^(sequence|tombstones|gone|log|lease|users$|groups$|mapped|runs$)/.test(family)) continue;
    const type = await redis.type(key);
    if (family === 'memberCount')
      all[family] = (await redis.get(key)) === '0' ? undefined : await redis.get(key);
    else if (type === 'string') all[family] = await redis.get(key);
    else if (type === 'set') all[family] = (await redis.smembers(key)).sort();
    else if (type === 'zset') all[family] = (await redis.zrange(key, '0', '-1')).sort();
    else {
      const fields = Object.entries(await redis.hgetall(key));
      const bare = fields.map(([field, value]) => {
        if (/^(marks|deliveries):/.test(family)) return [field, ''];
        return [
          field,
          /^links/.test(family)
            ? value.replace(/"observedGeneration":"[^"]*"/g, '')
            : value.split(',').sort().join(),
        ];
      });
      all[family] = Object.fromEntries(bare.sort());
    }
  }
  return all;
}

const DERIVED =
  /^(userNames|externalIds|emails|displayNames|groupNames|order|groupsOf|memberCount|references|dirty|linked|pendingGroups)/;

/** Deletes, overwrites or adds to a share of the derived keys. */
async function damage(store: Store, seed: number): Promise<void> {
  const { redis, keys } = store;
  const random = createRandom(seed);
  for (const family of (await store.families()).filter((each) => DERIVED.test(each))) {
    if (random() < 0.4) continue;
    const key = keys.key(family);
    const type = await redis.type(key);
    const how = random();
    if (how < 0.3 || type === 'string') await redis.del(key);
    else if (type === 'zset')
      await redis.zrem(key, ...(await redis.zrange(key, '0', '-1')).filter(() => random() < 0.5), '-');
    else if (type === 'set') await redis.sadd(key, `${idOf('ghost')} nobody`);
    else {
      for (const field of await redis.hkeys(key)) {
        if (random() < 0.4) await redis.hdel(key, field);
        else if (random() < 0.3 && !/^(linked|pendingGroups|groupNames)/.test(family))
          await redis.hset(key, field, idOf('u0'));
      }
      if (!/^pendingGroups/.test(family)) await redis.hset(key, `surplus ${how}`, idOf('ghost'));
    }
  }
}

/** Returns the findings of which at least one fault was not repaired. */
const unrepaired = (findings: Finding[]): Finding[] =>
  findings.filter(({ count, repaired }) => repaired < count);

test('after any derived data was lost or damaged, one repair makes it equal to that of an undamaged store', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(), async (story, accident) => {
      const [twin, store] = await Promise.all([openStore(), openStore()]);
      try {
        await push(twin, story);
        await push(store, story);
        expect(await store.state.proof.run({ repair: false, request: '-' })).toEqual([]);
        await damage(store, accident);
        expect(unrepaired(await store.state.proof.run(ORDER))).toEqual([]);
        expect(await store.state.proof.run({ repair: false, request: '-' })).toEqual([]);
        expect(await derived(store)).toEqual(await derived(twin));
      } finally {
        await Promise.all([twin.close(), store.close()]);
      }
    }),
    { numRuns: 25, interruptAfterTimeLimit: 40_000 },
  );
});

test('a repair during pushes and syncs finds no fault, and a proof after them finds none either', async () => {
  const store = await openStore();
  try {
    await push(store, 1);
    let isOver = false;
    const pushes = (async () => {
      for (let round = 2; round < 8; round++) await push(store, round);
      isOver = true;
    })();
    while (!isOver) expect(await store.state.proof.run(ORDER)).toEqual([]);
    await pushes;
    expect(await store.state.proof.run({ repair: false, request: '-' })).toEqual([]);
  } finally {
    await store.close();
  }
});

test('`doctor --repair` leaves a damaged user record and a link without its group to an operator, and keeps the user in the group', async () => {
  const store = await openStore();
  try {
    await store.putUser(ADA, { userName: 'ada' });
    await store.putGroup(SALES, 'Sales', [add(ADA)]);
    await store.settleAll();
    const [users, links] = [store.keys.key('users'), store.keys.key('links', 'main')];
    const stored = await store.redis.hget(users, ADA);
    await store.redis.hset(users, ADA, `${stored}x`);
    await store.redis.hset(links, `Group:${idOf('ops')}`, '{"id":"p-ops"}');
    const findings = await store.state.proof.run(ORDER);
    expect(unrepaired(findings).map(({ family, fault, examples }) => [family, fault, ...examples])).toEqual([
      ['users', 'damaged', `User:${ADA}`],
      ['links', 'lost', `Group:${idOf('ops')}`],
    ]);
    await expect(store.membersOf(SALES)).resolves.toEqual([ADA]);
  } finally {
    await store.close();
  }
});

test('a repair restores the lost link of a user from its reverse link and makes the memberships of the user pending', async () => {
  const store = await openStore();
  try {
    await store.putUser(ADA, { userName: 'ada' });
    await store.putGroup(SALES, 'Sales', [add(ADA)]);
    await store.settleAll();
    await store.redis.hdel(store.keys.key('links', 'main'), `User:${ADA}`);
    await store.redis.set(store.keys.key('mapped', 'main'), 'digest');
    expect(await store.state.proof.run(ORDER)).toMatchObject([
      { family: 'links', fault: 'missing', repaired: 1 },
    ]);
    await expect(store.state.links.get('main', `User:${ADA}`)).resolves.toEqual({ id: `p-${ADA}` });
    expect([...(await store.marks()).keys()].sort()).toEqual([`Group:${SALES}`, `User:${ADA}`]);
    await expect(store.outbox.pendingMembers(SALES)).resolves.toEqual(new Map([[ADA, '+']]));
    const runs = store.state.runs.get('main');
    const before = await runs?.mappedBy();
    expect(isRepaired(before)).toBe(true);
    // A second repair during a run that began after the first one asks for one more run.
    await store.state.proof.run(ORDER);
    expect(await runs?.noteMapped('digest', before)).toBe(false);
  } finally {
    await store.close();
  }
});

test('when a repair ends a pending removal that contradicts the membership, a group that waits for this removal is marked', async () => {
  const store = await openStore();
  try {
    const CREW = idOf('crew');
    await store.putUser(ADA, { userName: 'ada' });
    await store.putGroup(SALES, 'Sales', [add(ADA)]);
    await store.settleAll();
    await store.putGroup(CREW, 'Crew', [add(ADA)]);
    for (const family of [`pendingMembers main:${SALES} ${ADA}`, `pendingGroups main:${ADA} ${SALES}`]) {
      const [name = '', key = '', field = ''] = family.split(' ');
      await store.redis.hset(store.keys.key(name, key), field, '-');
    }
    await store.claimRefs();
    await store.outbox.ack(await store.begun(`Group:${CREW}`), {}, SYNCED);
    expect([...(await store.marks()).keys()]).not.toContain(`Group:${CREW}`);
    await store.state.proof.run(ORDER);
    await expect(store.outbox.pendingMembers(SALES)).resolves.toEqual(new Map([[ADA, '+']]));
    expect([...(await store.marks()).keys()].sort()).toEqual([`Group:${CREW}`, `Group:${SALES}`].sort());
  } finally {
    await store.close();
  }
});

test('a repair restores a lost member set from `groupsOf`, but adds no single missing member to a present set', async () => {
  const store = await openStore();
  try {
    const BOB = idOf('bob');
    await store.putUser(ADA, { userName: 'ada' });
    await store.putUser(BOB, { userName: 'bob' });
    await store.putGroup(SALES, 'Sales', [add(ADA, BOB)]);
    await store.redis.del(store.keys.key('members', SALES));
    await store.state.proof.run(ORDER);
    await expect(store.membersOf(SALES)).resolves.toEqual([ADA, BOB]);
    await store.redis.srem(store.keys.key('members', SALES), BOB);
    expect(await store.state.proof.run(ORDER)).toContainEqual(
      expect.objectContaining({ family: 'groupsOf', fault: 'surplus', repaired: 1 }),
    );
    await expect(store.membersOf(SALES)).resolves.toEqual([ADA]);
  } finally {
    await store.close();
  }
});

test('a wrong `memberCount` (memberships of all groups) is found and repaired while pushes change groups', async () => {
  const store = await openStore();
  try {
    await push(store, 1);
    await store.redis.incrby(store.keys.key('memberCount'), 7);
    let isOver = false;
    const pushes = (async () => {
      for (let round = 2; round < 5; round++) await push(store, round);
      isOver = true;
    })();
    const findings = await store.state.proof.run(ORDER);
    expect(isOver).toBe(false);
    expect(findings).toMatchObject([{ family: 'memberCount', fault: 'wrong', count: 1, repaired: 1 }]);
    await pushes;
    const groups = (await store.families()).filter((family) => family.startsWith('members:'));
    const sizes = await Promise.all(groups.map((family) => store.redis.scard(store.keys.key(family))));
    const sum = sizes.reduce((all, size) => all + size, 0);
    await expect(store.redis.get(store.keys.key('memberCount'))).resolves.toBe(String(sum));
    expect(await store.families()).not.toContain('memberSum');
  } finally {
    await store.close();
  }
});

test('a repair that was killed while it restored a member set is completed by the next repair', async () => {
  const store = await openStore();
  try {
    const people = Array.from({ length: 600 }, (_, index) => idOf(`p${1000 + index}`));
    for (const id of people) await store.putUser(id, { userName: id });
    await store.putGroup(SALES, 'Sales', [add(...people)]);
    await store.redis.del(store.keys.key('members', SALES));
    const killed = new AbortController();
    const first = store.state.proof.run({
      ...ORDER,
      signal: killed.signal,
      onLooked: () => killed.abort(new Error('killed')),
    });
    await expect(first).rejects.toThrow('killed');
    const restored = await store.redis.scard(store.keys.key('members', SALES));
    expect([restored > 0, restored < people.length]).toEqual([true, true]);
    await store.state.proof.run(ORDER);
    expect((await store.membersOf(SALES)).length).toBe(people.length);
    expect(await store.families()).not.toContain('rebuilding');
  } finally {
    await store.close();
  }
});

test('a proof counts a surplus pending membership once for each target, although two key families store it', async () => {
  const store = await openStore({ targets: ['main', 'other'] });
  try {
    await store.putUser(ADA, { userName: 'ada' });
    await store.putUser(idOf('bob'), { userName: 'bob' });
    await store.putGroup(SALES, 'Sales');
    await store.settleAll();
    for (const target of ['main', 'other']) {
      await store.redis.hset(store.keys.key('pendingMembers', `${target}:${SALES}`), ADA, '+');
      await store.redis.hset(store.keys.key('pendingGroups', `${target}:${ADA}`), SALES, '+');
    }
    await store.redis.hset(store.keys.key('userNames'), 'ada', idOf('bob'));
    const found = await store.state.proof.run({ repair: false, request: '-' });
    expect(found.map(({ family, fault, count }) => `${family} ${fault} ${count}`)).toEqual([
      'userNames surplus 1',
      'pendingMembers surplus 2',
      'synced surplus 1',
    ]);
  } finally {
    await store.close();
  }
});

test('a repair of the lost link of a large group makes all its memberships pending, also if an earlier repair was killed', async () => {
  const store = await openStore();
  try {
    const people = Array.from({ length: 600 }, (_, index) => idOf(`p${1000 + index}`));
    for (const id of people) await store.putUser(id, { userName: id });
    await store.putGroup(SALES, 'Sales', [add(...people)]);
    await store.settleAll();
    await store.redis.hdel(store.keys.key('links', 'main'), `Group:${SALES}`);
    const pending = (): Promise<number> =>
      store.redis.hlen(store.keys.key('pendingMembers', `main:${SALES}`));
    await store.state.proof.run(ORDER);
    await expect(pending()).resolves.toBe(people.length);
    expect(await store.families()).not.toContain('readding:main');
    expect([...(await store.marks()).keys()]).toEqual([`Group:${SALES}`]);
    await store.settleAll();
    // A repair that is killed after storing the link leaves this state.
    await store.redis.hset(store.keys.key('readding', 'main'), SALES, '0');
    await store.state.proof.run(ORDER);
    await expect(pending()).resolves.toBe(people.length);
  } finally {
    await store.close();
  }
});
