// Tests the chat client against the sandbox: records, resumption, abort and errors.
import { connect, createServer, type AddressInfo } from 'node:net';
import {
  ChatFailed,
  ChatUnauthorized,
  createChatClient,
  finalAnswer,
  PlatformAborted,
  PlatformConfiguration,
  PlatformConnection,
  ThreadBusy,
  type ChatOptions,
  type ChatRecord,
} from '../../../src/platform/library.ts';
import { eventually } from '../../support/eventually.ts';
import { startChat } from '../sandbox/chat-rig.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { thrownBy } from './fake-platform.ts';
import { all } from './sandbox-rig.ts';

let rig: Awaited<ReturnType<typeof startChat>>;
const clients: { close(): Promise<void> }[] = [];
const ada = { externalId: 'ada' };

function client(more: Partial<ChatOptions> = {}) {
  const made = createChatClient({
    url: rig.ready.chatHost,
    accountName: rig.ready.accountName,
    ...(more.deploymentId ? {} : { agentId: '1' }),
    ...(more.token ? {} : { apiKey: rig.key('admin') }),
    allowLoopbackHttp: true,
    ...more,
  });
  clients.push(made);
  return made;
}

beforeAll(async () => {
  rig = await startChat();
});
beforeEach(() => rig.reset());
afterAll(async () => {
  await Promise.all(clients.map((one) => one.close()));
  await rig.stop();
});

const chatIdOf = (records: ChatRecord[]): string => records[0]?.state?.chatId ?? '';

test('a chat answer is read record by record, up to the final answer', async () => {
  const records = await all(client().ask({ input: 'hello', sessionSettings: ada }));
  expect([records[0]?.id, records.at(-1)?.id]).toEqual(['__cutoff__', '__state__']);
  expect(records[1]).toMatchObject({
    role: 'user',
    content: 'hello',
    id: expect.stringMatching(/^\d{13,}-message$/),
  });
  const answer = finalAnswer(records);
  expect(answer).toMatchObject({ role: 'assistant', isInProcess: false, content: expect.any(String) });
  expect(records.at(-1)?.state).toMatchObject({ isStreaming: false });
});

test('a question with a chatId continues its thread, and read returns the thread without a new question', async () => {
  const chat = client();
  const chatId = chatIdOf(await all(chat.ask({ input: 'one', sessionSettings: ada })));
  await all(chat.ask({ input: 'two', chatId, sessionSettings: ada }));
  const read = await all(chat.read({ chatId, sessionSettings: ada }));
  const asked = read.filter(({ role }) => role === 'user').map(({ content }) => content);
  expect(asked).toEqual(['one', 'two']);
  const elsewhere = await thrownBy(all(chat.read({ chatId, sessionSettings: { externalId: 'eve' } })));
  expect(elsewhere).toMatchObject({ name: 'PlatformResponse', status: 404 });
});

test('a token function of the chat client is called once for each request', async () => {
  let fetched = 0;
  const token = async () => {
    fetched += 1;
    return rig.token({ externalId: 'ada', turn: fetched });
  };
  await all(client({ token }).ask({ input: 'hello' }));
  const byDeployment = client({ token, deploymentId: '1' });
  expect(finalAnswer(await all(byDeployment.ask({ input: 'hello' })))).toBeDefined();
  expect(fetched).toBe(2);
});

test('a chat call with a bad credential throws ChatUnauthorized, which does not quote the credential', async () => {
  const apiKey = 'sk-this-is-no-key';
  const fault = await thrownBy(all(client({ apiKey }).ask({ input: 'hello', sessionSettings: ada })));
  expect(fault).toBeInstanceOf(ChatUnauthorized);
  expect(JSON.stringify(fault) + String(fault)).not.toContain(apiKey);
  const token = await rig.token({ externalId: 'ada', scope: ['data'] });
  expect(await thrownBy(all(client({ token }).ask({ input: 'hello' })))).toBeInstanceOf(ChatUnauthorized);
});

test('a question to a chat thread that is answering throws ThreadBusy, and the running answer continues', async () => {
  const agentId = await rig.agent({ recordDelayMs: 40 });
  const chat = client({ agentId });
  const running: ChatRecord[] = [];
  let busy: unknown;
  for await (const record of chat.ask({ input: 'slow', sessionSettings: ada })) {
    running.push(record);
    const chatId = chatIdOf(running);
    busy ??= await thrownBy(all(chat.ask({ input: 'other', chatId, sessionSettings: ada })));
  }
  expect(busy).toBeInstanceOf(ThreadBusy);
  expect(finalAnswer(running)).toBeDefined();
});

test("a chat answer that fails at the platform throws ChatFailed with the platform's message", async () => {
  const agentId = await rig.agent({ failure: 'the model is away' });
  const fault = await thrownBy(all(client({ agentId }).ask({ input: 'hello', sessionSettings: ada })));
  expect(fault).toBeInstanceOf(ChatFailed);
  expect(fault).toMatchObject({ platformMessage: 'the model is away' });
});

