// Tests chat answers of the sandbox: the order of the records, the tools, and row access (contract 6.3, 6.6 and 6.8).
import {
  as,
  asInternal,
  chatIdOf,
  finalOf,
  startChat,
  toolResults,
  withToken,
  type ChatRig,
} from './chat-rig.ts';

let rig: ChatRig;
const QUESTION = 'How many orders by country?';
/** A group whose policy in the seed's model shows all rows; the group `analysts` shows those of the user's country. */
const EVERYTHING = { groups: ['everything'] };

beforeAll(async () => {
  rig = await startChat();
});
beforeEach(async () => {
  await rig.reset();
  await rig.group('analysts');
  await rig.group('everything');
});
afterAll(() => rig.stop());

/** Returns the result of the only data query of an answer. */
const rowsOf = (records: any[]): any => toolResults(records, 'serviceSqlApi')[0]?.result;
const countries = (records: any[]): string[] => rowsOf(records).data.map(([country]: string[]) => country);
const ask = (session: object, more: object = {}) => rig.talk({ input: QUESTION, ...session, ...more });

test('CHAT-26 CHAT-27 CHAT-28 CHAT-29 CHAT-31 CHAT-32 CHAT-33 CHAT-34 a chat stream has cutoff, question, increments, tool calls, whole answer and state in this order, with rising `sort`', async () => {
  const { records, headers, text } = await ask(as('ada', EVERYTHING), { messageId: '1700000000001-message' });
  expect(headers['content-type']).toBe('application/json');
  expect(text.endsWith('\n')).toBe(true);
  expect(records[0]).toMatchObject({
    id: '__cutoff__',
    state: { isStreaming: false, chatId: expect.any(String) },
  });
  expect(records[1]).toMatchObject({
    id: '1700000000001-message',
    role: 'user',
    content: QUESTION,
    isDelta: false,
  });
  expect(records[2]).toMatchObject({ role: 'assistant', isDelta: true });
  expect([typeof records[2].thinking, typeof records[2].content]).toEqual(['string', 'string']);
  const tools = records.filter(({ toolCall }) => toolCall);
  expect(
    tools.map(({ isInProcess, toolCall }) => [toolCall.name, isInProcess, 'result' in toolCall]),
  ).toEqual([
    ['serviceMeta', true, false],
    ['serviceMeta', false, true],
    ['serviceSqlApi', true, false],
    ['serviceSqlApi', false, true],
  ]);
  expect(tools[0].id).toBe(tools[1].id);
  expect(records.at(-2)).toMatchObject({ role: 'assistant', isInProcess: false, isDelta: false });
  expect(records.at(-1)).toMatchObject({ id: '__state__', state: { isStreaming: false } });
  const sorts = records.map(({ sort }) => sort);
  expect(sorts.every((sort, place) => place === 0 || sort > sorts[place - 1])).toBe(true);
});

test('CHAT-35 CHAT-36 CHAT-37 CHAT-38 the increments of a chat answer joined equal its final message, and each record names its role', async () => {
  const { records } = await ask(as('ada', EVERYTHING));
  const final = finalOf(records);
  const parts = records.filter(({ id, isDelta }) => id === final.id && isDelta);
  expect(parts.length).toBeGreaterThan(2);
  expect(parts.map(({ content }) => content).join('')).toBe(final.content);
  const paths = new Set(records.flatMap(({ graphPath }) => (graphPath ? [graphPath.join('/')] : [])));
  expect(paths).toEqual(new Set(['data_analyst_agent', 'data_analyst_agent/tools', 'final']));
  for (const { id, role, isStructuredResponse } of records.filter((one) => !one.id.startsWith('__'))) {
    expect(['user', 'assistant']).toContain(role);
    expect(typeof id).toBe('string');
    if (role === 'assistant') expect(typeof isStructuredResponse).toBe('boolean');
  }
});

test('CHAT-30 with chatDevelopmentMode off no chat record has the key `thinking`', async () => {
  await rig.set({ chatDevelopmentMode: false });
  const { records } = await ask(as('ada', EVERYTHING));
  expect(records.filter((record) => 'thinking' in record)).toEqual([]);
});

test('CHAT-39 of several chat records that look final, the last one with at most two steps in graphPath is the answer', async () => {
  const finals = [
    { content: 'first', graphPath: ['final'] },
    { content: 'the answer', graphPath: ['final', 'writer'] },
    { content: 'too deep', graphPath: ['final', 'writer', 'tools'] },
    { content: 'not final', graphPath: ['data_analyst_agent'] },
  ];
  const agent = await rig.agent({ finals });
  const { records } = await rig.talk({ input: QUESTION, ...as('ada') }, { agent });
  expect(records.map(({ content }) => content).filter((text) => text === 'too deep')).toHaveLength(1);
  expect(finalOf(records).content).toBe('the answer');
});

