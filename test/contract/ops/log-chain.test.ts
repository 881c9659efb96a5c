// Tests the hash chains of the logs against changes in Redis, and the merged order of several logs.
import { createActs } from '../../../src/directory/logs/acts.ts';
import { createKeyspace } from '../../../src/directory/keys.ts';
import { NO_REQUEST } from '../../../src/directory/records.ts';
import { createProvisioningLog, type LogEntry } from '../../../src/directory/logs/provisioning-log.ts';
import { verifyActs, readActs } from '../../../src/ops/log/acts.ts';
import { readLog, searchLog, type LogFilter, type LogSource } from '../../../src/ops/log/provisioning-log.ts';
import { eventually } from '../../support/eventually.ts';
import { idOf, openStore, type Store } from '../lua/rig.ts';

const entry = (serial: number): LogEntry => ({
  ref: `User:${idOf('a')}`,
  name: `n${serial}`,
  action: 'update',
  status: 'success',
  changes: [['userName', 'before', `n${serial}`]],
  request: NO_REQUEST,
  generation: '1',
  accepted: 0,
  priority: 'edit',
  attempt: 1,
});

describe('the hash chain of a log with 250 entries', () => {
  let store: Store;
  let log: Store['outbox']['log'];
  let ids: string[];
  const key = (family: string): string => store.keys.key(family, 'main');

  beforeEach(async () => {
    store = await openStore();
    log = store.outbox.log;
    await log.append(Array.from({ length: 250 }, (_, serial) => entry(serial)));
    ids = (await store.redis.xrange(key('log'), '-', '+')).map(([id]) => id);
    expect(await log.verify()).toEqual({ entries: 250, forgotten: 0, broken: undefined });
  });
  afterEach(() => store.close());

  test.each([
    ['the oldest entry', 0, 1],
    ['the newest entry', 249, 'the end'],
    ['an entry in the middle', 120, 121],
  ])(
    'when %s of a log is deleted, verification names the entry after it, or the end of the log',
    async (_name, place, expected) => {
      await store.redis.xdel(key('log'), ids[place] ?? '');
      expect((await log.verify()).broken).toBe(typeof expected === 'number' ? ids[expected] : expected);
    },
  );

  test('verification of a log whose entries are all deleted names the end of the log', async () => {
    await store.redis.del(key('log'));
    expect((await log.verify()).broken).toBe('the end');
  });

  test('after a log and its hash chain were deleted, verification reports a break at the end, and after a new entry at this entry', async () => {
    await store.redis.del(key('log'), key('logChain'), key('logPersonal'));
    expect(await log.verify()).toEqual({ entries: 0, forgotten: 0, broken: 'the end' });
    await log.append([entry(250)]);
    expect((await log.verify()).broken).toBe(await log.newestId());
  });

  test('verification of a log names the entry whose personal data was changed or deleted', async () => {
    const [at = ''] = ids;
    const text = (await store.redis.hget(key('logPersonal'), at)) ?? '';
    await store.redis.hset(key('logPersonal'), at, text.replace('n0', 'changed'));
    expect((await log.verify()).broken).toBe(at);
    await store.redis.hset(key('logPersonal'), at, text);
    expect((await log.verify()).broken).toBeUndefined();
    await store.redis.hdel(key('logPersonal'), at);
    expect((await log.verify()).broken).toBe(at);
  });

  test('after the retention has removed old entries, verification of the log succeeds from the new start', async () => {
    const short = createProvisioningLog(store, {
      target: 'main',
      limits: { maxEntries: 20, maxAgeMs: 60_000 },
    });
    await short.trim();
    expect(await short.verify()).toEqual({ entries: 20, forgotten: 0, broken: undefined });
    expect(await store.redis.hlen(key('logPersonal'))).toBe(20);
    await short.append([entry(250)]);
    expect(await short.verify()).toEqual({ entries: 20, forgotten: 0, broken: undefined });
  });

  test('verification of a log succeeds while entries are added', async () => {
    const limits = { maxEntries: 250, maxAgeMs: 60_000 };
    const full = createProvisioningLog(store, { target: 'main', limits });
    let isWriting = true;
    const writing = (async () => {
      for (let serial = 0; isWriting; serial++) await full.append([entry(serial), entry(serial)]);
    })();
    for (let check = 0; check < 20; check++) expect((await log.verify()).broken).toBeUndefined();
    isWriting = false;
    await writing;
  });

  test('a log that is dumped while entries are added passes verification after its restore', async () => {
    const full = createProvisioningLog(store, {
      target: 'main',
      limits: { maxEntries: 250, maxAgeMs: 60_000 },
    });
    const lines = [];
    for await (const line of store.state.archive.dump()) {
      lines.push(line);
      for (let round = 0; round < 5; round++) await full.append(Array.from({ length: 60 }, () => entry(0)));
    }
    await store.state.archive.clear({ tokens: true });
    for (const line of lines) await store.state.archive.load(line);
    expect(await log.verify()).toEqual({ entries: 250, forgotten: 0, broken: undefined });
  });

  /** Starts a dump of the log, and returns it where it has read the first entries. */
  async function dumpUpToLog() {
    const dump = store.state.archive.dump();
    for (;;) {
      const { value } = await dump.next();
      if (value?.key === 'log:main') return dump;
    }
  }
  const readers = (): string => store.keys.key('wholeReads');

  test('a reader of a whole log stands still longer than its protection lasts → the protection is renewed', async () => {
    const dump = await dumpUpToLog();
    // All but ten seconds of the protection have passed.
    await store.redis.pexpire(readers(), 10_000);
    await eventually('renewed', async () => (await store.redis.pttl(readers())) > 20_000);
    await dump.return(undefined);
    expect(await store.redis.exists(readers())).toBe(0);
  });

  test('a reader of a whole log ends after its protection has expired → the log of a later reader is not trimmed', async () => {
    const first = await dumpUpToLog();
    await store.redis.del(readers());
    await first.return(undefined);
    const later = await dumpUpToLog();
    const short = createProvisioningLog(store, {
      target: 'main',
      limits: { maxEntries: 20, maxAgeMs: 60_000 },
    });
    await short.trim();
    expect(await store.redis.xlen(key('log'))).toBe(250);
    await later.return(undefined);
    await short.trim();
    expect(await store.redis.xlen(key('log'))).toBe(20);
  });
});

