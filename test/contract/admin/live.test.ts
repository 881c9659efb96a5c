// Tests the live status as server-sent events over real HTTP: what arrives, how many streams, and when they end.
import { MOST_STREAMS } from '../../../src/http/admin/live.ts';
import { connectRedis, untilReady } from '../../../src/directory/redis/connection.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { readServerEvents } from '../../support/server-events.ts';
import { scanAll } from '../lua/rig.ts';
import { openAdmin, type AdminRig } from './rig.ts';
import { openSignIn, type SignInRig } from './sign-in-rig.ts';

const authorization = `Bearer ${ADMIN_TOKEN}`;
const watch = (rig: AdminRig, signal: AbortSignal): Promise<Response> =>
  rig.raw('/admin/v1/live', { headers: { authorization }, signal });

describe('the live status with the admin token', () => {
  let rig: AdminRig;
  let left: AbortController;
  beforeAll(async () => {
    rig = await openAdmin();
  }, 60_000);
  afterAll(() => rig.bridge.stop());
  beforeEach(() => void (left = new AbortController()));
  afterEach(() => left.abort());

  test('the live stream sends the status at once, again after a change, and a keep-alive event every few seconds', async () => {
    const answer = await watch(rig, left.signal);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    const { events } = readServerEvents(answer);
    await eventually('the first status has come', () => events.length > 0);
    expect(events[0]).toMatchObject({
      event: 'status',
      data: [{ connection: 'default', target: 'main', users: 0 }],
    });
    await rig.bridge.idp.createUser('ada@acme.example');
    await eventually('a status with the new user', () =>
      events.some(({ event, data }) => event === 'status' && data[0].users === 1),
    );
    const beats = () => events.filter(({ event }) => event === 'beat');
    const before = beats().length;
    const startedAt = Date.now();
    await eventually('three beats more', () => beats().length >= before + 3);
    expect(Date.now() - startedAt).toBeLessThan(9000);
    expect(beats().at(-1)?.data.statusAgeMs).toBeLessThan(4000);
  }, 30_000);

  test('HEAD on the live stream is answered at once and does not count as an open stream', async () => {
    const heads = Array.from({ length: MOST_STREAMS + 1 }, () =>
      rig.raw('/admin/v1/live', {
        method: 'HEAD',
        headers: { authorization },
        signal: AbortSignal.any([left.signal, AbortSignal.timeout(10_000)]),
      }),
    );
    const statuses = (await Promise.all(heads)).map(({ status }) => status);
    expect(statuses).toContain(200);
    await eventually('a stream can be opened', async () => (await watch(rig, left.signal)).status === 200);
  });

  test('a request for a live stream without a token answers 401', async () => {
    expect((await rig.raw('/admin/v1/live')).status).toBe(401);
  });

  test('beyond the limit of live streams a process answers 503, until a client closes one', async () => {
    const first = new AbortController();
    const open = await Promise.all(
      Array.from({ length: MOST_STREAMS }, (_, index) =>
        watch(rig, index === 0 ? first.signal : left.signal),
      ),
    );
    open.forEach((answer) => readServerEvents(answer));
    const refused = await watch(rig, left.signal);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
    expect(((await refused.json()) as { detail: string }).detail).toContain('Too many pages');
    first.abort();
    await eventually('there is room again', async () => {
      const answer = await watch(rig, left.signal);
      if (answer.ok) readServerEvents(answer);
      else await answer.body?.cancel();
      return answer.ok;
    });
  }, 30_000);

  test('live streams that clients closed are not counted as failed requests', async () => {
    const metrics = await eventually('a request is counted', async () => {
      const text = await (await rig.raw('/metrics', { headers: { authorization } })).text();
      return text.includes('bridge_http_requests_total{connection="none"') && text;
    });
    expect(metrics).not.toMatch(
      /bridge_http_requests_total\{connection="none",operation="other",status="499"\}/,
    );
  });

  test('when the process stops, its live streams end, and the stop takes less than five seconds', async () => {
    const other = await rig.bridge.another();
    const answers = await Promise.all(
      Array.from({ length: 3 }, () =>
        fetch(`http://127.0.0.1:${other.port}/admin/v1/live`, { headers: { authorization } }),
      ),
    );
    const readers = answers.map(readServerEvents);
    await eventually('all have begun', () => readers.every(({ events }) => events.length > 0));
    const startedAt = Date.now();
    await other.stop();
    expect(Date.now() - startedAt).toBeLessThan(5000);
    await Promise.all(readers.map(({ ended }) => ended));
  }, 30_000);
});

describe('the live status with a session', () => {
  let { rig, provider, base }: SignInRig = {} as SignInRig;
  beforeAll(async () => {
    ({ rig, provider, base } = await openSignIn());
  }, 60_000);
  afterAll(async () => {
    await rig.bridge.stop();
    await provider.stop();
  });

  /** Signs in by the redirects of a browser. @returns the cookie of the session */
  async function signIn(): Promise<string> {
    provider.person = 'vera';
    const jars = new Map<string, Map<string, string>>();
    let at: string | null = `${base}/admin/sign-in/`;
    while (at !== null) {
      const url: URL = new URL(at);
      const jar = jars.get(url.host) ?? new Map<string, string>();
      jars.set(url.host, jar);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer: Response = await fetch(url, { headers: { cookie }, redirect: 'manual' });
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        jar.set(name, value);
      }
      const next: string | null = answer.headers.get('location');
      await answer.body?.cancel();
      at = next === null ? null : new URL(next, url).href;
    }
    return [...(jars.get(new URL(base).host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  test('an open live stream does not extend the idle time of its session, and ends at the sign-out of the session', async () => {
    const headers = { cookie: await signIn(), 'x-scim-bridge-via': 'page', 'sec-fetch-site': 'same-origin' };
    const reader = readServerEvents(await fetch(`${base}/admin/v1/live`, { headers }));
    const redis = connectRedis(rig.bridge.config.redis, 'commands', silentLogger);
    try {
      await untilReady(redis, 5000);
      const [key = ''] = await scanAll(
        redis,
        `${rig.bridge.config.redis.prefix}:{bridge.sessions}:session:*`,
      );
      // A stream that extended the idle time would set the usual 60 minutes again.
      await redis.pexpire(key, 600_000);
      const beats = (): number => reader.events.filter(({ event }) => event === 'beat').length;
      const before = beats();
      await eventually('beats have come', () => beats() >= before + 2);
      expect(await redis.pttl(key)).toBeLessThan(600_000);
    } finally {
      redis.disconnect();
    }
    const startedAt = Date.now();
    expect((await fetch(`${base}/admin/v1/session`, { method: 'DELETE', headers })).status).toBe(200);
    await reader.ended;
    expect(Date.now() - startedAt).toBeLessThan(5000);
    expect((await fetch(`${base}/admin/v1/live`, { headers })).status).toBe(401);
  }, 30_000);
});
