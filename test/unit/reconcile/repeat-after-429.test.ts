// Tests how long a comparison repeats reads that the platform answers with 429.
import { PlatformResponse } from '../../../src/platform/errors.ts';
import { createRepeater } from '../../../src/reconcile/scan/repeat-after-429.ts';

const VALUES = '/api/v1/users/{id}/values';
const answer = (status: number, retryAfterMs?: number, route = VALUES) =>
  new PlatformResponse({ status, platformMessage: '', retryAfterMs }, { method: 'GET', route });

/** Returns the listed answers one after the other, then none. */
function answers(statuses: number[], route?: string): () => PlatformResponse | undefined {
  const left = [...statuses];
  return () => {
    const status = left.shift();
    return status === undefined ? undefined : answer(status, 60_000, route);
  };
}

/** Returns a comparison at a fake time, whose reads the given answers end; no further answer: the read succeeds. */
function comparison() {
  let now = 1_000_000;
  const clock = {
    now: () => now,
    sleep: (ms: number) => {
      now += ms;
      return Promise.resolve();
    },
  };
  const repeat = createRepeater({ clock, random: () => 0 }, new AbortController().signal);
  let calls = 0;
  /** @returns outcome and duration of a read, and the number of its calls */
  const read = async (answers: () => PlatformResponse | undefined) => {
    const [begun, before] = [now, calls];
    const status = await repeat(() => {
      calls++;
      const error = answers();
      return error ? Promise.reject(error) : Promise.resolve(200);
    }).catch((error: unknown) => (error as PlatformResponse).status);
    return { status, ms: now - begun, calls: calls - before };
  };
  return {
    read,
    always429: () => read(() => answer(429, 60_000)),
    good: () => read(() => undefined),
    /** The read is answered as listed, and then succeeds. */
    after: (...statuses: number[]) => read(answers(statuses)),
    /** As `after`, for another kind of call. */
    otherAfter: (...statuses: number[]) => read(answers(statuses, '/api/v1/users')),
    pass: (ms: number) => (now += ms),
  };
}

test('one route answers every read with 429 while others answer → the comparison waits for it once, and each later read of it ends at once', async () => {
  const { always429, good } = comparison();
  expect(await always429()).toEqual({ status: 429, ms: 120_000, calls: 3 });
  for (let person = 0; person < 5; person++) {
    expect(await good()).toMatchObject({ status: 200 });
    expect(await always429()).toEqual({ status: 429, ms: 0, calls: 1 });
  }
});

test('one route always answers 429 → a 429 of another route is waited for', async () => {
  const { always429, otherAfter } = comparison();
  expect(await always429()).toMatchObject({ status: 429 });
  expect(await otherAfter(429)).toEqual({ status: 200, ms: 60_000, calls: 2 });
});

test('repeated reads succeed → a 429 long after the first one is waited for too', async () => {
  const { after } = comparison();
  for (let person = 0; person < 5; person++)
    expect(await after(429)).toEqual({ status: 200, ms: 60_000, calls: 2 });
});

test.each([404, 403, 503])(
  'a repeated read is answered with %i → a later 429 is waited for too',
  async (other) => {
    const { after, pass } = comparison();
    expect(await after(429, other)).toMatchObject({ status: other, calls: 2 });
    pass(200_000);
    expect(await after(429)).toEqual({ status: 200, ms: 60_000, calls: 2 });
  },
);

test('a read gets 429 long after the comparison began → it is waited for', async () => {
  const { good, after, pass } = comparison();
  await good();
  pass(600_000);
  expect(await after(429)).toEqual({ status: 200, ms: 60_000, calls: 2 });
});
