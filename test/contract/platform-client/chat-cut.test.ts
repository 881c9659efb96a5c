// Tests that a chat stream which ends early never counts as an answer, however it ends, and that an answer has no earlier turns.
import { createServer, type Server } from 'node:http';
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
} from 'node:net';
import {
  createChatClient,
  finalAnswer,
  PlatformConnection,
  type ChatRecord,
} from '../../../src/platform/library.ts';
import { startChat } from '../sandbox/chat-rig.ts';
import { thrownBy } from './fake-platform.ts';
import { all } from './sandbox-rig.ts';

const servers: (Server | TcpServer)[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function listening(server: Server | TcpServer): Promise<string> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const line = (record: object): string =>
  `${JSON.stringify({ isDelta: false, isInProcess: false, ...record })}\n`;
const START = line({ id: '__cutoff__', sort: 0, state: { chatId: 'c', isStreaming: false } });
const ANSWER = line({ id: 'a', role: 'assistant', graphPath: ['final'], content: 'all of it', sort: 2 });
const END = line({ id: '__state__', sort: 3, state: { chatId: 'c', isStreaming: false } });

/** Starts a server that ends its answers regularly, the first with `text`, the others whole. @returns a client */
async function clientOf(text: string) {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume();
    asked += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(asked === 1 ? text : START + ANSWER + END);
  });
  const url = await listening(server);
  return createChatClient({
    url,
    accountName: 'acme',
    agentId: '1',
    apiKey: 'sk-1',
    allowLoopbackHttp: true,
  });
}

test.each([
  ['before the closing record', START + line({ id: 'a', role: 'assistant', content: 'all', sort: 1 })],
  ['within a record', START + ANSWER.slice(0, 40)],
])(
  'a chat stream ends %s although its connection ends regularly → it is resumed, and an error without resumes',
  async (_, text) => {
    const alone = await thrownBy(all((await clientOf(text)).ask({ input: 'hello' }, { resumes: 0 })));
    expect(alone).toBeInstanceOf(PlatformConnection);
    const records = await all((await clientOf(text)).ask({ input: 'hello' }));
    expect(finalAnswer(records)?.content).toBe('all of it');
  },
);

test('a resumed chat stream without `sort` in its records yields the missed messages', async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(servedBefore++ === 0 ? START : resumed);
  });
  let servedBefore = 0;
  const message = {
    id: 'a',
    role: 'assistant',
    graphPath: ['final'],
    content: 'all of it',
    isInProcess: false,
  };
  const resumed =
    line({ id: '__cutoff__', state: { chatId: 'c', isStreaming: true, messages: [message] } }) + END;
  const url = await listening(server);
  const client = createChatClient({
    url,
    accountName: 'acme',
    agentId: '1',
    apiKey: 'sk-1',
    allowLoopbackHttp: true,
  });
  expect(finalAnswer(await all(client.ask({ input: 'hello' })))?.content).toBe('all of it');
});

test('a question in a thread is lost before its first record, and its first resume while it repeats the earlier turns → the second resume yields no earlier turn', async () => {
  const messageId = '1700000000000-message';
  const earlier = [1, 2, 3].map((sort) => line({ id: `earlier${sort}`, role: 'assistant', sort }));
  const question = line({ id: messageId, role: 'user', content: 'hello', sort: 4 });
  const answer = line({ id: 'a', role: 'assistant', graphPath: ['final'], content: 'all of it', sort: 5 });
  const end = line({ id: '__state__', sort: 6, state: { chatId: 'c', isStreaming: false } });
  const answers = ['', [START, ...earlier.slice(0, 1)], [START, ...earlier, question, answer, end]];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end([answers.shift()].flat().join(''));
  });
  const client = createChatClient({
    url: await listening(server),
    accountName: 'acme',
    agentId: '1',
    apiKey: 'sk-1',
    allowLoopbackHttp: true,
  });
  const records = await all(client.ask({ input: 'hello', chatId: 'c', messageId }));
  expect(records.filter(({ role }) => role !== undefined).map(({ id }) => id)).toEqual([messageId, 'a']);
});

test('a question in a thread is lost before its first record, and the agent fails meanwhile → the answer to the earlier question is not taken for its answer', async () => {
  const rig = await startChat();
  const sessionSettings = { externalId: 'ada' };
  const clientAt = (url: string, agentId: string) =>
    createChatClient({
      url,
      accountName: rig.ready.accountName,
      agentId,
      apiKey: rig.key('admin'),
      allowLoopbackHttp: true,
    });
  try {
    const earlier = await all(clientAt(rig.ready.chatHost, '1').ask({ input: 'one', sessionSettings }));
    const chatId = earlier[0]?.state?.chatId ?? '';
    expect(finalAnswer(earlier)).toBeDefined();
    const { hostname, port } = new URL(rig.ready.chatHost);
    let accepted = 0;
    const url = await listening(
      createTcpServer((socket) => {
        accepted += 1;
        const upstream = connect(Number(port), hostname);
        for (const each of [socket, upstream]) each.on('error', () => undefined);
        socket.pipe(upstream);
        if (accepted === 1) upstream.once('data', () => socket.destroy());
        else upstream.pipe(socket);
      }),
    );
    const failing = await rig.agent({ failure: 'the model is away' });
    const records: ChatRecord[] = await all(
      clientAt(url, failing).ask({ input: 'two', chatId, sessionSettings }),
    );
    expect(accepted).toBe(2);
    expect(records.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['two']);
    expect(finalAnswer(records)).toBeUndefined();
  } finally {
    await rig.stop();
  }
});