test('CHAT-40 CHAT-42 the tool call serviceMeta has the question as input, and as result the members that the user may see', async () => {
  const { records } = await ask(as('ada', EVERYTHING));
  const [meta] = toolResults(records, 'serviceMeta');
  expect(meta.input).toEqual({ searchQuery: QUESTION });
  expect(meta.result.searchQuery).toBe(QUESTION);
  const orders = meta.result.cubes.find(({ name }: any) => name === 'orders');
  expect(orders).toMatchObject({ type: 'view', title: 'Orders' });
  for (const member of orders.members) {
    expect(member).toMatchObject({
      name: expect.any(String),
      title: expect.any(String),
      description: expect.any(String),
    });
    expect(['string', 'number', 'time', 'boolean']).toContain(member.type);
  }
  expect(orders.members).toContainEqual(expect.objectContaining({ name: 'orders.count', aggType: 'count' }));
  const hidden = await ask(as('bob'));
  expect(toolResults(hidden.records, 'serviceMeta')[0].result.cubes).not.toContainEqual(
    expect.objectContaining({ name: 'orders' }),
  );
});

test('CHAT-43 CHAT-46 the tool call serviceSqlApi returns its query, rows and a chart without data, and the answer quotes a value of the rows', async () => {
  const { records } = await ask(as('ada', EVERYTHING));
  const [{ input, result }] = toolResults(records, 'serviceSqlApi');
  expect(result).toMatchObject({
    sqlQuery: input.sqlQuery,
    queryTitle: input.queryTitle,
    description: input.description,
    userRequest: QUESTION,
    uuid: expect.any(String),
    vegaSpec: input.vegaSpec,
  });
  expect(typeof input.memoryId).toBe('string');
  expect(result.schema.map(({ name }: any) => name)).toEqual(['country', 'count']);
  expect(result.schema.every(({ column_type }: any) => typeof column_type === 'string')).toBe(true);
  expect(result.totalRows).toBe(result.data.length);
  expect(countries(records)).toEqual(expect.arrayContaining(['BR', 'DE', 'FR', 'JP', 'US']));
  const chart = JSON.parse(result.vegaSpec);
  expect(chart.encoding).toMatchObject({ x: { field: 'country' }, y: { field: 'count' } });
  expect(chart).not.toHaveProperty('data');
  const total = result.data.find(([country]: string[]) => country === 'DE')[1];
  expect(finalOf(records).content).toContain(`DE: ${total}`);
});

test('CHAT-41 a failing tool of the chat agent gives a result with an error, and the run continues to its end', async () => {
  const agent = await rig.agent({ toolError: 'The warehouse sleeps' });
  const { records } = await rig.talk({ input: QUESTION, ...as('ada', EVERYTHING) }, { agent });
  expect(rowsOf(records)).toEqual({ error: 'The warehouse sleeps' });
  expect(finalOf(records).content).toContain('The warehouse sleeps');
  const wrong = await rig.agent({ sqlQuery: 'SELECT nothing FROM nowhere' });
  const failed = await rig.talk({ input: QUESTION, ...as('ada', EVERYTHING) }, { agent: wrong });
  expect(rowsOf(failed.records)).toEqual({ error: expect.any(String) });
  expect(failed.records.at(-1).id).toBe('__state__');
});

test('ERR-04 ERR-05 a chat error before the stream answers 500, and one within the stream is an error line', async () => {
  await rig.control('PATCH', '/faults', { status5xx: { share: 1, status: 500 } });
  const before = await ask(as('ada'));
  expect([before.status, before.records]).toEqual([500, [{ error: expect.any(String) }]]);
  await rig.control('PATCH', '/faults', { status5xx: { share: 1, status: 500, afterCommit: true } });
  const inside = await ask(as('ada'));
  expect(inside.status).toBe(200);
  expect(inside.records.map((record) => Object.keys(record))).toContainEqual(['error']);
  await rig.control('PATCH', '/faults', {});
  const agent = await rig.agent({ failure: 'The agent gave up' });
  const scripted = await rig.talk({ input: QUESTION, ...as('bob', EVERYTHING) }, { agent });
  expect(scripted.records.slice(-2)).toEqual([
    { error: 'The agent gave up' },
    expect.objectContaining({ id: '__state__', state: expect.objectContaining({ isStreaming: false }) }),
  ]);
});

test('CHAT-44 CHAT-45 a chat result has at most 100 rows and the total number, and its SQL query run at Core Data returns all rows', async () => {
  const input = 'List orders with country, status and created at';
  const headers = withToken(
    await rig.token({ externalId: 'ada', cubeCloud: EVERYTHING, scope: ['chat', 'data'] }),
  );
  const { records } = await rig.talk({ input }, { headers });
  const { data, totalRows, sqlQuery } = rowsOf(records);
  expect(data).toHaveLength(100);
  expect(totalRows).toBeGreaterThan(250);
  const lines = await rig.cubesql(sqlQuery, headers['x-service-auth-token'] ?? '');
  const rows = lines.flatMap((line: any) => line.data ?? []);
  expect(rows).toHaveLength(totalRows);
  expect(rows.slice(0, 100)).toEqual(data);
});

