// Tests notices from a push to the signed message at the receiver.
import { openDesiredStates } from '../../../src/app/open.ts';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { noticesOf, PAGE_URL, webhookTo } from '../../support/notice-channel.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { createScenarios } from '../../support/scenario.ts';
import { scrape } from '../../support/scrape.ts';
import { openAdmin, type AdminRig } from '../admin/rig.ts';

interface Context {
  rig: AdminRig;
  receiver: Receiver;
}

type Channels = Record<string, ReturnType<typeof webhookTo>>;

/** @param channelsOf channels that send to the endpoint of the receiver */
const openContext =
  (channelsOf: (endpoint: string) => Channels, isThere = true) =>
  async (): Promise<Context> => {
    const receiver = await startReceiver();
    receiver.isThere = isThere;
    const rig = await openAdmin({
      configure: ({ notices, targets }) => {
        Object.assign(notices, { pageUrl: PAGE_URL, channels: channelsOf(receiver.endpoint) });
        const { main } = targets;
        if (main) main.guard.deactivate = { count: 0, percent: 100 };
      },
    });
    return { rig, receiver };
  };
const close = async ({ rig, receiver }: Context): Promise<void> => {
  await rig.bridge.stop();
  await receiver.stop();
};
const toHook = (endpoint: string): Channels => ({ hook: webhookTo(endpoint) });
const toTwo = (endpoint: string): Channels => ({
  ...toHook(endpoint),
  broken: webhookTo(endpoint, { about: ['held'] }),
});
const test = createScenarios(openContext(toHook), close);
const testWithReceiverAway = createScenarios(openContext(toHook, false), close);
const testOfTwo = createScenarios(openContext(toTwo), close);
const testWithoutChannels = createScenarios(
  async () => ({ rig: await openAdmin(), receiver: await startReceiver() }),
  close,
);

/** Two people leave at once, so the guard holds both. @returns their ids */
async function leave({ bridge }: AdminRig): Promise<string[]> {
  const { idp, platform } = bridge;
  const ids = await Promise.all(['ada@acme.example', 'bob@acme.example'].map((name) => idp.createUser(name)));
  await bridge.idle();
  for (const id of ids) await idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  await bridge.idle();
  expect((await platform.user('ada@acme.example'))?.active).toBe(true);
  return ids;
}

const createToken = async (rig: AdminRig, name: string, days: number): Promise<void> => {
  const order = { connection: 'default', name, expires: `${days}d` };
  const { status } = await rig.operator.post('/tokens', order);
  expect(status).toBe(201);
};

test('one notice reports held changes with a link and without names, and a later one reports them as resolved after their rejection', async ({
  rig,
  receiver,
}) => {
  const ids = await leave(rig);
  const [first] = await eventually('told', () => receiver.posts.length > 0 && noticesOf(receiver));
  expect(first?.items).toEqual([
    {
      about: 'held',
      connection: 'default',
      target: 'main',
      reason: null,
      count: 2,
      state: 'new',
      since: expect.stringMatching(/^20.*Z$/),
      summary:
        'default → main: 2 changes held by the guard until an operator decides or the approval expires',
      link: `${PAGE_URL}/admin/#/approvals`,
    },
  ]);
  for (const word of ['ada', 'bob', 'acme', 'Doe', ...ids])
    expect(receiver.posts[0]?.text).not.toContain(word);

  // The next message contains the later change only, so the first change was not reported twice.
  await createToken(rig, 'next', 5);
  await eventually('told', () => receiver.posts.length > 1);
  const [{ id }] = (await rig.operator.get('/approvals')).body;
  expect((await rig.operator.post(`/approvals/${id}/reject`, { by: 'grace', note: 'no' })).status).toBe(200);
  const all = await eventually('resolved', () => {
    const told = noticesOf(receiver)
      .slice(1)
      .flatMap(({ items }) => items);
    return told.some(({ state }) => state === 'resolved') && told;
  });
  expect(all.filter(({ about }) => about !== 'exceptions')).toMatchObject([
    { about: 'tokens', state: 'new', count: 1, target: null, link: `${PAGE_URL}/admin/#/tokens` },
    { about: 'held', state: 'resolved', count: 2 },
  ]);
  await eventually('the exceptions that the rejection made', () =>
    noticesOf(receiver)
      .flatMap(({ items }) => items)
      .some(({ about, reason, count }) => about === 'exceptions' && reason === 'Rejected' && count === 2),
  );
  expect(receiver.posts.map(({ text }) => text).join()).not.toMatch(/grace|ada|bob/);
  expect(new Set(noticesOf(receiver).map((each) => each.id)).size).toBe(receiver.posts.length);
}, 60_000);

