// Tests relay and worker over real BullMQ: every mark reaches the handler, also after losses of the queue.
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { connectRedis } from '../../../src/directory/redis/connection.ts';
import type { Ref } from '../../../src/directory/records.ts';
import {
  createRelay,
  jobId,
  BULLMQ_PRIORITY,
  queueName,
  queuePrefix,
  STREAMS,
  streamOf,
  type Relay,
  type SyncJob,
} from '../../../src/queue/relay.ts';
import { createSyncWorker, type SyncHandler, type SyncWorker } from '../../../src/queue/worker.ts';
import { systemClock } from '../../../src/support/sources.ts';
import { createLogger, silentLogger } from '../../../src/support/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { idOf, openStore, type Store } from '../lua/rig.ts';

const ADA = idOf('ada');
const USER: Ref = `User:${ADA}`;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('delivery of marks through BullMQ', () => {
  let store: Store;
  let queueRedis: Redis;
  let relays: Relay[];
  let workers: SyncWorker[];
  const clock = systemClock;
  let logger = silentLogger;

  beforeEach(async () => {
    store = await openStore({ leaseMs: 400 });
    queueRedis = connectRedis({ url: process.env.TEST_REDIS_URL ?? '' }, 'queue', logger);
    relays = [];
    workers = [];
  });

  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop(100)));
    await Promise.all(relays.map((relay) => relay.stop()));
    await store.close();
    queueRedis.disconnect();
  });

  function startRelay({ sweepMs = 30, mostJobs = 500 } = {}): Relay {
    const options = { prefix: store.prefix, target: 'main', sweepMs, mostJobs };
    const relay = createRelay(
      { redis: queueRedis, outboxes: new Map([['idp', store.outbox]]), clock, logger },
      options,
    );
    relays.push(relay);
    return relay;
  }

  function startWorker(handler: SyncHandler, { concurrency = 2, connections = ['idp'] } = {}): SyncWorker {
    const options = { prefix: store.prefix, target: 'main', concurrency: () => concurrency };
    const outboxes = new Map(connections.map((name) => [name, store.outbox]));
    const worker = createSyncWorker({ redis: queueRedis, outboxes, handler, clock, logger }, options);
    workers.push(worker);
    return worker;
  }

  /** Creates a handler that syncs the resource; `seen` receives the text of the record that each sync read. */
  const working =
    (seen: string[], before?: (job: SyncJob, signal: AbortSignal) => Promise<void>): SyncHandler =>
    async (job, signal) => {
      await before?.(job, signal);
      const begin = await store.outbox.begin(job.ref, job.priority);
      if (begin.kind !== 'begun') return;
      seen.push(begin.work.record?.text ?? 'removed');
      await store.outbox.ack(begin.work, {}, { kind: 'synced' });
    };

  /** Changes the user, which marks the resource. */
  const edit = (title: string) => store.putUser(ADA, { userName: 'ada', title });
  /** Returns whether no mark is left. */
  const equal = async () => (await store.outbox.backlog()).dirty === 0;
  const queues = () =>
    STREAMS.map(
      (stream) =>
        new Queue<SyncJob>(queueName('main', stream), {
          connection: queueRedis,
          prefix: queuePrefix(store.prefix, 'main'),
        }),
    );
  const withQueues = async (use: (queue: Queue<SyncJob>) => Promise<unknown>) => {
    for (const queue of queues()) {
      await use(queue);
      await queue.close();
    }
  };

  it('a mark reaches the sync handler with its connection, ref and priority, and no completed or failed job remains in BullMQ', async () => {
    const jobs: SyncJob[] = [];
    const seen: string[] = [];
    startWorker(working(seen, (job) => Promise.resolve(void jobs.push(job))));
    startRelay();
    await edit('one');
    await eventually('equal', equal);
    expect(jobs).toEqual([{ connection: 'idp', ref: USER, priority: 'new' }]);
    await withQueues(async (queue) =>
      expect(await queue.getJobCounts()).toMatchObject({ completed: 0, failed: 0 }),
    );
  });

  it('a burst of changes of one user writes the newest state with fewer syncs than changes', async () => {
    const seen: string[] = [];
    startWorker(working(seen, () => pause(20)));
    const relay = startRelay();
    for (let change = 1; change <= 50; change++) {
      await edit(`change ${change}`);
      relay.notify();
    }
    await eventually('equal', equal);
    expect(seen.at(-1)).toContain('change 50');
    expect(seen.length).toBeLessThan(25);
  });

  it('a relay that is notified of a change delivers its mark at once, even with a sweep interval of a minute', async () => {
    const seen: string[] = [];
    startWorker(working(seen));
    const relay = startRelay({ sweepMs: 60_000 });
    await pause(50);
    await edit('one');
    relay.notify();
    await eventually('equal', equal, 10_000);
    expect(relay.lastSweepAt()).toBeGreaterThan(Date.now() - 5000);
  });

  it("a worker of another connection does not apply a mark; a worker that serves the mark's connection then applies it", async () => {
    const seen: string[] = [];
    startWorker(working([]), { connections: ['other'] });
    const relay = startRelay();
    await edit('one');
    // Long enough for the worker of the other connection to pass the job on.
    await pause(150);
    // Without a relay the mark is not delivered again.
    await relay.stop();
    expect(await equal()).toBe(false);
    startWorker(working(seen));
    await eventually('equal', equal);
    expect(seen).toHaveLength(1);
  });

  it('a mark whose handler threw is delivered again', async () => {
    let calls = 0;
    const seen: string[] = [];
    startWorker(
      working(seen, () => {
        calls++;
        return calls === 1 ? Promise.reject(new Error('a bug')) : Promise.resolve();
      }),
    );
    startRelay();
    await edit('one');
    await eventually('failed once', () => calls === 1);
    await expect(store.outbox.backlog()).resolves.toMatchObject({ dirty: 1 });
    await eventually('equal', equal);
    expect([calls, seen.length]).toEqual([2, 1]);
  });

  it('a mark whose handler threw while it had the lease is delivered again', async () => {
    const seen: string[] = [];
    let calls = 0;
    startWorker(async (job, signal) => {
      if (++calls === 1) {
        await store.outbox.begin(job.ref, job.priority);
        throw new Error('a bug');
      }
      await working(seen)(job, signal);
    });
    startRelay();
    await edit('one');
    await eventually('equal', equal);
    expect([calls, seen.length]).toEqual([2, 1]);
  });

  it('a mark whose job was removed from BullMQ is delivered again', async () => {
    startRelay();
    await edit('one');
    const waiting = async () => {
      let count = 0;
      await withQueues(
        async (queue) => (count += (await queue.getJobCountByTypes('waiting', 'prioritized')) || 0),
      );
      return count;
    };
    await eventually('job waits', async () => (await waiting()) === 1);
    await withQueues((queue) => queue.obliterate({ force: true }));
    await expect(waiting()).resolves.toBe(0);
    const seen: string[] = [];
    startWorker(working(seen));
    await eventually('equal', equal);
    expect(seen).toHaveLength(1);
  });

  it('a deactivation is synced at once while hanging jobs of other priorities fill the queue', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => idOf(`u${index}x`));
    for (const id of ids) await store.putUser(id, { userName: id });
    const seen: string[] = [];
    const hang = new AbortController();
    startWorker(
      working(seen, ({ priority }, signal) =>
        priority === 'deactivation'
          ? Promise.resolve()
          : clock.sleep(60_000, AbortSignal.any([hang.signal, signal])),
      ),
    );
    const relay = startRelay({ mostJobs: 5 });
    await eventually('stream is full', async () => (await store.outbox.backlog()).inflight >= 5);
    await store.putUser(ADA, { userName: 'ada', active: false }, 'deactivation');
    relay.notify();
    await eventually('deactivated', () => seen.some((text) => text.includes('"active":false')), 10_000);
    hang.abort();
    await eventually('equal', equal);
  });

  it('with two relays and two workers each of 40 changes is applied once', async () => {
    const seen: string[] = [];
    startWorker(working(seen));
    startWorker(working(seen));
    startRelay({ sweepMs: 5 });
    startRelay({ sweepMs: 5 });
    const ids = Array.from({ length: 40 }, (_, index) => idOf(`u${index}x`));
    await Promise.all(ids.map((id) => store.putUser(id, { userName: id })));
    await eventually('equal', equal);
    expect(seen).toHaveLength(40);
  });

  it('a stop of the worker waits for running syncs that end before the deadline', async () => {
    const seen: string[] = [];
    let aborted = false;
    const worker = startWorker(
      working(seen, async (_job, signal) => {
        await pause(150);
        aborted = signal.aborted;
      }),
    );
    startRelay();
    await edit('one');
    await eventually('handler runs', async () => (await active()) === 1);
    await worker.stop(5000);
    expect([seen.length, aborted]).toEqual([1, false]);
  });

  it('an error of the sync handler because Redis is away is not logged, and another error of the handler is logged', async () => {
    const lines: string[] = [];
    logger = createLogger('info', { write: (line) => void lines.push(line) });
    const errors = [new Error('Connection is closed.'), new Error('a bug')];
    startRelay();
    startWorker(() => Promise.reject(errors.shift() ?? new Error('another')), { concurrency: 1 });
    logger = silentLogger;
    await edit('one');
    await eventually('the other error is logged', () => lines.some((line) => line.includes('a bug')), 20_000);
    expect(errors).toEqual([]);
    expect(lines.filter((line) => line.includes('Connection is closed'))).toEqual([]);
  });

  it('a stop of the worker aborts a hanging sync at the deadline', async () => {
    let aborted = false;
    let running = false;
    const worker = startWorker(async (_job, signal) => {
      running = true;
      await clock.sleep(60_000, signal);
      aborted = signal.aborted;
    });
    startRelay();
    await edit('one');
    await eventually('handler runs', () => running);
    const startedAt = Date.now();
    await worker.stop(100);
    expect(aborted).toBe(true);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(95);
    expect(Date.now() - startedAt).toBeLessThan(5000);
    await expect(store.outbox.backlog()).resolves.toMatchObject({ dirty: 1 });
  });

  it('if the store fails while the relay claims marks, the relay delivers these marks as soon as the store answers again', async () => {
    const seen: string[] = [];
    startWorker(working(seen));
    let failing = true;
    const outbox = {
      ...store.outbox,
      claim: (...args: Parameters<typeof store.outbox.claim>) =>
        failing ? Promise.reject(new Error('away')) : store.outbox.claim(...args),
    };
    const options = { prefix: store.prefix, target: 'main', sweepMs: 20, mostJobs: 10 };
    const relay = createRelay(
      { redis: queueRedis, outboxes: new Map([['idp', outbox]]), clock, logger },
      options,
    );
    relays.push(relay);
    await edit('one');
    await pause(60);
    expect(seen).toEqual([]);
    failing = false;
    await eventually('equal', equal);
    await eventually('it sweeps', () => Date.now() - relay.lastSweepAt() < 1000);
  });

  it('the marks of one connection cannot be claimed → the marks of the next connection of the target are delivered', async () => {
    const seen: string[] = [];
    startWorker(working(seen));
    const failing = { ...store.outbox, claim: () => Promise.reject(new Error('damaged mark')) };
    const outboxes = new Map([
      ['other', failing],
      ['idp', store.outbox],
    ]);
    const options = { prefix: store.prefix, target: 'main', sweepMs: 20, mostJobs: 10 };
    relays.push(createRelay({ redis: queueRedis, outboxes, clock, logger }, options));
    await edit('one');
    await eventually('equal', equal);
  });

  it('two connections of a target fail one after the other → the log names each of them once', async () => {
    const warned: unknown[] = [];
    logger = { ...silentLogger, warn: (facts: object) => void warned.push(facts) } as typeof silentLogger;
    const broken = new Set(['okta']);
    const outboxOf = (connection: string) => ({
      ...store.outbox,
      claim: () =>
        broken.has(connection) ? Promise.reject(new Error(`${connection} is damaged`)) : Promise.resolve([]),
    });
    const outboxes = new Map(['okta', 'entra'].map((connection) => [connection, outboxOf(connection)]));
    const options = { prefix: store.prefix, target: 'main', sweepMs: 5, mostJobs: 10 };
    relays.push(createRelay({ redis: queueRedis, outboxes, clock, logger }, options));
    await eventually('the first is told', () => warned.length > 0);
    broken.add('entra');
    await eventually('the second is told', () => warned.length > 1);
    const toldOf = (connection: string) => ({
      target: 'main',
      connection,
      reason: `${connection} is damaged`,
    });
    await pause(60);
    expect(warned).toEqual([toldOf('okta'), toldOf('entra')]);
    broken.delete('okta');
    await pause(60);
    broken.add('okta');
    await eventually('the first is told again', () => warned.length > 2);
    await pause(60);
    expect(warned).toEqual([toldOf('okta'), toldOf('entra'), toldOf('okta')]);
  });

  const active = async (): Promise<number> => {
    let count = 0;
    await withQueues(async (queue) => (count += await queue.getActiveCount()));
    return count;
  };
});

describe('BullMQ jobs', () => {
  it('job ids are valid for BullMQ and differ by connection, ref and deliveryId', () => {
    expect(jobId('okta', USER, '7')).toBe(`okta-User-${ADA}-7`);
    expect(jobId('okta', USER, '7')).not.toContain(':');
    expect(jobId('okta', USER, '8')).not.toBe(jobId('okta', USER, '7'));
  });

  it('only deactivations go to the urgent stream, and higher priorities run first', () => {
    expect((['deactivation', 'edit', 'new', 'reconcile'] as const).map(streamOf)).toEqual([
      'urgent',
      'regular',
      'regular',
      'regular',
    ]);
    const priorities = Object.values(BULLMQ_PRIORITY);
    expect([...priorities].sort((a, b) => a - b)).toEqual(priorities);
    expect(queuePrefix('p', 'main')).toMatch(/\{.*main\}/);
  });
});
