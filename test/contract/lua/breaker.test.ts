// Tests note_answer.lua and take_budget.lua: the circuit breaker that all replicas share.
import { setTimeout as pause } from 'node:timers/promises';
import { createBreaker, weightOf, type Breaker } from '../../../src/directory/outbox/breaker.ts';
import { createBudget, type Budget } from '../../../src/directory/outbox/budget.ts';
import { createKeyspace } from '../../../src/directory/keys.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { systemClock, type Clock } from '../../../src/support/sources.ts';
import { eventually } from '../../support/eventually.ts';
import { openStore, type Store } from './rig.ts';

interface Replica {
  breaker: Breaker;
  budget: Budget;
  /** A budget of the same process that throws `mustWait` where the other one would wait. */
  impatient: Budget;
}

const mustWait = new Error('the request must wait');

let store: Store;
let key: string;
beforeEach(async () => {
  store = await openStore();
  key = createKeyspace(store.prefix, 'target.main').key('breaker', 'main');
});
afterEach(() => store.close());

function replica(token = 'key'): Replica {
  const options = { prefix: store.prefix, target: 'main' };
  const keys = { token, scimToken: null };
  const breaker = createBreaker({ ...store, logger: silentLogger }, { ...options, keys });
  const budgetWith = (clock: Clock): Budget =>
    createBudget(
      { ...store, clock, onFailing: breaker.noteFailing },
      { ...options, requestsPerSecond: 1000, burst: 1000 },
    );
  const impatient = budgetWith({ ...systemClock, sleep: () => Promise.reject(mustWait) });
  return { breaker, budget: budgetWith(systemClock), impatient };
}

/** Makes one call as the platform client does. */
async function call({ breaker, budget }: Replica, status: number): Promise<void> {
  await budget.take();
  breaker.note({ status });
}
const calls = async (one: Replica, ...statuses: number[]): Promise<void> => {
  for (const status of statuses) await call(one, status);
};
const isOpen = async ({ breaker }: Replica): Promise<boolean> => (await breaker.read()).open;
/** Returns whether a request may be sent without waiting. */
async function mayGo({ impatient }: Replica): Promise<boolean> {
  try {
    await impatient.take();
    return true;
  } catch (error) {
    if (error === mustWait) return false;
    throw error;
  }
}
/** Makes the next probe due without waiting. */
const probeNow = async (): Promise<void> => void (await store.redis.hset(key, 'probeAt', 1));

test.each([
  [[0, 0, 0, 0, 0], true],
  [[503, 500, 502, 0, 401], true],
  [[0, 0, 0, 0], false],
  [[0, 0, 0, 0, 404, 0], false],
  [[0, 0, 0, 0, 429, 0], false],
  [[403, 403, 403, 403, 403, 403, 403, 403, 403, 403], true],
  [[403, 403, 403, 403, 403, 403, 403, 403, 403], false],
  [[403, 403, 403, 403, 403, 403, 403, 403, 403, 200, 403], false],
])(
  'after calls answered with the statuses %j (0: no answer), the breaker that stops calls to the platform is open: %s',
  async (statuses, open) => {
    const one = replica();
    await calls(one, ...statuses);
    expect(await isOpen(one)).toBe(open);
    expect(await mayGo(one)).toBe(!open);
  },
);

test('`since` of the breaker is the first failure after the last success; while the last status is 401, it is the first 401 in a row', async () => {
  const one = replica();
  const sinceAfter = async (status: number): Promise<number> => {
    await pause(5);
    await call(one, status);
    await eventually('noted', async () => (await one.breaker.read()).status === status);
    return (await one.breaker.read()).since ?? 0;
  };
  const [refused, forbidden, silent] = [await sinceAfter(401), await sinceAfter(403), await sinceAfter(0)];
  expect([forbidden, silent]).toEqual([refused, refused]);
  const refusedAgain = await sinceAfter(401);
  expect(refusedAgain).toBeGreaterThan(refused);
  expect(await sinceAfter(503)).toBe(refused);
  await call(one, 200);
  await eventually('ended', async () => (await one.breaker.read()).status === undefined);
  expect(await sinceAfter(403)).toBeGreaterThan(refusedAgain);
});

test('the breaker counts failures of all replicas together, and a success at any replica resets the count', async () => {
  const [one, two] = [replica(), replica()];
  await calls(one, 503, 503);
  await calls(two, 503, 503);
  await calls(one, 200);
  await calls(two, 503, 503, 503, 503);
  expect(await isOpen(one)).toBe(false);
  await calls(one, 503);
  expect(await isOpen(two)).toBe(true);
  expect(await mayGo(two)).toBe(false);
});

test('an open breaker allows one probe at a time, and a successful probe closes it', async () => {
  const [one, two] = [replica(), replica()];
  await calls(one, 0, 0, 0, 0, 0);
  await probeNow();
  expect([await mayGo(one), await mayGo(two), await mayGo(one)]).toEqual([true, false, false]);
  one.breaker.note({ status: 404 });
  await eventually('closed', async () => !(await isOpen(two)));
  expect([await mayGo(one), await mayGo(two)]).toEqual([true, true]);
  expect(await store.redis.exists(key)).toBe(0);
});

/** Returns how long the second of two requests waits under a limit of ten in a second, when `during` runs while it waits. */
async function waitOfSecond(during: (budget: Budget) => Promise<unknown>): Promise<number> {
  let ran: Promise<unknown> | undefined;
  const sleep: Clock['sleep'] = async (...args) => {
    ran ??= during(budget);
    await Promise.all([ran, systemClock.sleep(...args)]);
  };
  const options = { prefix: store.prefix, target: 'main', requestsPerSecond: 10, burst: 1 };
  const budget = createBudget({ ...store, clock: { ...systemClock, sleep } }, options);
  await budget.take();
  const startedAt = Date.now();
  await budget.take();
  return Date.now() - startedAt;
}