test('abort ends the stream of a chat answer, and throws 404 for an unknown thread and 403 for a thread of another user', async () => {
  const agentId = await rig.agent({ recordDelayMs: 40 });
  const chat = client({ agentId });
  const records: ChatRecord[] = [];
  for await (const record of chat.ask({ input: 'slow', sessionSettings: ada })) {
    records.push(record);
    const chatId = chatIdOf(records);
    if (records.length !== 3) continue;
    expect(await thrownBy(chat.abort({ chatId, externalId: 'eve' }))).toMatchObject({ status: 403 });
    await chat.abort({ chatId, externalId: 'ada' });
  }
  expect(records.at(-1)).toMatchObject({ id: '__state__', state: { isStreaming: false } });
  expect(finalAnswer(records)).toBeUndefined();
  expect(await thrownBy(chat.abort({ chatId: 'nothing', externalId: 'ada' }))).toMatchObject({ status: 404 });
});

test('an aborted signal ends the reading of a chat answer, while the agent at the platform answers to the end', async () => {
  const agentId = await rig.agent({ recordDelayMs: 20 });
  const controller = new AbortController();
  const read = async () => {
    const question = { input: 'slow', sessionSettings: ada };
    for await (const _ of client({ agentId }).ask(question, { signal: controller.signal }))
      controller.abort();
  };
  expect(await thrownBy(read())).toBeInstanceOf(PlatformAborted);
  await eventually('the run ends by itself', async () => {
    const [thread] = await rig.threads();
    return thread.isStreaming === false && thread.messages.length > 1;
  });
});

/** Returns the final text of each message by its id. */
function finalTexts(records: ChatRecord[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { id, content = '', isDelta, role } of records) {
    if (role) texts.set(id, isDelta ? (texts.get(id) ?? '') + content : content);
  }
  return texts;
}

test('a lost chat connection is resumed without lost records and without a second question', async () => {
  const agentId = await rig.agent({ recordDelayMs: 30 });
  const proxy = await startCuttingProxy(rig.ready.chatHost);
  const records: ChatRecord[] = [];
  let cuts = 0;
  const chat = client({ agentId, url: proxy.url });
  for await (const record of chat.ask({ input: 'hello', sessionSettings: ada })) {
    records.push(record);
    if (record.role === 'assistant' && cuts < 2) {
      cuts += 1;
      proxy.cut();
    }
  }
  await proxy.stop();
  expect([cuts, proxy.accepted()]).toEqual([2, 3]);
  const stored = await all(client({ agentId }).read({ chatId: chatIdOf(records), sessionSettings: ada }));
  expect(finalTexts(records)).toEqual(finalTexts(stored));
  expect(stored.filter(({ role }) => role === 'user')).toHaveLength(1);
  expect(finalAnswer(records)?.content).toBe(finalAnswer(stored)?.content);
});

test.each([8, 80])('%i concurrent chat questions each get their own thread and answer', async (number) => {
  const chat = client({ agentId: await rig.agent({ recordDelayMs: 1 }) });
  const inputs = Array.from({ length: number }, (_, place) => `hello number ${place}`);
  const answers = await Promise.all(inputs.map((input) => all(chat.ask({ input, sessionSettings: ada }))));
  expect(answers.map((records) => records.find(({ role }) => role === 'user')?.content)).toEqual(inputs);
  expect(new Set(answers.map(chatIdOf)).size).toBe(number);
});

test('a chat stream that is lost before its first record is resumed without a second question', async () => {
  const { hostname, port } = new URL(rig.ready.chatHost);
  let accepted = 0;
  const proxy = createServer((socket) => {
    accepted += 1;
    const upstream = connect(Number(port), hostname);
    for (const each of [socket, upstream]) each.on('error', () => undefined);
    socket.pipe(upstream);
    if (accepted === 1) upstream.once('data', () => socket.destroy());
    else upstream.pipe(socket);
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const chat = client({ agentId: await rig.agent({ recordDelayMs: 5 }), url });
  const records = await all(chat.ask({ input: 'hello', sessionSettings: ada }));
  expect(accepted).toBe(2);
  const stored = await all(client().read({ chatId: chatIdOf(records), sessionSettings: ada }));
  expect(stored.filter(({ role }) => role === 'user')).toHaveLength(1);
  expect(finalAnswer(records)?.content).toBe(finalAnswer(stored)?.content);
  await chat.close();
  proxy.close();
});

test('with `resumes: 0` a lost chat connection throws PlatformConnection and is not resumed', async () => {
  const agentId = await rig.agent({ recordDelayMs: 30 });
  const proxy = await startCuttingProxy(rig.ready.chatHost);
  const read = async () => {
    const question = { input: 'hello', sessionSettings: ada };
    for await (const _ of client({ agentId, url: proxy.url }).ask(question, { resumes: 0 })) proxy.cut();
  };
  expect(await thrownBy(read())).toBeInstanceOf(PlatformConnection);
  await proxy.stop();
});

test('a chat client with invalid options throws before it sends a request', () => {
  for (const wrong of [
    { deploymentId: '1' },
    { agentId: '1', deploymentId: '1', token: 'x' },
    { token: 'x' },
    { url: 'http://chat.example' },
  ]) {
    const options = {
      url: rig.ready.chatHost,
      accountName: 'acme',
      apiKey: 'sk-1',
      allowLoopbackHttp: true,
      ...wrong,
    };
    const make = () =>
      createChatClient('agentId' in wrong || 'url' in wrong ? { agentId: '1', ...options } : options);
    expect(make).toThrow(PlatformConfiguration);
  }
});
