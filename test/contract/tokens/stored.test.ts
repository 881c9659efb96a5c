// Tests stored tokens: commands, Redis and two replicas.
import { Redis } from 'ioredis';
import type { App } from '../../../src/app.ts';
import { eventually } from '../../support/eventually.ts';
import { scrape } from '../../support/scrape.ts';
import { asClient, createRig, SETTINGS_TOKEN, statusOf, type Rig } from './rig.ts';

let rig: Rig;
let one: App;
let two: App;
let redis: Redis;
beforeAll(async () => {
  rig = createRig(() => ({
    connections: {
      default: { tokens: [{ name: 'primary', secret: SETTINGS_TOKEN }] },
      other: { tokens: [] },
    },
  }));
  [one, two] = [await rig.start(), await rig.start()];
  redis = new Redis(process.env.TEST_REDIS_URL ?? '');
});
afterAll(async () => {
  redis.disconnect();
  await rig.stop();
});

const isAccepted = (app: App, token: string, connection?: string): Promise<boolean> =>
  statusOf(app, token, connection).then((status) => status === 200);

test('a token created by command is accepted by every replica, at its own connection only, and tokens of the settings stay valid', async () => {
  const secret = await rig.create('okta');
  expect(secret).toMatch(/^scimb_[A-Za-z0-9_-]{43}$/);
  const second = await rig.create('okta-2');
  for (const app of [one, two]) {
    for (const token of [secret, second]) {
      await eventually('the new token is known', () => isAccepted(app, token), 2500);
    }
    expect(await statusOf(app, SETTINGS_TOKEN)).toBe(200);
    expect(await statusOf(app, secret, 'other')).toBe(401);
    expect(await statusOf(app, secret.slice(0, -1))).toBe(401);
    expect(await statusOf(app, `${secret}x`)).toBe(401);
    expect(await statusOf(app, 'scimb_')).toBe(401);
  }
});

test('a revoked token is refused by every replica, and another token is still accepted', async () => {
  const [first, next] = [await rig.create('going'), await rig.create('staying')];
  for (const app of [one, two]) await eventually('known', () => isAccepted(app, next), 15_000);
  expect((await rig.command('token', 'revoke', 'going')).code).toBe(0);
  await eventually(
    'refused',
    async () => (await statusOf(one, first)) === 401 && (await statusOf(two, first)) === 401,
    15_000,
  );
  expect(await statusOf(one, next)).toBe(200);
});

test('a revoked token is refused within seconds even when the message about its revocation is lost', async () => {
  const secret = await rig.create('quiet');
  await eventually('known', () => isAccepted(one, secret), 2500);
  await redis.hdel(`${rig.prefix}:{default}:tokens`, 'quiet');
  await eventually('refused', async () => (await statusOf(one, secret)) === 401, 2500);
});

test('neither Redis nor the log nor `token list` contains the secret of a created token', async () => {
  const secret = await rig.create('hidden');
  await eventually('known', () => isAccepted(one, secret), 2500);
  const kept = JSON.stringify(await redis.hgetall(`${rig.prefix}:{default}:tokens`));
  expect(kept).toContain('hidden');
  expect(kept).not.toContain(secret.slice(6));
  expect(rig.logs.join('')).not.toContain(secret.slice(6));
  const { out } = await rig.command('token', 'list', '--json');
  expect(out).not.toContain(secret.slice(6));
  expect(out).not.toContain(SETTINGS_TOKEN);
});

test('a token is refused after its expiry', async () => {
  const at = new Date(Date.now() + 1500).toISOString();
  const secret = await rig.create('short', '--expires', at);
  await eventually('known', () => isAccepted(one, secret), 1400);
  await eventually('over', async () => (await statusOf(one, secret)) === 401, 15_000);
  expect((await rig.command('token', 'list')).out).toContain('short: expired');
});

test('an invalid token entry in Redis authenticates no request, and other tokens are still accepted', async () => {
  await redis.hset(`${rig.prefix}:{default}:tokens`, {
    nonsense: 'no json',
    empty: '{}',
    short: '{"digest":"","createdAt":1,"expiresAt":null}',
    list: '[]',
    null: 'null',
  });
  const secret = await rig.create('after');
  await eventually('known', () => isAccepted(one, secret), 2500);
  expect(await statusOf(one, '')).toBe(401);
  expect((await rig.command('token', 'list', '--json')).code).toBe(0);
});

