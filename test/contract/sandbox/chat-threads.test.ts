// Tests chat threads: streaming, abort, resumption, expiry, and users who lose access (contract 6.4, 6.5 and 6.7).
import { eventually } from '../../support/eventually.ts';
import { as, asInternal, chatIdOf, finalOf, startChat, withToken, type ChatRig } from './chat-rig.ts';

let rig: ChatRig;
const QUESTION = 'How many orders by country?';
const FIRST = '1700000000001-message';
const SECOND = '1700000000002-message';

beforeAll(async () => {
  rig = await startChat();
});
beforeEach(async () => {
  await rig.reset();
  await rig.set({ chatRecordDelayMs: 20 });
});
afterAll(() => rig.stop());

/** Starts a stream. @returns the stream and its thread */
async function begin(body: object, options = {}) {
  const stream = await rig.open({ input: QUESTION, ...body }, options);
  const cutoff = await stream.next();
  return { ...stream, cutoff, chatId: cutoff.state.chatId as string };
}

const finishedAnswers = (records: any[]): any[] =>
  records.filter(
    ({ role, isInProcess, toolCall }) => role === 'assistant' && isInProcess === false && !toolCall,
  );

test('STATE-05 CABORT-08 while a new chat thread streams, a second reader of the thread gets isStreaming true', async () => {
  const { chatId, rest } = await begin(as('ada'));
  const read = await rig.talk({ chatId, ...as('ada') });
  expect(read.records[0].state.isStreaming).toBe(true);
  expect(read.records.at(-1)).toMatchObject({ id: '__state__', state: { isStreaming: true } });
  expect((await rest()).at(-1)).toMatchObject({ id: '__state__', state: { isStreaming: false } });
  expect((await rig.talk({ chatId, ...as('ada') })).records[0].state.isStreaming).toBe(false);
});

test('STATE-06 CABORT-10 a second chat request with the same messageId joins the running answer and starts no second run', async () => {
  const first = await begin({ messageId: FIRST, ...as('ada') });
  await first.next();
  const second = await begin({ messageId: FIRST, chatId: first.chatId, ...as('ada') });
  expect(second.cutoff.state).toMatchObject({ isStreaming: true, chatId: first.chatId });
  expect(second.cutoff.state.messages[0]).toMatchObject({ role: 'user', content: QUESTION });
  const [whole, attached] = await Promise.all([first.rest(), second.rest()]);
  expect(finishedAnswers(attached)).toEqual(finishedAnswers(whole));
  expect(finishedAnswers(attached)).toHaveLength(1);
  const sorts = attached.map(({ sort }) => sort);
  expect(sorts).toEqual(whole.map(({ sort }) => sort).slice(-sorts.length));
  const [thread] = await rig.threads();
  expect(thread.runs).toHaveLength(1);
});

test('STATE-06 a client that lost the answer to a first question finds the thread by sending the same messageId again', async () => {
  const first = await begin({ messageId: FIRST, ...as('ada') });
  first.close();
  const again = await rig.talk({ input: QUESTION, messageId: FIRST, ...as('ada') });
  expect(chatIdOf(again.records)).toBe(first.chatId);
  expect(finishedAnswers(again.records)).toHaveLength(1);
  expect(await rig.threads()).toHaveLength(1);
  const other = await rig.talk({ input: QUESTION, messageId: FIRST, ...as('bob') });
  expect(chatIdOf(other.records)).not.toBe(first.chatId);
});

test('STATE-07 CABORT-11 another message to a streaming thread gets the line "Streaming for thread is in progress", and the stream continues', async () => {
  const first = await begin({ messageId: FIRST, ...as('ada') });
  for (const more of [{ messageId: SECOND }, {}]) {
    const busy = await rig.talk({ input: 'And now?', chatId: first.chatId, ...more, ...as('ada') });
    expect([busy.status, busy.records]).toEqual([200, [{ error: 'Streaming for thread is in progress' }]]);
  }
  const records = await first.rest();
  expect(finalOf(records)).toBeDefined();
  expect(records.at(-1).state.isStreaming).toBe(false);
  expect((await rig.threads())[0].runs).toHaveLength(1);
});

