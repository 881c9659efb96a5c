// What a former version stored (ADR 0014): read as it is, left as it is while that version may still run, and then turned
// into the short forms by whatever is written.
import { createHash, randomUUID } from 'node:crypto';
import type { ArchiveLine } from '../../../src/directory/archive.ts';
import type { Link } from '../../../src/directory/links.ts';
import { add, drop, idOf, openStore, type Store } from './rig.ts';

const ADA = idOf('ada');
const BOB = idOf('bob');
const SALES = idOf('sales');
const OPS = idOf('ops');
const OVER = 1;

const ada = { userName: 'Ada@x.com', emails: [{ value: 'ada@x.com' }, { value: 'home@x.com' }] };
const bob = { userName: 'bob', externalId: 'B-1' };
const adaEntries = '[["userNames","ada@x.com"],["emails","ada@x.com"],["emails","home@x.com"]]';
const link: Link = { id: 'p-ada', core: { userName: 'ada@x.com', active: true }, origin: 'created' };

/** As the scripts of the former version left it. */
async function fillFormerly({ redis, keys }: Store): Promise<void> {
  const text = (resource: object, entries: string) =>
    `3 1700000000001 1700000000002 active ${entries}\n${JSON.stringify(resource)}`;
  const group = (name: string) => text({ displayName: name }, `[["displayNames","${name}"]]`);
  await redis.hset(keys.key('users'), {
    [ADA]: text(ada, adaEntries),
    [BOB]: text(bob, '[["userNames","bob"],["externalIds:User","B-1"]]'),
  });
  await redis.hset(keys.key('groups'), { [SALES]: group('sales'), [OPS]: group('ops') });
  await redis.hset(keys.key('groupNames'), { [SALES]: 'sales', [OPS]: 'ops' });
  await redis.hset(keys.key('displayNames'), { sales: SALES, ops: OPS });
  await redis.zadd(keys.key('order', 'User'), 1, ADA, 2, BOB);
  await redis.zadd(keys.key('order', 'Group'), 3, SALES, 4, OPS);
  await redis.set(keys.key('sequence'), 4);
  await redis.hset(keys.key('userNames'), { 'ada@x.com': ADA, bob: BOB });
  await redis.hset(keys.key('externalIds:User'), 'B-1', BOB);
  await redis.hset(keys.key('emails'), { 'ada@x.com': ADA, 'home@x.com': ADA });
  for (const id of [SALES, OPS]) await redis.sadd(keys.key('members', id), ADA, BOB);
  for (const id of [ADA, BOB]) await redis.sadd(keys.key('memberships', id), SALES, OPS);
  await redis.set(keys.key('memberCount'), 4);
  await redis.hset(keys.key('links', 'main'), `User:${ADA}`, JSON.stringify(link));
  await redis.hset(keys.key('linked', 'main'), 'User:p-ada', `User:${ADA}`);
}