test.each([
  ['all calls pause', (budget: Budget) => budget.pause(600, { status: 429, asked: true })],
  ['the breaker opens', () => store.redis.hset(key, { probeAt: Date.now() + 600, probeMs: 1000 })],
])(
  '%s while a request waits for the rate limit → the request waits for their end too',
  async (_what, stop) => {
    expect(await waitOfSecond(stop)).toBeGreaterThan(550);
  },
);

test('the next probe of an open breaker has to wait for the rate limit → it is sent when this wait ends, not after another probe interval', async () => {
  await store.redis.hset(key, { probeAt: 1, probeMs: 5000 });
  await store.redis.set(createKeyspace(store.prefix, 'target.main').key('budget', 'main'), Date.now() + 300);
  const options = { prefix: store.prefix, target: 'main', requestsPerSecond: 10, burst: 1 };
  const budget = createBudget({ ...store, clock: systemClock }, options);
  const startedAt = Date.now();
  await budget.take();
  expect(Date.now() - startedAt).toBeLessThan(4000);
  expect(await store.redis.hget(key, 'probing')).toBe('1');
});

test('the probe interval grows up to a limit after probes answered with 503, and is short again after a probe answered with 403', async () => {
  const one = replica();
  await calls(one, 0, 0, 0, 0, 0);
  const waits = async (status: number): Promise<number> => {
    await probeNow();
    await call(one, status);
    return Number(await store.redis.hget(key, 'probeMs'));
  };
  const found = [];
  for (let n = 0; n < 6; n++) found.push(await waits(503));
  expect(found).toEqual([2000, 2000, 2000, 2000, 2000, 2000]);
  expect(await waits(403)).toBe(1000);
});

test('failures of calls that started before the breaker opened do not increase the probe interval', async () => {
  const one = replica();
  await calls(one, 0, 0, 0, 0, 0);
  for (let n = 0; n < 8; n++) one.breaker.note({ status: 0 });
  // 13 failures of weight 2.
  await eventually(
    'all results are stored',
    async () => Number(await store.redis.hget(key, 'weight')) === 26,
  );
  expect(await store.redis.hget(key, 'probeMs')).toBe('1000');
});

test('the success of a call that started before the breaker opened does not close the breaker', async () => {
  const one = replica();
  await calls(one, 0, 0, 0, 0, 0);
  await one.budget.take(AbortSignal.timeout(50)).catch(() => undefined);
  one.breaker.note({ status: 200 });
  await pause(100);
  expect(await isOpen(one)).toBe(true);
  await probeNow();
  await call(one, 200);
  await eventually('closed', async () => !(await isOpen(one)));
});

test('when a process was killed during its probe, another replica gets the next probe, and the state of the breaker expires in Redis', async () => {
  const [one, two] = [replica(), replica()];
  await calls(one, 0, 0, 0, 0, 0);
  await probeNow();
  expect(await mayGo(one)).toBe(true);
  expect(await mayGo(two)).toBe(false);
  await probeNow();
  expect(await mayGo(two)).toBe(true);
  expect(await store.redis.pttl(key)).toBeGreaterThan(60_000);
});

test('successful calls are not recorded in Redis while the breaker is closed', async () => {
  const one = replica();
  await calls(one, 200, 404, 409, 429, 201);
  expect(await store.redis.exists(key)).toBe(0);
  const { commands } = await commandsSent(() => {
    for (let n = 0; n < 50; n++) one.breaker.note({ status: 200 });
  });
  expect(commands).toBe(0);
});

/** Returns the number of commands that this connection sends during `run`. */
async function commandsSent(run: () => void): Promise<{ commands: number }> {
  let commands = 0;
  const send = store.redis.sendCommand.bind(store.redis);
  store.redis.sendCommand = (...args) => {
    commands += 1;
    return send(...args);
  };
  run();
  await new Promise((resolve) => setImmediate(resolve));
  store.redis.sendCommand = send;
  return { commands };
}

test('a web page in place of a SCIM answer counts as a failure; one at an address that a tenant may lack does not count', async () => {
  const one = replica();
  const page = { status: 200, error: 'EndpointAbsent' };
  expect(weightOf({ ...page, route: '/api/scim/v2/Users' })).toBeGreaterThan(0);
  expect(weightOf({ ...page, route: '/api/v1/users' })).toBe(0);
  await calls(one, 0, 0, 0, 0, 0);
  await probeNow();
  await one.budget.take(AbortSignal.timeout(50)).catch(() => undefined);
  one.breaker.note({ ...page, route: '/api/v1/users' });
  await pause(100);
  expect(await isOpen(one)).toBe(true);
});

test.each(['doctor', 'a call'])(
  'after a 401 for the former key and a success of %s with a new key, the next 401 for the former key counts for all methods',
  async (way) => {
    const [service, command] = [replica('former'), replica('new')];
    const refused = async (): Promise<void> => {
      service.breaker.note({ status: 401, method: 'PATCH' });
      await eventually('noted', async () => (await service.breaker.read()).status === 401);
    };
    await refused();
    if (way === 'doctor') await command.breaker.close();
    else await call(command, 200);
    await eventually('ended', async () => (await service.breaker.read()).status === undefined);
    await refused();
    const { status, only } = await service.breaker.read();
    expect({ status, only }).toEqual({ status: 401, only: undefined });
  },
);

test('the breaker does not count a call that the bridge itself aborted', () => {
  expect(weightOf({ status: 0, error: 'PlatformAborted' })).toBeUndefined();
  expect(weightOf({ status: 0, error: 'PlatformTimeout' })).toBeGreaterThan(0);
});