test('CHAT-13 ATTR-25 right after SCIM and the API change group and attribute of an internal user, chat answers have the rows that they allow', async () => {
  const user = await rig.user('ana@acme.example');
  const session = asInternal('ana@acme.example');
  expect(rowsOf((await ask(session)).records)).toBeUndefined();
  const { id } = await rig.stored('ana@acme.example');
  const analysts = await rig.storedGroup('analysts');
  await rig.patch(`/api/scim/v2/Groups/${analysts.scimId}`, {
    op: 'add',
    path: 'members',
    value: [{ value: user.id }],
  });
  expect(rowsOf((await ask(session)).records).data).toEqual([]);
  const [attribute] = (await rig.call('GET', '/api/v1/user-attributes?name=country')).body.items;
  const value = { userId: id, userAttributeId: attribute.id, stringValue: 'DE', value: 'DE' };
  const written = await rig.post('/api/v1/user-attribute-values', value);
  expect(written.status).toBeLessThan(300);
  expect(countries((await ask(session)).records)).toEqual(['DE']);
});

test('CHAT-19 userAttributes in the chat request of an external user limit the rows to those of the attribute value', async () => {
  const seen = async (country: string): Promise<string[]> => {
    const session = as('ada', {
      groups: ['analysts'],
      userAttributes: [{ name: 'country', value: country }],
    });
    return countries((await ask(session)).records);
  };
  expect([await seen('DE'), await seen('JP'), await seen('XX')]).toEqual([['DE'], ['JP'], []]);
});

test('CHAT-21 the securityContext of a chat request limits the rows of its data queries', async () => {
  const securityContext = { cubeCloud: { groups: ['analysts'], userAttributes: { country: 'FR' } } };
  expect(countries((await ask(as('ada', { securityContext }))).records)).toEqual(['FR']);
});

test('CHAT-24 activeBranchName makes chat answers use the data of that branch', async () => {
  const total = async (more: object): Promise<number> => {
    const { records } = await ask(as('ada', EVERYTHING), more);
    return rowsOf(records).data.reduce((sum: number, [, count]: string[]) => sum + Number(count), 0);
  };
  const main = await total({});
  expect(await total({ activeBranchName: 'main', isDefaultBranch: true })).toBe(main);
  expect(await total({ activeBranchName: 'feature-a' })).not.toBe(main);
});

test('CAUTH-11 CAUTH-12 claims of a chat token limit the rows, and each data query uses the token of its request', async () => {
  const headersOf = async (country: string) =>
    withToken(
      await rig.token({
        externalId: 'ada',
        cubeCloud: { groups: ['analysts'], userAttributes: { country } },
      }),
    );
  const first = await rig.talk({ input: QUESTION }, { headers: await headersOf('DE') });
  const second = await rig.talk({ input: QUESTION }, { headers: await headersOf('US'), deployment: '1' });
  expect([countries(first.records), countries(second.records)]).toEqual([['DE'], ['US']]);
  const [one, two] = (await rig.threads()).map((thread: any) => thread.runs[0].queries[0]);
  expect(one.securityContext.userAttributes).toEqual({ country: 'DE' });
  expect(one.tokenFingerprint).toMatch(/^[0-9a-f]{16}$/);
  expect(two.tokenFingerprint).not.toBe(one.tokenFingerprint);
});

test('CAUTH-12 when a chat token expires during the run, the data query returns an error in place of rows', async () => {
  const agent = await rig.agent({ recordDelayMs: 100 });
  const headers = withToken(
    await rig.token({ externalId: 'ada', cubeCloud: EVERYTHING }, { expiresIn: '1m' }),
  );
  const stream = await rig.open({ input: QUESTION }, { headers, agent });
  await stream.next();
  await rig.control('POST', '/clock', { advanceMs: 120_000 });
  const records = await stream.rest();
  const results = records.flatMap(({ toolCall }) => (toolCall?.result ? [JSON.parse(toolCall.result)] : []));
  expect(results).toEqual([{ error: 'Invalid token' }]);
});

test('a chat user without an access policy on `orders` gets neither rows nor totals', async () => {
  const { records } = await ask(as('ada'));
  expect(rowsOf(records)).toBeUndefined();
  expect(finalOf(records).content).toContain('visible to you');
  expect(finalOf(records).content).not.toContain('Orders');
});

test.each([
  ['What is the total amount of orders by status?', ['status', 'total_amount']],
  ['orders per month', ['created_at', 'count']],
  ['Show the top 2 countries by orders.total_amount', ['country', 'total_amount']],
  ['How many orders?', ['count']],
  [
    'orders count and total amount for each country and status',
    ['country', 'status', 'count', 'total_amount'],
  ],
])('the chat agent queries the members that the question names: "%s"', async (input, columns) => {
  const { records } = await rig.talk({ input, ...as('ada', EVERYTHING) });
  const result = rowsOf(records);
  expect(result.error).toBeUndefined();
  expect(result.schema.map(({ name }: any) => name)).toEqual(columns);
  expect(result.totalRows).toBeGreaterThan(0);
});

test('the same chat question on the same data gets the same answer', async () => {
  const first = await ask(as('ada', EVERYTHING));
  const second = await ask(as('bob', EVERYTHING));
  expect(finalOf(second.records).content).toBe(finalOf(first.records).content);
  expect(chatIdOf(second.records)).not.toBe(chatIdOf(first.records));
});