test('STATE-08 CABORT-03 CABORT-06 an abort by the owner of a chat thread answers 204 without a body, and the stream ends with its state', async () => {
  const stream = await begin(as('ada'));
  await stream.next();
  const aborted = await rig.abort({ chatId: stream.chatId, ...as('ada') });
  expect([aborted.status, aborted.text]).toEqual([204, '']);
  const read = await rig.talk({ chatId: stream.chatId, ...as('ada') });
  expect(read.records[0].state.isStreaming).toBe(false);
  const records = await stream.rest();
  expect(stream.status).toBe(200);
  expect(records.at(-1)).toMatchObject({ id: '__state__', state: { isStreaming: false } });
  expect(finalOf(records)?.isInProcess ?? true).toBe(true);
  expect((await rig.threads())[0].runs[0].outcome).toBe('aborted');
});

test('STATE-08 an abort ends the stream of an agent that sends no records, and the thread answers a later question', async () => {
  const agent = await rig.agent({ recordDelayMs: 60_000 });
  const stream = await begin(as('ada'), { agent });
  await stream.next();
  const before = performance.now();
  expect((await rig.abort({ chatId: stream.chatId, ...as('ada') }, { agent })).status).toBe(204);
  expect((await stream.rest()).map(({ id }) => id)).toEqual(['__state__']);
  expect(performance.now() - before).toBeLessThan(15_000);
  const next = await rig.talk({ input: QUESTION, chatId: stream.chatId, ...as('ada') }, { agent: '1' });
  expect(finalOf(next.records)).toBeDefined();
});

test("CABORT-01 an abort of a chat at the agent's or the deployment's address answers 204 and ends the stream", async () => {
  const headers = withToken(await rig.token({ externalId: 'ada' }));
  for (const options of [{ headers }, { headers, deployment: '1' }]) {
    const stream = await begin({}, options);
    expect((await rig.abort({ chatId: stream.chatId }, options)).status).toBe(204);
    expect((await stream.rest()).at(-1).state.isStreaming).toBe(false);
  }
});

test('CABORT-02 CABORT-05 an abort without a chatId answers 400, and with an unknown chatId 404', async () => {
  expect((await rig.abort(as('ada'))).status).toBe(400);
  expect((await rig.abort({ chatId: 7, ...as('ada') })).status).toBe(400);
  expect((await rig.abort({ chatId: 'nothing', ...as('ada') })).status).toBe(404);
});

test('CABORT-04 an abort of a chat by another user answers 403, and the stream continues to its answer', async () => {
  const stream = await begin(as('ada'));
  const { chatId } = stream;
  const headers = withToken(await rig.token({ externalId: 'bob' }));
  expect((await rig.abort({ chatId, ...as('bob') })).status).toBe(403);
  expect((await rig.abort({ chatId, ...asInternal('viewer@acme.example') })).status).toBe(403);
  expect((await rig.abort({ chatId }, { headers })).status).toBe(403);
  const viewer = { authorization: `Api-Key ${rig.key('viewer')}` };
  expect((await rig.abort({ chatId }, { headers: viewer })).status).toBe(403);
  expect(finalOf(await stream.rest())).toMatchObject({ isInProcess: false });
  expect((await rig.externalUsers()).map(({ externalId }: any) => externalId)).toEqual(['ada']);
});

test('CABORT-03 an abort without sessionSettings by the key that opened the thread answers 204 and ends the stream', async () => {
  const stream = await begin(as('ada'));
  expect((await rig.abort({ chatId: stream.chatId })).status).toBe(204);
  expect((await stream.rest()).at(-1).state.isStreaming).toBe(false);
});

