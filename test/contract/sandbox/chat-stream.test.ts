// Tests chat requests and the order of their records (contract 6.2 and 6.3).
import { as, asInternal, chatIdOf, finalOf, startChat, withToken, type ChatRig } from './chat-rig.ts';

let rig: ChatRig;
const QUESTION = 'How many orders by country?';

beforeAll(async () => {
  rig = await startChat();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const statusOf = async (body: object): Promise<number> =>
  (await rig.talk({ input: QUESTION, ...body })).status;

test("CHAT-01 AUTH-10 AUTH-11 a chat request answers 200 with an API key or token at the agent's address, and with a token at the deployment's", async () => {
  const headers = withToken(await rig.token({ externalId: 'ada' }));
  const answers = await Promise.all([
    rig.talk({ input: QUESTION, ...as('ada') }),
    rig.talk({ input: QUESTION }, { headers }),
    rig.talk({ input: QUESTION }, { headers, deployment: '1' }),
  ]);
  for (const { status, records } of answers) {
    expect(status).toBe(200);
    expect(records.at(-1)).toMatchObject({ id: '__state__', state: { isStreaming: false } });
  }
});

test('CHAT-02 ERR-03 a chat request to an unknown agent, account, deployment or thread answers 404', async () => {
  const headers = withToken(await rig.token({ externalId: 'ada' }));
  const answers = await Promise.all([
    rig.talk({ input: QUESTION, ...as('ada') }, { agent: '99' }),
    rig.talk({ input: QUESTION, ...as('ada') }, { account: 'nobody' }),
    rig.talk({ input: QUESTION }, { headers, deployment: '99' }),
    rig.talk({ input: QUESTION, chatId: 'nothing', ...as('ada') }),
  ]);
  for (const { status, records } of answers) {
    expect(status).toBe(404);
    expect(records).toEqual([{ error: expect.any(String) }]);
  }
});

test('CHAT-03 CHAT-05 a chat request with input and no chatId starts a run in a new thread, and its records end with __state__', async () => {
  const first = await rig.talk({ input: QUESTION, ...as('ada') });
  const second = await rig.talk({ input: QUESTION, ...as('ada') });
  expect(first.records.at(-1).id).toBe('__state__');
  expect(chatIdOf(first.records)).not.toBe(chatIdOf(second.records));
  expect(await rig.threads()).toHaveLength(2);
});

test('CHAT-04 a chat request without input returns the stored thread and starts no run', async () => {
  const said = await rig.talk({ input: QUESTION, ...as('ada') });
  const chatId = chatIdOf(said.records);
  const read = await rig.talk({ chatId, ...as('ada') });
  expect(read.records[0]).toMatchObject({ id: '__cutoff__', state: { chatId, isStreaming: false } });
  expect(finalOf(read.records).content).toBe(finalOf(said.records).content);
  expect(read.records.at(-1)).toMatchObject({ id: '__state__', state: { isStreaming: false, chatId } });
  expect((await rig.threads())[0].runs).toHaveLength(1);
});

test('CHAT-05 a chat request with the chatId of a thread continues that thread, and its records have a greater `sort` than the earlier ones', async () => {
  const first = await rig.talk({ input: QUESTION, ...as('ada') });
  const chatId = chatIdOf(first.records);
  const second = await rig.talk({ input: 'And orders by status?', chatId, ...as('ada') });
  expect(chatIdOf(second.records)).toBe(chatId);
  expect(second.records[1].sort).toBeGreaterThan(first.records.at(-1).sort);
  expect(second.records.at(-1).state.messages.filter(({ role }: any) => role === 'user')).toHaveLength(2);
});

test('CHAT-06 a chat request to a thread of another user or of another deployment answers 404', async () => {
  const chatId = chatIdOf((await rig.talk({ input: QUESTION, ...as('ada') })).records);
  expect((await rig.talk({ chatId, ...as('bob') })).status).toBe(404);
  expect((await rig.talk({ chatId, ...asInternal('viewer@acme.example') })).status).toBe(404);
  expect((await rig.talk({ chatId, ...as('ada') }, { agent: '2' })).status).toBe(404);
  expect((await rig.talk({ chatId, ...as('ada') })).status).toBe(200);
});

test('CHAT-07 a chat messageId of 13 or more digits and `-message` is accepted, and any other answers 400', async () => {
  for (const messageId of [
    '123456789012-message',
    '1234567890123',
    'x-message',
    '1234567890123-message ',
    5,
  ]) {
    expect(await statusOf({ messageId, ...as('ada') })).toBe(400);
  }
  const { records } = await rig.talk({ input: QUESTION, messageId: '12345678901234-message', ...as('ada') });
  expect(records[1]).toMatchObject({ id: '12345678901234-message', role: 'user' });
});

test('a chat question without a messageId is echoed with an id that is a valid messageId', async () => {
  const { records } = await rig.talk({ input: QUESTION, ...as('ada') });
  expect(records[1]).toMatchObject({ id: expect.stringMatching(/^\d{13,}-message$/), role: 'user' });
});

test('CHAT-08 ERR-02 a chat request with an API key and without a user in sessionSettings answers 400', async () => {
  for (const body of [
    {},
    { sessionSettings: {} },
    { sessionSettings: { email: 'a@b.c' } },
    { sessionSettings: 5 },
  ])
    expect(await statusOf(body)).toBe(400);
  expect(await rig.externalUsers()).toEqual([]);
});

test('CHAT-09 sessionSettings of a chat request with a token are ignored, even if they are invalid', async () => {
  const headers = withToken(await rig.token({ externalId: 'ada' }));
  const { status } = await rig.talk(
    { input: QUESTION, sessionSettings: { externalId: 'BOB !' } },
    { headers },
  );
  expect(status).toBe(200);
  expect((await rig.externalUsers()).map(({ externalId }: any) => externalId)).toEqual(['ada']);
});

test('CHAT-10 a chat request with upper case or spaces in externalId answers 400', async () => {
  for (const externalId of ['Ada', 'a da', ' ada', 'ada\t', '', 7])
    expect(await statusOf(as(externalId as string))).toBe(400);
});

test('CHAT-11 a chat request with an unknown, external or deactivated user as internalId answers 400; letter case does not matter', async () => {
  await rig.talk({ input: QUESTION, ...as('outsider@acme.example') });
  await rig.user('gone@acme.example', { active: false });
  for (const name of ['nobody@acme.example', 'outsider@acme.example', 'gone@acme.example'])
    expect(await statusOf(asInternal(name))).toBe(400);
  const { records } = await rig.talk({ input: QUESTION, ...asInternal(' Viewer@ACME.example ') });
  expect(records.at(-1).id).toBe('__state__');
  expect(await rig.threads()).toContainEqual(expect.objectContaining({ internalId: 'viewer@acme.example' }));
});

test('CHAT-12 a chat request with internalId together with one of roles, groups, userAttributes, securityContext and externalId answers 400', async () => {
  const extras = [{ roles: [] }, { groups: [] }, { userAttributes: [] }, { securityContext: {} }];
  for (const extra of extras) expect(await statusOf(asInternal('viewer@acme.example', extra))).toBe(400);
  expect(await statusOf({ sessionSettings: { internalId: 'viewer@acme.example', externalId: 'ada' } })).toBe(
    400,
  );
});

test('CHAT-14 CHAT-15 CHAT-16 userAttributes of a chat request are converted to their defined types; an unknown name or unfit value answers 400', async () => {
  const wrong = [{}, 'x', [5], [{ name: 'country' }], [{ value: 'DE' }], [{ name: 'country', value: 5 }]];
  for (const userAttributes of wrong) expect(await statusOf(as('ada', { userAttributes }))).toBe(400);
  expect(await statusOf(as('ada', { userAttributes: [{ name: 'planet', value: 'Mars' }] }))).toBe(400);
  await rig.attribute('clearance', 'number');
  await rig.attribute('regions', 'string_array');
  expect(await statusOf(as('ada', { userAttributes: [{ name: 'clearance', value: 'high' }] }))).toBe(400);
  const userAttributes = [
    { name: 'clearance', value: '42' },
    { name: 'regions', value: '["north"]' },
    { name: 'country', value: 'DE' },
  ];
  expect(await statusOf(as('ada', { userAttributes }))).toBe(200);
  expect((await rig.externalUsers())[0].userAttributes).toEqual({
    clearance: 42,
    regions: ['north'],
    country: 'DE',
  });
});

test('CHAT-17 CHAT-20 a chat request with groups that are no list, or with an unknown group, answers 400', async () => {
  await rig.group('analysts');
  for (const groups of ['analysts', [5], {}, ['strangers'], ['Analysts']])
    expect(await statusOf(as('ada', { groups }))).toBe(400);
  expect(await statusOf(as('ada', { groups: ['analysts'] }))).toBe(200);
});

test('CHAT-18 a chat request without input and chatId, or with an invalid one, answers 400', async () => {
  for (const body of [
    {},
    { input: 5 },
    { input: ' ' },
    { chatId: 5 },
    { input: QUESTION, isDefaultBranch: 'yes' },
  ])
    expect((await rig.talk({ ...body, ...as('ada') })).status).toBe(400);
  expect((await rig.talk([])).status).toBe(400);
  expect((await rig.talk({ input: 'x'.repeat(100_001), ...as('ada') })).status).toBe(400);
});

test('CHAT-22 CHAT-23 an external chat user expires after a week, after ephemeralTtlSeconds, or with isEphemeral false never', async () => {
  await rig.talk({ input: QUESTION, ...as('week') });
  await rig.talk({ input: QUESTION, ...as('minute', { ephemeralTtlSeconds: 60 }) });
  await rig.talk({ input: QUESTION, ...as('kept', { isEphemeral: false }) });
  const users = await rig.externalUsers();
  const lifeOf = (name: string): number | null => {
    const { createdAt, expiresAt } = users.find(({ externalId }: any) => externalId === name);
    return expiresAt && (Date.parse(expiresAt) - Date.parse(createdAt)) / 1000;
  };
  expect([lifeOf('week'), lifeOf('minute'), lifeOf('kept')]).toEqual([604_800, 60, null]);
  // The last two lifetimes would end after the latest possible date.
  for (const ephemeralTtlSeconds of [0, -1, 1.5, '60', 9e12, Number.MAX_SAFE_INTEGER])
    expect(await statusOf(as('x', { ephemeralTtlSeconds }))).toBe(400);
  expect(await statusOf(as('x', { isEphemeral: 'no' }))).toBe(400);
});

test('CHAT-25 isDefaultBranch is true without activeBranchName and else false unless the request sets it; an unknown branch answers 400', async () => {
  await rig.talk({ input: QUESTION, ...as('ada') });
  await rig.talk({ input: QUESTION, activeBranchName: 'feature-a', ...as('ada') });
  await rig.talk({ input: QUESTION, activeBranchName: 'main', isDefaultBranch: true, ...as('ada') });
  const runs = (await rig.threads()).map((thread: any) => thread.runs[0]);
  expect(runs.map((run: any) => [run.branchName, run.isDefaultBranch])).toEqual([
    ['main', true],
    ['feature-a', false],
    ['main', true],
  ]);
  expect(await statusOf({ activeBranchName: 'no-such', ...as('ada') })).toBe(400);
});

test('GEN-05 on a subscription without chat, chat requests and aborts answer 403', async () => {
  await rig.set({ plan: { chat: false } });
  const headers = withToken(await rig.token({ externalId: 'ada' }));
  expect((await rig.talk({ input: QUESTION, ...as('ada') })).status).toBe(403);
  expect((await rig.talk({ input: QUESTION }, { headers, deployment: '1' })).status).toBe(403);
  expect((await rig.abort({ chatId: 'x' }, { headers })).status).toBe(403);
});

test('EVT-03 below the chat address other paths, methods and API versions than those of the two chat operations answer 404', async () => {
  const base = '/api/v1/public/acme/agents/1/chat';
  expect((await rig.call('GET', `${base}/stream-chat-state`)).body).toMatchObject({ jsonrpc: '2.0' });
  const headers = { authorization: `Api-Key ${rig.key('admin')}` };
  expect((await rig.call('GET', `${base}/stream-chat-state`, { headers })).status).toBe(404);
  for (const path of [`${base}/webhooks`, '/api/v1/public/acme', '/api/v2/public/acme/agents/1/chat/abort'])
    expect((await rig.call('POST', path, { headers, body: {} })).status).toBe(404);
});