describe('three logs read in one order', () => {
  let store: Store;
  let sources: LogSource[];
  beforeAll(async () => {
    store = await openStore();
    const logs = ['one', 'two'].map((target) => createProvisioningLog(store, { target }));
    const keys = createKeyspace(store.prefix, 'other');
    const other = createProvisioningLog({ ...store, keys }, { target: 'one' });
    sources = [
      { connection: 'default', outboxes: new Map(logs.map((log) => [log.target, { log }])) },
      { connection: 'other', outboxes: new Map([['one', { log: other }]]) },
    ];
    for (let serial = 0; serial < 330; serial++)
      await [logs[0], other, logs[1], logs[0]][serial % 4]?.append([entry(serial)]);
  });
  afterAll(() => store.close());

  const read = async (filter: LogFilter, most = Infinity) => {
    const found = [];
    for await (const each of readLog(sources, filter)) {
      if (found.length >= most) break;
      found.push(each);
    }
    return found;
  };

  test('entries of several logs are ordered by time, and pages of any size keep that order', async () => {
    const all = await read({});
    expect(all).toHaveLength(330);
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).sort((a, b) => b - a));
    const ids = all.map(({ connection, target, id }) => `${connection}.${target}.${id}`);
    expect(new Set(ids).size).toBe(330);
    for (const size of [1, 7, 100]) {
      const paged: string[] = [];
      for (let before: string | undefined; ; before = paged.at(-1)) {
        const page = await read({ before }, size);
        if (page.length === 0) break;
        paged.push(...page.map(({ connection, target, id }) => `${connection}.${target}.${id}`));
      }
      expect(paged).toEqual(ids);
    }
  });

  test('a log search continued from each returned position finds every matching entry once, in order', async () => {
    const refs = [`User:${idOf('rare')}` as const];
    for (const outbox of sources.flatMap(({ outboxes }) => [...outboxes.values()]))
      await outbox.log.append([{ ...entry(1), ref: refs[0] as LogEntry['ref'] }, entry(2)]);
    const whole = (await read({ refs })).map(({ id }) => id);
    expect(whole).toHaveLength(3);
    const found: string[] = [];
    let before: string | undefined;
    for (let rounds = 0; ; rounds++) {
      const step = (await searchLog(sources, { refs, before }).next()).value;
      if (!step) break;
      if (step.entry) found.push(step.entry.id);
      before = step.place;
      expect(rounds).toBeLessThan(100);
    }
    expect(found).toEqual(whole);
  });

  test('the log filtered by connection, target or time has exactly the entries that match', async () => {
    const all = await read({});
    const at = all[150]?.at ?? 0;
    expect(await read({ connection: 'other' })).toEqual(
      all.filter(({ connection }) => connection === 'other'),
    );
    expect(await read({ target: 'two' })).toEqual(all.filter(({ target }) => target === 'two'));
    expect(await read({ since: at })).toEqual(all.filter((each) => each.at >= at));
    expect(await read({ until: at })).toEqual(all.filter((each) => each.at <= at));
  });

  test('audit entries of two connections are returned by time, and verification names the entry after a removed one', async () => {
    const acts = ['a', 'b'].map((connection) => ({
      connection,
      acts: createActs({ ...store, keys: createKeyspace(store.prefix, connection) }),
    }));
    for (let serial = 0; serial < 6; serial++) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      await acts[serial % 2]?.acts.record({ act: 'resync', by: `by ${serial}`, via: 'command', note: 'why' });
    }
    const found = [];
    for await (const each of readActs(acts)) found.push(each);
    expect(found.map(({ by }) => by)).toEqual(['by 5', 'by 4', 'by 3', 'by 2', 'by 1', 'by 0']);
    expect(found[0]).toMatchObject({ connection: 'b', note: 'why' });
    const [oldest] = await store.redis.xrange(`${store.prefix}:{b}:acts`, '-', '+', 'COUNT', 1);
    await store.redis.xdel(`${store.prefix}:{b}:acts`, oldest?.[0] ?? '');
    expect(await verifyActs(acts)).toMatchObject([
      { connection: 'a', entries: 3, broken: null },
      { connection: 'b', broken: found[2]?.id },
    ]);
  });
});