testWithReceiverAway(
  'a receiver that was away gets the pending notice once when it is back, with the id of the first attempt',
  async ({ rig, receiver }) => {
    await leave(rig);
    await eventually('an attempt failed', () =>
      rig.bridge.logs.some((line) => line.includes('a notice cannot be delivered')),
    );
    const failing = (await rig.operator.get('/doctor')).body as {
      area: string;
      level: string;
      message: string;
    }[];
    expect(failing.find(({ area }) => area === 'notices hook')).toMatchObject({
      level: 'warning',
      message: expect.stringContaining('nothing was delivered yet'),
    });
    receiver.answers.push({ status: 503, headers: { 'retry-after': '12' } });
    receiver.isThere = true;
    await eventually('delivered', () => receiver.posts.some(({ answered }) => answered === 202), 60_000);
    await createToken(rig, 'next', 5);
    const told = await eventually('the next change', () => {
      const found = noticesOf(receiver);
      return found.some(({ items }) => items.some(({ about }) => about === 'tokens')) && found;
    });
    expect(told.map(({ answered }) => answered)).toEqual([503, 202, 202]);
    expect(new Set(told.slice(0, 2).map(({ id }) => id)).size).toBe(1);
    expect(new Set(receiver.posts.slice(0, 2).map(({ text }) => text)).size).toBe(1);
    expect(told[2]?.id).not.toBe(told[0]?.id);
    const [first = 0, second = 0] = receiver.posts.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(second - first).toBeGreaterThanOrEqual(11);
    const findings = (await rig.operator.get('/doctor')).body as { area: string; level: string }[];
    expect(findings.find(({ area }) => area === 'notices hook')).toMatchObject({ level: 'ok' });
    const metrics = await scrape(rig.bridge.app.port);
    expect(metrics.value('bridge_notices_total', { channel: 'hook', result: 'delivered' })).toBe(2);
  },
  120_000,
);

test('of two processes of the service only one sends the notice about held changes', async ({
  rig,
  receiver,
}) => {
  await rig.bridge.another('scheduler');
  await leave(rig);
  await eventually('told', () => receiver.posts.length > 0);
  await createToken(rig, 'next', 5);
  await eventually('told', () => receiver.posts.length > 1);
  expect(noticesOf(receiver).map(({ items }) => items.map(({ about }) => about))).toEqual([
    ['held'],
    ['tokens'],
  ]);
}, 60_000);

testWithoutChannels(
  'without notice channels no notice is sent and no Redis key of notices is stored',
  async ({ rig }) => {
    expect((await rig.operator.post('/notices/test')).body).toEqual([]);
    const findings = (await rig.operator.get('/doctor')).body as { area: string }[];
    expect(findings.filter(({ area }) => area.startsWith('notices'))).toEqual([]);
    const { redis, reach } = openDesiredStates(rig.bridge.config);
    try {
      await reach();
      const keys = await redis.keys(`${rig.bridge.config.redis.prefix}:*`);
      expect(keys.length).toBeGreaterThan(0);
      expect(keys.filter((key) => key.includes('notices'))).toEqual([]);
    } finally {
      redis.disconnect();
    }
  },
  60_000,
);

testOfTwo(
  'POST /notices/test sends a test notice, returns the status that the receiver answered, and is in the audit log',
  async ({ rig, receiver }) => {
    const { body } = await rig.operator.post('/notices/test', { channel: 'hook', by: 'grace' });
    expect(body).toEqual([{ channel: 'hook', delivered: true, status: 202, problem: null }]);
    expect(noticesOf(receiver)).toMatchObject([
      { items: [{ about: 'test', link: `${PAGE_URL}/admin/#/overview` }] },
    ]);
    expect((await rig.operator.post('/notices/test', { channel: 'other' })).status).toBe(404);
    const acts = await rig.raw('/admin/v1/acts', { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    expect(await acts.text()).toMatch(/"testNotices".*"grace"|"grace".*"testNotices"/);
  },
  60_000,
);
