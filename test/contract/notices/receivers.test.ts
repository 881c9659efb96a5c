// Tests receivers that misbehave, and the messages of Slack and Teams: a failing channel does not affect others.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openDesiredStates } from '../../../src/app/open.ts';
import { createKeyspace } from '../../../src/directory/keys.ts';
import { eventually } from '../../support/eventually.ts';
import { noticesOf, PAGE_URL, webhookTo } from '../../support/notice-channel.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { scrape } from '../../support/scrape.ts';
import { openAdmin, type AdminRig } from '../admin/rig.ts';

const BIG_BYTES = 9_000_000;

let rig: AdminRig;
let good: Receiver;
let slack: Receiver;
let teams: Receiver;
let redirecting: Receiver;
let gone: Receiver;
let silent: Server;
let flooding: Server;
let endless: Server;
let later: Receiver;
let taken = 0;
let asked = 0;
let flooded = 0;

const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const listen = async (server: Server): Promise<Server> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
};
const chat = { secret: null } as const;

beforeAll(async () => {
  [good, slack, teams, redirecting, gone, later] = await Promise.all([
    startReceiver(),
    startReceiver(),
    startReceiver(),
    startReceiver(),
    startReceiver(),
    startReceiver(),
  ]);
  // Redirects to the good receiver: a client that follows it would send the message of this channel there.
  for (let count = 0; count < 10; count++)
    redirecting.answers.push({ status: 307, headers: { location: good.endpoint } });
  for (let count = 0; count < 10; count++) gone.answers.push({ status: 410 });
  silent = await listen(createServer(() => void (asked += 1)));
  flooding = await listen(
    createServer((request, response) => {
      request.resume();
      response.writeHead(200);
      const piece = Buffer.alloc(90_000, 'a');
      const write = (): void => {
        while (flooded < BIG_BYTES && !response.destroyed) {
          flooded += piece.length;
          if (!response.write(piece)) return void response.once('drain', write);
        }
        response.end();
      };
      write();
    }),
  );
  endless = await listen(
    createServer((request, response) => {
      request.resume().once('end', () => void (taken += 1));
      response.writeHead(200).write('taken');
    }),
  );
  rig = await openAdmin({
    configure: ({ notices }) => {
      notices.pageUrl = PAGE_URL;
      notices.channels = {
        silent: webhookTo(addressOf(silent)),
        flooding: webhookTo(addressOf(flooding)),
        endless: webhookTo(addressOf(endless)),
        later: webhookTo(later.endpoint, { about: ['reconcile'] }),
        redirecting: webhookTo(redirecting.endpoint),
        gone: webhookTo(gone.endpoint),
        good: webhookTo(good.endpoint),
        slack: webhookTo(slack.endpoint, { ...chat, form: 'slack' }),
        teams: webhookTo(teams.endpoint, { ...chat, form: 'teams' }),
        reconciles: webhookTo(good.endpoint, { about: ['reconcile'] }),
      };
    },
  });
  await rig.operator.post('/hold', { by: 'grace', note: 'a secret reason' });
}, 60_000);
afterAll(async () => {
  await rig.bridge.stop();
  for (const server of [silent, flooding, endless]) {
    server.closeAllConnections();
    server.close();
  }
  await Promise.all([good, slack, teams, redirecting, gone, later].map((each) => each.stop()));
});

const finding = async (channel: string): Promise<{ level: string; message: string } | undefined> => {
  const { body } = await rig.operator.get('/doctor');
  return body.find(({ area }: { area: string }) => area === `notices ${channel}`);
};

test('a receiver gets the notice of its channel within seconds while receivers of other channels redirect, hang, send endless answers or answer 410', async () => {
  await eventually('told', () => good.posts.length > 0, 8000);
  await eventually('the silent receiver was asked', () => asked > 0);
  // The receiver got the message of its own channel only, and not the redirected message of another channel.
  expect(noticesOf(good).map(({ items }) => items)).toMatchObject([
    [{ about: 'exceptions', reason: 'OnHold', summary: 'default → main: all writes are stopped' }],
  ]);
  const { status } = await rig.bridge.idp.send('GET', '/Users?count=1');
  expect(status).toBe(200);
}, 60_000);

test('a notice to Slack has a text and blocks with a link to the page, and no signature', async () => {
  const [post] = await eventually('told', () => slack.posts.length > 0 && slack.posts);
  const { text, blocks } = JSON.parse(post?.text ?? '');
  expect(text).toBe('scim-bridge: default → main: all writes are stopped');
  expect(blocks).toMatchObject([{ type: 'section', text: { type: 'mrkdwn' } }]);
  expect(blocks[0].text.text).toContain(`<${PAGE_URL}/admin/#/exceptions|Open>`);
  expect(post?.headers).not.toHaveProperty('webhook-signature');
}, 60_000);

