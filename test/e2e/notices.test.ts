// Tests that notices survive kill -9 of the process that sends them, and the command that tests a channel.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSandbox } from '../../src/sandbox/server.ts';
import '../support/load-modules.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { noticesOf, PAGE_URL, webhookTo } from '../support/notice-channel.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { createScenario } from '../support/scenario.ts';
import { settingsFor } from '../support/settings.ts';

interface Context {
  receiver: Receiver;
  bridge: BridgeProcess;
  commands: Commands;
  /** True: a proxy in front of the receiver holds its answers back. */
  front: { isKept: boolean };
  stop: () => Promise<void>;
}

async function openContext(): Promise<Context> {
  const [sandbox, receiver] = await Promise.all([startSandbox(), startReceiver()]);
  const front = { isKept: false };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { host: _host, connection: _connection, ...headers } = request.headers as Record<string, string>;
      const answer = await fetch(receiver.endpoint, { method: 'POST', headers, body: Buffer.concat(chunks) });
      if (!front.isKept) response.writeHead(answer.status).end();
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const settings = {
    ...settingsFor(sandbox),
    notices: { pageUrl: PAGE_URL, channels: { hook: webhookTo(url) } },
  };
  const commands = createCommands(settings);
  const bridge = await startBridgeProcess(settings);
  const stop = async (): Promise<void> => {
    await bridge.stop();
    commands.remove();
    server.closeAllConnections();
    server.close();
    await Promise.all([receiver.stop(), sandbox.stop()]);
  };
  return { receiver, bridge, commands, front, stop };
}

const subjects = (receiver: Receiver) =>
  noticesOf(receiver).map(({ items }) => items.map(({ about, state }) => `${about} ${state}`));

/** The lease of a killed process ends after 20 s, so each kill has a bridge of its own. */
const afterKill = createScenario(openContext, ({ stop }) => stop());
const afterRefusal = createScenario(openContext, ({ stop }) => stop());
const test = createScenario(openContext, ({ stop }) => stop());

afterKill(
  'after a kill before the answer a message is sent again with the same id',
  async ({ receiver, bridge, commands, front }) => {
    front.isKept = true;
    expect((await commands.run('hold', '--target', 'main')).code).toBe(0);
    await eventually('posted', () => receiver.posts.length === 1);
    front.isKept = false;
    await bridge.killAndRestart();
    await eventually('posted again', () => receiver.posts.length === 2, 45_000);
    const [first, second] = noticesOf(receiver);
    expect(second).toEqual(first);
    expect(receiver.posts[1]?.text).toBe(receiver.posts[0]?.text);
    expect(subjects(receiver)).toEqual([['exceptions new'], ['exceptions new']]);
  },
  120_000,
);

test('the process is killed after a message about a problem was delivered → the message is not sent again, and the end of the problem is reported', async ({
  receiver,
  bridge,
  commands,
}) => {
  expect((await commands.run('hold', '--target', 'main')).code).toBe(0);
  await eventually('posted', () => receiver.posts.length === 1);
  await eventually('noted', async () =>
    (await commands.run('doctor')).text.includes('notices hook: last delivered'),
  );
  await bridge.killAndRestart();
  expect((await commands.run('release', '--target', 'main')).code).toBe(0);
  await eventually('resolved', () => receiver.posts.length === 2, 45_000);
  expect(subjects(receiver)).toEqual([['exceptions new'], ['exceptions resolved']]);
}, 120_000);

afterRefusal(
  'a message that waits for an hour, as its receiver asked, is sent soon after a test of the channel that succeeds',
  async ({ receiver, commands }) => {
    receiver.answers.push({ status: 503, headers: { 'retry-after': '3000' } });
    expect((await commands.run('hold', '--target', 'main')).code).toBe(0);
    await eventually('refused', () => receiver.posts.length === 1);
    await eventually('doctor tells the next attempt', async () =>
      /answered 503.*are sent again at 2\S+Z, or soon after a test that succeeds/.test(
        (await commands.run('doctor')).text,
      ),
    );
    expect((await commands.run('notices', 'test', 'hook')).code).toBe(0);
    await eventually('sent', () => receiver.posts.length === 3, 20_000);
    expect(subjects(receiver)).toEqual([['exceptions new'], ['test new'], ['exceptions new']]);
  },
  60_000,
);

test("the command `notices test` prints the status of the receiver's answer, and names an unknown channel", async ({
  receiver,
  commands,
}) => {
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