describe('a directory of a former version', () => {
  let store: Store;
  const groupsOf = async (id: string): Promise<string[]> =>
    (await store.state.directory.groupsOf([id])).flatMap((groups) => groups.map((group) => group.id)).sort();
  const find = (value: string) => store.state.directory.lookup('User', 'emails.value', value);
  const entriesOf = async (id: string): Promise<string> =>
    /^\S+ \S+ \S+ \S+ (.*)$/m.exec((await store.redis.hget(store.keys.key('users'), id)) ?? '')?.[1] ?? '';
  const linkText = () => store.redis.hget(store.keys.key('links', 'main'), `User:${ADA}`);
  const formerSets = async () => (await store.families()).filter((key) => key.startsWith('memberships:'));
  /** Everything that writes one of the forms, once. */
  async function writeEverything(): Promise<void> {
    await store.putUser(ADA, { ...ada, title: 'Countess' });
    await store.putGroup(idOf('new'), 'new', [add(ADA)]);
    await store.members(OPS, drop(ADA));
    const work = await store.begun(`User:${ADA}`);
    await store.outbox.save(work, work.link);
    await store.outbox.ack(work, work.link, { kind: 'synced' });
  }

  beforeEach(async () => {
    store = await openStore();
    await fillFormerly(store);
  });
  afterEach(() => store.close());

  it('is read', async () => {
    const { directory, links } = store.state;
    await expect(groupsOf(ADA)).resolves.toEqual([OPS, SALES]);
    await expect(find('ADA@x.com')).resolves.toEqual([ADA]);
    await expect(directory.lookup('Group', 'members.value', BOB)).resolves.toEqual(
      expect.arrayContaining([SALES, OPS]),
    );
    await expect(links.get('main', `User:${ADA}`)).resolves.toMatchObject(link);
    await store.outbox.mark([`User:${ADA}`], 'edit');
    const work = await store.begun(`User:${ADA}`);
    expect([work.link, work.groups.map(({ displayName }) => displayName).sort()]).toEqual([
      link,
      ['ops', 'sales'],
    ]);
  });

  it('stays readable for that version until its processes have had time to go', async () => {
    await writeEverything();
    await expect(store.redis.smembers(store.keys.key('memberships', ADA))).resolves.toEqual(
      expect.arrayContaining([SALES, idOf('new')]),
    );
    await expect(groupsOf(ADA)).resolves.toEqual([idOf('new'), SALES].sort());
    await expect(entriesOf(ADA)).resolves.toBe(adaEntries);
    await expect(store.redis.hget(store.keys.key('emails'), 'ada@x.com')).resolves.toBe(ADA);
    expect(JSON.parse((await linkText()) ?? '')).toMatchObject(link);
    expect(await store.families()).not.toContain('groupsOf');
    const from = Number(await store.redis.get(store.keys.key('forms')));
    expect(from - Date.now()).toBeGreaterThan(50 * 60_000);
  });

  it('a user who comes while it may still run is found by it too', async () => {
    const EVE = idOf('eve');
    const emails = [{ value: 'eve@x.com' }];
    await expect(store.putUser(EVE, { userName: 'eve@x.com', emails })).resolves.toMatchObject({
      kind: 'stored',
    });
    await expect(entriesOf(EVE)).resolves.toBe('[["userNames","eve@x.com"],["emails","eve@x.com"]]');
    await expect(store.redis.hget(store.keys.key('emails'), 'eve@x.com')).resolves.toBe(EVE);
    await store.remove('User', EVE);
    await expect(store.redis.hget(store.keys.key('emails'), 'eve@x.com')).resolves.toBeNull();
  });

  it('takes the short forms with what is written later, and loses nothing on the way', async () => {
    await store.redis.set(store.keys.key('forms'), OVER);
    await writeEverything();
    await expect(groupsOf(ADA)).resolves.toEqual([idOf('new'), SALES].sort());
    await expect(formerSets()).resolves.toEqual([`memberships:${BOB}`]);
    await expect(entriesOf(ADA)).resolves.toBe('[["m","ada@x.com"],["e","home@x.com"]]');
    await expect(find('ada@x.com')).resolves.toEqual([ADA]);
    await expect(store.redis.hkeys(store.keys.key('emails'))).resolves.toEqual(['home@x.com']);
    await expect(store.state.links.get('main', `User:${ADA}`)).resolves.toMatchObject(link);
    expect((await linkText())?.length).toBeLessThan(JSON.stringify(link).length);

    // Names are free again, and a user that nobody has written since is removed with everything that was his.
    await expect(store.putUser(ADA, { userName: 'ada' })).resolves.toMatchObject({ kind: 'stored' });
    await store.remove('User', BOB);
    await expect(store.putUser(idOf('eve'), { userName: 'bob', externalId: 'B-1' })).resolves.toMatchObject({
      kind: 'stored',
    });
    await expect(find('ada@x.com')).resolves.toEqual([]);
    await expect(formerSets()).resolves.toEqual([]);
    await expect(store.membersOf(SALES)).resolves.toEqual([ADA]);
    await expect(store.redis.get(store.keys.key('memberCount'))).resolves.toBe('2');
  });

  it('is put back from a backup as a new directory', async () => {
    const { archive } = store.state;
    const lines: ArchiveLine[] = [];
    for await (const line of archive.dump()) lines.push(line);
    await archive.clear();
    const isRecord = ({ family }: ArchiveLine): boolean => family === 'users' || family === 'groups';
    for (const line of lines.filter(isRecord)) await archive.load(line);
    for (const line of lines.filter((each) => !isRecord(each))) await archive.load(line);
    await archive.finish();
    await expect(groupsOf(ADA)).resolves.toEqual([OPS, SALES]);
    await expect(formerSets()).resolves.toEqual([]);
    await expect(find('home@x.com')).resolves.toEqual([ADA]);
    await writeEverything();
    await expect(entriesOf(ADA)).resolves.toBe('[["m","ada@x.com"],["e","home@x.com"]]');
    await expect(store.state.links.get('main', `User:${ADA}`)).resolves.toMatchObject(link);
  });

  it('counts a deactivation for the guard, whichever form the link has', async () => {
    for (const forms of [Date.now() + 1e9, OVER]) {
      await store.redis.set(store.keys.key('forms'), forms);
      await store.putUser(ADA, { ...ada, active: true, title: `${forms}` });
      const work = await store.begun(`User:${ADA}`);
      await store.outbox.ack(work, link, { kind: 'synced' });
      await store.putUser(ADA, { ...ada, active: false }, 'deactivation');
      await expect(store.redis.scard(store.keys.key('guardWaiting', 'main'))).resolves.toBe(1);
      await store.outbox.ack(
        await store.begun(`User:${ADA}`),
        { ...link, core: { active: false } },
        { kind: 'synced' },
      );
      await store.putUser(ADA, { ...ada, active: true });
      await store.putUser(ADA, { ...ada, active: false }, 'deactivation');
      await expect(store.redis.scard(store.keys.key('guardWaiting', 'main'))).resolves.toBe(0);
      await store.outbox.ack(await store.begun(`User:${ADA}`), link, { kind: 'synced' });
    }
  });
});

