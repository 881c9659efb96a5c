// Tests the rate limit of a token, the limit of wrong tokens, and trusted proxies.
import { request } from 'undici';
import type { App } from '../../../src/app.ts';
import { createRig, SETTINGS_TOKEN, statusOf, type Rig } from './rig.ts';

const SLOW = 'token-with-a-small-budget-0123456789';
const BESIDE = 'token-beside-it-0123456789';
let rig: Rig;
let app: App;
beforeAll(async () => {
  const rateLimit = { requestsPerSecond: 1, burst: 5 };
  const tokens = (name: string, secret: string) => ({ name, secret });
  rig = createRig(() => ({
    server: { port: 0, host: '127.0.0.1', trustedProxies: ['127.0.0.0/8', '::1'] },
    connections: {
      default: { tokens: [tokens('primary', SETTINGS_TOKEN)] },
      slow: { rateLimit, tokens: [tokens('slow', SLOW), tokens('beside', BESIDE)] },
      inside: {
        tokens: [tokens('primary', 'token-of-the-inside-0123456789')],
        allowedNetworks: ['192.0.2.0/24'],
      },
    },
  }));
  app = await rig.start();
});
afterAll(() => rig.stop());

const ask = async (token: string, connection: string, headers: Record<string, string> = {}) => {
  const answer = await request(`http://127.0.0.1:${app.port}/connections/${connection}/scim/v2/Users`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  return { status: answer.statusCode, headers: answer.headers, body: (await answer.body.json()) as any };
};

test('a token over its rate limit answers 429 with Retry-After in whole seconds, and another token still answers 200', async () => {
  const answers = [];
  for (let index = 0; index < 8; index++) answers.push(await ask(SLOW, 'slow'));
  expect(answers.slice(0, 5).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const refused = answers.at(-1);
  expect(refused?.status).toBe(429);
  expect(refused?.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(refused?.headers['content-type']).toBe('application/scim+json');
  expect(refused?.body).toMatchObject({ status: '429', schemas: [expect.stringContaining('Error')] });
  expect((await ask(BESIDE, 'slow')).status).toBe(200);
});

test('of 300 concurrent lists with one token none answers 429, because they stay below the default rate limit', async () => {
  const statuses = await Promise.all(Array.from({ length: 300 }, () => statusOf(app, SETTINGS_TOKEN)));
  // Lists take turns, so on a busy machine some answer 503. No token exceeds its rate limit.
  expect(statuses).not.toContain(429);
  expect(statuses).toContain(200);
});

test('repeated wrong tokens answer 429 and close the connection, and the right token from the same address still answers 200', async () => {
  const guess = (index: number) =>
    ask(`guess-${index}-0123456789`, 'default', { 'x-forwarded-for': '198.51.100.7' });
  let [last] = await Promise.all(Array.from({ length: 250 }, (_, index) => guess(index)));
  expect(last?.status).toBe(401);
  for (let index = 250; index < 3000 && last?.status !== 429; index += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, more) => guess(index + more)));
    last = answers.find(({ status }) => status === 429);
  }
  expect([last?.status, last?.headers.connection]).toEqual([429, 'close']);
  expect(last?.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  const right = await ask(SETTINGS_TOKEN, 'default', { 'x-forwarded-for': '198.51.100.7' });
  expect(right.status).toBe(200);
  const elsewhere = await ask('wrong-0123456789', 'default', { 'x-forwarded-for': '198.51.100.8' });
  expect(elsewhere.status).toBe(401);
});

test.each([
  ['192.0.2.7', 200],
  ['192.0.2.7:4711', 200],
  ['6.6.6.6, 192.0.2.7', 200],
  ['192.0.2.7, 6.6.6.6', 403],
  ['192.0.2.7, 127.0.0.9', 200],
  ['192.0.2.7, nonsense', 403],
  ['', 403],
])(
  'behind a trusted proxy allowedNetworks is compared with the client in X-Forwarded-For: %p answers %d',
  async (forwarded, status) => {
    const answer = await ask('token-of-the-inside-0123456789', 'inside', { 'x-forwarded-for': forwarded });
    expect(answer.status).toBe(status);
  },
);
