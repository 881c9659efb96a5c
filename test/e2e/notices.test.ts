// Tests that notices survive kill -9 of the process that sends them, and the command that tests a channel.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { noticesOf, PAGE_URL, webhookTo } from '../support/notice-channel.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { settingsFor } from '../support/settings.ts';

let sandbox: Sandbox;
let receiver: Receiver;
let bridge: BridgeProcess;
let commands: Commands;
/** A proxy in front of the receiver that can hold its answers back. */
let isKept = false;
const front = createServer((request: IncomingMessage, response: ServerResponse) => {
  void (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host: _host, connection: _connection, ...headers } = request.headers as Record<string, string>;
    const answer = await fetch(receiver.endpoint, { method: 'POST', headers, body: Buffer.concat(chunks) });
    if (!isKept) response.writeHead(answer.status).end();
  })().catch(() => response.destroy());
});

beforeAll(async () => {
  [sandbox, receiver] = await Promise.all([startSandbox(), startReceiver()]);
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/`;
  const settings = {
    ...settingsFor(sandbox),
    notices: { pageUrl: PAGE_URL, channels: { hook: webhookTo(url) } },
  };
  commands = createCommands(settings);
  bridge = await startBridgeProcess(settings);
}, 90_000);
afterAll(async () => {
  await bridge.stop();
  commands.remove();
  front.closeAllConnections();
  front.close();
  await Promise.all([receiver.stop(), sandbox.stop()]);
});

const subjects = () =>
  noticesOf(receiver).map(({ items }) => items.map(({ about, state }) => `${about} ${state}`));

test('after a kill before the answer a message is sent again with the same id, and delivered ones are not repeated', async () => {
  isKept = true;
  expect((await commands.run('hold', '--target', 'main')).code).toBe(0);
  await eventually('posted', () => receiver.posts.length === 1);
  isKept = false;
  await bridge.killAndRestart();
  // The lease of the killed process ends after 20 s.
  await eventually('posted again', () => receiver.posts.length === 2, 45_000);
  const [first, second] = noticesOf(receiver);
  expect(second).toEqual(first);
  expect(receiver.posts[1]?.text).toBe(receiver.posts[0]?.text);

  await eventually('noted', async () =>
    (await commands.run('doctor')).text.includes('notices hook: last delivered'),
  );
  await bridge.killAndRestart();
  expect((await commands.run('release', '--target', 'main')).code).toBe(0);
  await eventually('resolved', () => receiver.posts.length === 3, 45_000);
  expect(subjects()).toEqual([['exceptions new'], ['exceptions new'], ['exceptions resolved']]);
}, 180_000);

test('the command `notices test` prints the status of the receiver, and names an unknown channel', async () => {
  const before = receiver.posts.length;
  const done = await commands.run('notices', 'test', 'hook');
  expect([done.code, done.text]).toEqual([0, 'hook: delivered (202)']);
  expect(receiver.posts).toHaveLength(before + 1);
  const other = await commands.run('notices', 'test', 'other');
  expect([other.code, other.text]).toEqual([1, expect.stringContaining('The settings have: hook.')]);
  receiver.answers.push({ status: 404 });
  const refused = await commands.run('notices', 'test', '--json');
  expect([refused.code, refused.json]).toEqual([
    1,
    [{ channel: 'hook', delivered: false, status: 404, problem: 'answered 404' }],
  ]);
  const acts = await commands.run('acts', '--action', 'testNotices', '--json');
  expect(acts.text.split('\n')).toHaveLength(2);
  const printed = await commands.run('check-config', '--print');
  expect(printed.text).not.toContain('whsec_');
}, 60_000);