it('a user in sync, with indexes, link and one membership, takes at most 2.5 KB of Redis', async () => {
  const store = await openStore();
  try {
    const count = 300;
    const ids = Array.from({ length: count }, (_, index) => String(index).padStart(20, 'u'));
    const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
    for (const id of ids) await store.putUser(id, personOf(id, digest(id)));
    await store.putGroup(SALES, 'Sales', [add(...ids)]);
    await store.settleAll();
    for (const id of ids) {
      const { userName, externalId, name } = personOf(id, digest(id));
      const core = {
        userName,
        externalId,
        emails: userName,
        active: true,
        displayName: `${name.givenName} Doe`,
      };
      const names = { 'name.givenName': name.givenName, 'name.familyName': 'Doe' };
      await store.outbox.mark([`User:${id}`], 'edit');
      const work = await store.begun(`User:${id}`);
      const attributes = { region: 'Lisbon', clearance: 3 };
      const more = { writtenAt: Date.now(), origin: 'created' as const, account: '123456' };
      const whole: Link = { id: randomUUID(), core: { ...core, ...names }, attributes, ...more };
      await store.outbox.save(work, whole, { linked: true });
      await store.outbox.ack(work, whole, { kind: 'synced' });
    }
    let bytes = 0;
    for (const family of await store.families()) {
      if (!/^(tickets|dirty|inflight|sequence)/.test(family))
        bytes += Number(await store.redis.call('MEMORY', 'USAGE', store.keys.key(family), 'SAMPLES', '0'));
    }
    expect(Math.round(bytes / count)).toBeLessThanOrEqual(2500);
  } finally {
    await store.close();
  }
});

/** A full profile: 1.1 kB as it is stored. */
function personOf(id: string, digest: string) {
  const userName = `person.${id.slice(-6)}@company.example.com`;
  const name = { givenName: `Person ${id.slice(-4)}`, familyName: 'Doe' };
  const emails = [
    { value: userName, type: 'work', primary: true },
    { value: `home.${id.slice(-6)}@example.org`, type: 'home' },
  ];
  const rest = digest.repeat(12);
  return { userName, externalId: digest.slice(0, 20), name, emails, title: rest.slice(0, 820) };
}