test('CABORT-07 an abort of an own chat thread that is not running answers 204 and changes nothing', async () => {
  const said = await rig.talk({ input: QUESTION, ...as('ada') });
  const chatId = chatIdOf(said.records);
  expect((await rig.abort({ chatId, ...as('ada') })).status).toBe(204);
  expect((await rig.threads())[0].runs[0].outcome).toBe('completed');
});

test("CABORT-09 an abort without a credential answers a JSON-RPC error, and with an API key at the deployment's address 403", async () => {
  const bare = await rig.abort({ chatId: 'x' }, { headers: {} });
  expect([bare.status, bare.records[0].jsonrpc]).toEqual([200, '2.0']);
  const form = await rig.abort({ chatId: 'x', ...as('ada') }, { deployment: '1' });
  expect([form.status, form.records]).toEqual([
    403,
    [{ error: 'agentId is required for Api-Key authentication' }],
  ]);
});

test('CABORT-12 a chat request that repeats the messageId of a finished answer returns the thread and starts no run', async () => {
  const first = await rig.talk({ input: QUESTION, messageId: FIRST, ...as('ada') });
  const chatId = chatIdOf(first.records);
  const again = await rig.talk({ input: QUESTION, messageId: FIRST, chatId, ...as('ada') });
  expect(finishedAnswers(again.records)).toEqual(finishedAnswers(first.records));
  expect((await rig.threads())[0].runs).toHaveLength(1);
  await rig.talk({ input: QUESTION, messageId: SECOND, chatId, ...as('ada') });
  expect((await rig.threads())[0].runs).toHaveLength(2);
});

test('STATE-09 LIM-03 an ephemeral chat user and its threads are removed after their lifetime, and a running answer stops', async () => {
  const { records } = await rig.talk({ input: QUESTION, ...as('ada', { ephemeralTtlSeconds: 60 }) });
  const chatId = chatIdOf(records);
  const slow = await rig.agent({ recordDelayMs: 60_000 });
  const stream = await begin(as('ada'), { agent: slow });
  await rig.control('POST', '/clock', { advanceMs: 59_000 });
  expect((await rig.talk({ chatId, ...as('ada') })).status).toBe(200);
  await rig.control('POST', '/clock', { advanceMs: 2000 });
  expect((await stream.rest()).at(-1)).toMatchObject({ id: '__state__', state: { messages: [] } });
  expect(await rig.externalUsers()).toEqual([]);
  expect(await rig.threads()).toEqual([]);
  expect((await rig.talk({ chatId, ...as('ada') })).status).toBe(404);
});

test('STATE-10 after ten years a persistent chat user and its threads still exist, and an ephemeral user does not', async () => {
  await rig.talk({ input: QUESTION, ...as('ada', { isEphemeral: false }) });
  await rig.talk({ input: QUESTION, ...as('ada') });
  await rig.control('POST', '/clock', { advanceMs: 10 * 365 * 86_400_000 });
  expect(await rig.externalUsers()).toEqual([
    expect.objectContaining({ externalId: 'ada', isEphemeral: false }),
  ]);
  expect(await rig.threads()).toHaveLength(2);
});

test('LIM-01 LIM-02 LIM-04 a persistent external chat user beyond the limit gets 429, and ephemeral users do not count', async () => {
  await rig.set({ externalUserLimit: 2, chatRecordDelayMs: 0 });
  const kept = (name: string) => rig.talk({ input: QUESTION, ...as(name, { isEphemeral: false }) });
  expect([(await kept('one')).status, (await kept('two')).status]).toEqual([200, 200]);
  const third = await kept('three');
  expect([third.status, third.records]).toEqual([429, [{ error: expect.any(String) }]]);
  expect((await kept('two')).status).toBe(200);
  for (const name of ['four', 'five', 'six'])
    expect((await rig.talk({ input: QUESTION, ...as(name) })).status).toBe(200);
  await rig.set({ externalUserLimit: 3 });
  expect((await kept('three')).status).toBe(200);
});