test('a notice to Teams is an adaptive card with a link to the page', async () => {
  const [post] = await eventually('told', () => teams.posts.length > 0 && teams.posts);
  const { attachments } = JSON.parse(post?.text ?? '');
  expect(attachments[0].content.body.at(-1).text).toContain(`[Open](${PAGE_URL}/admin/#/exceptions)`);
}, 60_000);

test('no notice contains the operator or the note of the order that it reports', () => {
  const texts = [good, slack, teams].flatMap(({ posts }) => posts.map(({ text }) => text)).join();
  expect(texts).not.toMatch(/grace|secret reason/);
});

test('a notice answered with 200 and a 9 MB body counts as delivered, and the body is not read to its end', async () => {
  await eventually('delivered', async () => (await finding('flooding'))?.level === 'ok' && flooded > 0);
  expect(await finding('flooding')).toMatchObject({ message: expect.stringContaining('last delivered') });
  // The buffers of both sockets accept more bytes than the receiver reads.
  expect(flooded).toBeLessThan(BIG_BYTES);
}, 60_000);

test('a notice answered with 2xx counts as delivered, even if the body of the answer never ends', async () => {
  await eventually('noted', async () =>
    /last delivered|no answer/.test((await finding('endless'))?.message ?? ''),
  );
  expect(await finding('endless')).toMatchObject({ level: 'ok' });
  expect(taken).toBe(1);
}, 60_000);

test('after the clock of a process was set back by years, a pending notice is still sent', async () => {
  const { redis, reach } = openDesiredStates(rig.bridge.config);
  await reach();
  const at = Date.now();
  const condition = { about: 'reconcile', connection: 'default', target: 'main', reason: 'failed', count: 1 };
  const changes = [{ key: 'reconcile default main ', state: 'new', condition: { ...condition, since: at } }];
  const message = { id: 'msg_1', at, changes, attempts: 1, nextAt: at + 3e11 };
  const key = createKeyspace(rig.bridge.config.redis.prefix, 'bridge.notices').key('notices', 'later');
  await redis.hset(key, 'message', JSON.stringify(message));
  redis.disconnect();
  await eventually('sent', () => later.posts.length > 0);
  expect(noticesOf(later)[0]).toMatchObject({ id: 'msg_1' });
}, 60_000);

test('after an answer 410 no notice is sent to the receiver until an operator tests the channel with success', async () => {
  await eventually('told', () => gone.posts.length > 0);
  expect(await eventually('noted', async () => finding('gone'))).toMatchObject({
    level: 'error',
    message: expect.stringContaining('answered 410'),
  });
  gone.answers.length = 0;
  expect((await rig.operator.post('/notices/test', { channel: 'gone' })).body).toMatchObject([
    { status: 202 },
  ]);
  await eventually(
    'told at last',
    () => gone.posts.some(({ text }) => text.includes('OnHold')) && gone.posts.length === 3,
  );
  expect(noticesOf(gone).map(({ answered }) => answered)).toEqual([410, 202, 202]);
}, 60_000);

test('a notice that is answered with a redirect is dropped after three attempts, and the redirect is not followed', async () => {
  await eventually('three attempts', () => redirecting.posts.length === 3, 60_000);
  await eventually('noted', async () =>
    (await finding('redirecting'))?.message.includes('redirects are not followed'),
  );
  expect(new Set(noticesOf(redirecting).map(({ id }) => id)).size).toBe(1);
  expect(good.posts).toHaveLength(1);
  const metrics = await scrape(rig.bridge.app.port);
  expect(metrics.value('bridge_notices_total', { channel: 'redirecting', result: 'refused' })).toBe(3);
  expect(metrics.sum('bridge_notices_total', { channel: 'good', result: 'delivered' })).toBe(1);
}, 90_000);

test('a notice to a receiver that does not answer fails with `no answer`, and each failing channel has one line in the log', async () => {
  await eventually('noted', async () => (await finding('silent'))?.message.includes('no answer'), 30_000);
  const lines = rig.bridge.logs.filter((line) => line.includes('a notice cannot be delivered'));
  // One line for each failing channel, however often it fails.
  expect(lines).toHaveLength(3);
  expect(lines.join()).not.toContain('127.0.0.1:');
}, 60_000);
