// Tests the optional language model of chat, which selects members only; the sandbox checks rights and runs the query.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { as, finalOf, startChat, toolResults, type ChatRig } from './chat-rig.ts';

let rig: ChatRig;
let server: Server;
let reply: (body: any) => { status?: number; content: string };
let asked: any[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      const body = JSON.parse(text);
      asked.push({ path: request.url, authorization: request.headers.authorization, body });
      const { status = 200, content } = reply(body);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  rig = await startChat({ chatModel: { url: `http://127.0.0.1:${port}/v1`, model: 'small', apiKey: 'k' } });
});
beforeEach(async () => {
  await rig.reset();
  await rig.group('analysts');
  asked = [];
});
afterAll(async () => {
  await rig.stop();
  await new Promise((resolve) => server.close(resolve));
});

const session = as('ada', { groups: ['analysts'], userAttributes: [{ name: 'country', value: 'DE' }] });
const choice = { cube: 'orders', measures: ['orders.count'], dimensions: ['orders.country'] };

test('the language model selects the members of a chat query, and the rows are those that the caller may see', async () => {
  reply = () => ({ content: JSON.stringify(choice) });
  const { records } = await rig.talk({ input: 'Wie viele Bestellungen je Land?', ...session });
  const [{ result }] = toolResults(records, 'serviceSqlApi');
  expect(result.data).toEqual([['DE', expect.any(String)]]);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ path: '/v1/chat/completions', authorization: 'Bearer k' });
  expect(asked[0].body.model).toBe('small');
});

test('a member that the language model selects and the caller may not see is not queried', async () => {
  for (const content of [
    JSON.stringify({ cube: 'raw_orders', measures: ['raw_orders.count'] }),
    JSON.stringify({ cube: 'orders', measures: ['orders.count); DROP TABLE orders'] }),
    'no JSON at all',
    '[]',
  ]) {
    reply = () => ({ content });
    const { records } = await rig.talk({ input: 'anything', ...session });
    expect(toolResults(records, 'serviceSqlApi')).toEqual([]);
    expect(finalOf(records).content).toContain('visible to you');
  }
});

test('when the language model answers 500, the chat stream has an error line, and its thread is no longer streaming', async () => {
  reply = () => ({ status: 500, content: '' });
  const { records } = await rig.talk({ input: 'anything', ...session });
  expect(records).toContainEqual({ error: 'The chat model answered 500' });
  expect(records.at(-1)).toMatchObject({ id: '__state__', state: { isStreaming: false } });
});

test('a sandbox with a language model at plain http beyond loopback refuses to start', async () => {
  const chatModel = { url: 'http://models.example.com/v1', model: 'small' };
  await expect(startChat({ chatModel })).rejects.toThrow('https');
});