test('SCIM-68 an external chat user is neither in SCIM nor in the list of platform users', async () => {
  await rig.talk({ input: QUESTION, ...as('ada@outside.example', { email: 'ada@outside.example' }) });
  expect((await rig.call('GET', '/api/scim/v2/Users?count=1000')).body.Resources).not.toContainEqual(
    expect.objectContaining({ userName: 'ada@outside.example' }),
  );
  expect((await rig.call('GET', '/api/v1/users')).body.items).not.toContainEqual(
    expect.objectContaining({ email: 'ada@outside.example' }),
  );
});

const LEAVING: [string, (user: any) => Promise<unknown>][] = [
  [
    'deactivated by SCIM',
    (user) => rig.patch(`/api/scim/v2/Users/${user.id}`, { op: 'replace', path: 'active', value: false }),
  ],
  ['deleted by SCIM', (user) => rig.call('DELETE', `/api/scim/v2/Users/${user.id}`)],
  [
    'deleted by the users API',
    async () => {
      const { id } = await rig.stored('lea@acme.example');
      return rig.call('DELETE', `/api/v1/users/${id}`);
    },
  ],
];

test.each(LEAVING)(
  'CHAT-11 when an internal user is %s, the running chat stream of this user ends with an error, and later requests answer 400',
  async (_how, leave) => {
    const user = await rig.user('lea@acme.example');
    const agent = await rig.agent({ recordDelayMs: 60_000 });
    const stream = await begin(asInternal('lea@acme.example'), { agent });
    await stream.next();
    const answer: any = await leave(user);
    expect(answer.status).toBeLessThan(300);
    expect(await stream.rest()).toEqual([
      { error: 'The user no longer has access' },
      expect.objectContaining({
        id: '__state__',
        state: { chatId: stream.chatId, isStreaming: false, messages: [] },
      }),
    ]);
    expect((await rig.talk({ chatId: stream.chatId, ...asInternal('lea@acme.example') })).status).toBe(400);
  },
);

test('AUTH-21 a running chat stream of a revoked key ends with an error, and the key is refused afterwards', async () => {
  const { apiKeys } = await rig.fixtures({ apiKeys: [{ name: 'short', owner: 'admin@acme.example' }] });
  const headers = { authorization: `Api-Key ${apiKeys[0].key}` };
  const stream = await begin(as('ada'), { headers });
  await rig.control('DELETE', '/api-keys/short');
  expect((await stream.rest()).some(({ error }) => error === 'The user no longer has access')).toBe(true);
  expect((await rig.talk({ input: QUESTION, ...as('ada') }, { headers })).records[0].jsonrpc).toBe('2.0');
});

test('when a chat reader disconnects, the run continues to its answer, and the thread has no reader', async () => {
  const stream = await begin({ messageId: FIRST, ...as('ada') });
  stream.close();
  await eventually('no reader', async () => (await rig.threads())[0].readers === 0);
  await eventually('a completed run', async () => (await rig.threads())[0].runs[0].outcome === 'completed');
  const read = await rig.talk({ chatId: stream.chatId, ...as('ada') });
  expect(finishedAnswers(read.records)).toHaveLength(1);
});

test('a reset of the sandbox, and its stop, end the running chat streams', async () => {
  const other = await startChat();
  const slow = await other.agent({ recordDelayMs: 60_000 });
  const stream = await other.open({ input: QUESTION, ...as('ada') }, { agent: slow });
  await stream.next();
  await stream.next();
  await other.reset();
  expect((await stream.rest()).at(-1)).toMatchObject({ id: '__state__', state: { isStreaming: false } });
  const again = await other.agent({ recordDelayMs: 60_000 });
  const second = await other.open({ input: QUESTION, ...as('ada') }, { agent: again });
  await second.next();
  const ended = second.rest().catch(() => 'broken');
  await other.stop();
  await ended;
});
