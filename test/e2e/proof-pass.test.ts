// Tests the hourly proof of the scheduler: it reports faults and repairs nothing.
import { createKeyspace } from '../../src/directory/keys.ts';
import type { DesiredState } from '../../src/directory/desired-state.ts';
import { untilReady } from '../../src/directory/redis/connection.ts';
import { openDesiredStates } from '../../src/app/open.ts';
import { tendLogs } from '../../src/ops/doctor/check-logs.ts';
import { startProofPass } from '../../src/ops/doctor/proof-pass.ts';
import { readStatus } from '../../src/ops/status/status.ts';
import { ADMIN_TOKEN, buildBridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { scrape } from '../support/scrape.ts';
import { startApp } from '../../src/app.ts';
import { randomIds, systemClock } from '../../src/support/sources.ts';
import { createLogger, silentLogger, type Logger } from '../../src/support/logger.ts';

/** Runs one pass of a scheduler, and stops the scheduler after it. */
async function passOnce(states: readonly DesiredState[], logger: Logger = silentLogger): Promise<void> {
  // The first sleep of the scheduler ends at once. The second one begins after the pass and lasts until the stop.
  let sleeps = 0;
  const clock = {
    now: Date.now,
    sleep: (_ms: number, signal?: AbortSignal) =>
      sleeps++ === 0 || signal?.aborted
        ? Promise.resolve()
        : new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve())),
  };
  const stop = startProofPass({ clock, logger, random: Math.random }, states);
  await eventually('the pass has ended', () => Promise.resolve(sleeps > 1));
  await stop();
}

test('a scheduler has run the periodic proof of derived data → no other scheduler starts it for the next 54 minutes', async () => {
  const bridge = await buildBridge({ role: 'api' });
  const { redis, states } = openDesiredStates(bridge.config);
  const turn = createKeyspace(bridge.config.redis.prefix, 'default').key('proofTurn');
  try {
    await untilReady(redis, 5000);
    await passOnce(states);
    const first = await states[0]?.proof.last();
    expect(first).toBeDefined();
    await passOnce(states);
    expect(await states[0]?.proof.last()).toEqual(first);
    expect(await redis.pttl(turn)).toBeGreaterThan(54 * 60_000);
  } finally {
    redis.disconnect();
    await bridge.stop();
  }
});

test('the proof of derived data ends and the logs cannot be checked → a warning names the connection and the logs, and no other scheduler repeats the proof', async () => {
  const bridge = await buildBridge({ role: 'api' });
  const { redis, states } = openDesiredStates(bridge.config);
  const keys = createKeyspace(bridge.config.redis.prefix, 'default');
  const lines: string[] = [];
  try {
    await untilReady(redis, 5000);
    await redis.set(keys.key('acts'), 'no stream');
    await passOnce(states, createLogger('warn', { write: (line) => void lines.push(line) }));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { connection: 'default', msg: expect.stringMatching(/^the logs could not be checked/) },
    ]);
    expect(await states[0]?.proof.last()).toMatchObject({ faults: 0 });
    expect(await redis.pttl(keys.key('proofTurn'))).toBeGreaterThan(54 * 60_000);
  } finally {
    await redis.del(keys.key('acts'));
    redis.disconnect();
    await bridge.stop();
  }
});

test('the periodic proof of derived data finds a lost index → status shows one fault, and the index is not rebuilt', async () => {
  const bridge = await buildBridge({ role: 'api' });
  const store = openDesiredStates(bridge.config);
  const { redis, states } = store;
  const key = createKeyspace(bridge.config.redis.prefix, 'default').key('userNames');
  try {
    await untilReady(redis, 5000);
    await bridge.idp.createUser('ann@acme.example');
    await redis.del(key);
    await passOnce(states);
    await expect(states[0]?.proof.last()).resolves.toMatchObject({ faults: 1 });
    await expect(readStatus(states, store)).resolves.toMatchObject([{ faults: 1 }]);
    await expect(redis.exists(key)).resolves.toBe(0);
  } finally {
    redis.disconnect();
    await bridge.stop();
  }
});

test('an audit entry was removed → the periodic proof, doctor and a metric report it', async () => {
  const bridge = await buildBridge({ role: 'api' });
  const { redis, states } = openDesiredStates(bridge.config);
  const admin = async (path: string): Promise<any> =>
    (
      await fetch(`http://127.0.0.1:${bridge.app.port}/admin/v1${path}`, {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      })
    ).json();
  const findings = async (): Promise<any[]> =>
    (await admin('/doctor')).filter(({ area }: any) => area === 'log default');
  const [state] = states;
  if (!state) throw new Error('no state');
  try {
    await untilReady(redis, 5000);
    for (const by of ['ann', 'bob']) await state.acts.record({ act: 'resync', by, via: 'command' });
    await tendLogs(state, Date.now());
    expect(await findings()).toMatchObject([{ level: 'ok', message: expect.stringContaining('2 entries') }]);
    const acts = { connection: 'default', log: 'acts' };
    expect((await scrape(bridge.app.port)).value('bridge_log_broken', acts)).toBe(0);
    const key = createKeyspace(bridge.config.redis.prefix, 'default').key('acts');
    const [[oldest = ''] = []] = await redis.xrange(key, '-', '+', 'COUNT', 1);
    await redis.xdel(key, oldest);
    expect(await findings()).toMatchObject([
      {
        level: 'error',
        message: expect.stringMatching(/^acts: an entry was altered or taken out at default\.\d+-\d+$/),
      },
    ]);
    await tendLogs(state, Date.now());
    await eventually('the metric tells', async () => {
      return (await scrape(bridge.app.port)).value('bridge_log_broken', acts) === 1;
    });
  } finally {
    redis.disconnect();
    await bridge.stop();
  }
});

test('no process has the role scheduler → a worker makes the periodic proof of derived data', async () => {
  const bridge = await buildBridge({ role: 'api' });
  const { redis, states } = openDesiredStates(bridge.config);
  // The first wait of the periodic proof is at least five minutes.
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 1000), signal),
  };
  const deps = { logger: silentLogger, clock, ids: randomIds, random: Math.random };
  const worker = await startApp(bridge.config, 'worker', deps);
  try {
    await untilReady(redis, 5000);
    await eventually('a proof was made', async () => (await states[0]?.proof.last()) !== undefined, 20_000);
    expect(await states[0]?.proof.last()).toMatchObject({ faults: 0, by: 'service' });
  } finally {
    redis.disconnect();
    await worker.stop();
    await bridge.stop();
  }
}, 60_000);