test('`token list` shows tokens of settings and of Redis with expiry and last use', async () => {
  const third = await rig.start();
  const secret = await rig.create('seen', '--connection', 'other', '--expires', '90d');
  await eventually('known', () => isAccepted(third, secret, 'other'), 2500);
  await asClient(third, SETTINGS_TOKEN).get('/Users');
  await third.stop();
  const { code, out } = await rig.command('token', 'list', '--json');
  expect(code).toBe(0);
  const rows = JSON.parse(out) as {
    name: string;
    connection: string;
    lastUsedAt: string;
    expiresAt: string;
  }[];
  const seen = rows.find(({ name }) => name === 'seen');
  expect(seen).toMatchObject({ connection: 'other', source: 'stored', state: 'valid' });
  expect(Date.parse(seen?.expiresAt ?? '') - Date.now()).toBeGreaterThan(89.9 * 86_400_000);
  expect(Date.now() - Date.parse(seen?.lastUsedAt ?? '')).toBeLessThan(60_000);
  const primary = rows.find(({ name }) => name === 'primary');
  expect(primary).toMatchObject({ source: 'settings', createdAt: null, expiresAt: null });
  expect(primary?.lastUsedAt).not.toBeNull();
  const only = JSON.parse(
    (await rig.command('token', 'list', '--connection', 'other', '--json')).out,
  ) as unknown[];
  expect(only).toHaveLength(1);
});

test('the first use of a created token is stored in Redis within seconds', async () => {
  const secret = await rig.create('first');
  await eventually('known', () => isAccepted(one, secret), 2500);
  await eventually(
    'stored',
    async () => (await redis.hget(`${rig.prefix}:{default}:tokenUses`, 'first')) !== null,
    5000,
  );
});

test('the metric of the last use of a token includes uses at another process that started earlier', async () => {
  await asClient(one, SETTINGS_TOKEN).get('/Users');
  const stored = await eventually(
    'stored',
    () => redis.hget(`${rig.prefix}:{default}:tokenUses`, 'primary'),
    5000,
  );
  const later = await rig.start();
  const used = await eventually('read', async () => {
    const labels = { connection: 'default', token: 'primary' };
    const value = (await scrape(later.port)).value('bridge_token_last_used_timestamp_seconds', labels);
    return value > 0 && value;
  });
  expect(used).toBeGreaterThanOrEqual(Number(stored) / 1000);
  await later.stop();
});

test('`token create` prints only the token on standard output, and a refused `token` command says what to do', async () => {
  const { code, out, err } = await rig.command('token', 'create', '--name', 'plain', '--expires', '4w');
  expect([code, out.match(/^scimb_\S+$/) !== null]).toEqual([0, true]);
  expect(err).toContain('plain');
  for (const [args, message] of [
    [['create', 'plain'], 'already'],
    [['create', 'primary'], 'already'],
    [['create', 'Not A Name'], 'lower-case'],
    [['create', 'x', '--expires', 'soon'], '90d'],
    [['create', 'x', '--expires', '2020-01-31'], 'past'],
    [['create', 'x', '--expires', '0d'], 'past'],
    [['create', 'x', '--connection', 'nowhere'], 'default, other'],
    [['revoke', 'nobody'], 'token list'],
    [['revoke', 'primary'], 'settings'],
  ] as const) {
    const answer = await rig.command('token', ...args);
    expect([args, answer.code, answer.out]).toEqual([args, 1, '']);
    expect(answer.err).toContain(message);
  }
});

test('a token that expires soon is logged once at the start, with the number of days left', async () => {
  await rig.create('ends-soon', '--expires', '5d');
  await rig.start();
  const told = rig.logs.filter((line) => line.includes('ends-soon') && line.includes('expires soon'));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] ?? '')).toMatchObject({
    connection: 'default',
    tokenName: 'ends-soon',
    daysLeft: 5,
  });
});

test('while last uses of tokens cannot be stored, the log says this once, and does not say that tokens cannot be read', async () => {
  const key = `${rig.prefix}:{default}:tokenUses`;
  const about = (text: string): string[] => rig.logs.filter((line) => line.includes(text));
  await redis.del(key);
  await redis.set(key, 'not a hash: each write of a last use fails');
  try {
    // Each new token has a first use that has to be stored.
    for (const name of ['unstored', 'unstored-2']) {
      const secret = await rig.create(name);
      await eventually('known', () => isAccepted(one, secret), 2500);
      await eventually('told', () => about('last uses of tokens cannot be stored').length > 0, 5000);
    }
    const told = about('last uses of tokens cannot be stored').map((line) => JSON.parse(line) as unknown);
    expect(told).toEqual([expect.objectContaining({ connection: 'default' })]);
    expect(about('stored tokens cannot be read')).toEqual([]);
  } finally {
    await redis.del(key);
  }
});
