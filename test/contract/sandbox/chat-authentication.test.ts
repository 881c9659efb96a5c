// Tests chat authentication: API keys, tokens, their precedence, and refusals (contract 6.1).
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { as, chatIdOf, startChat, withToken, type ChatRig } from './chat-rig.ts';

let rig: ChatRig;
const QUESTION = 'How many orders by country?';
const JSON_RPC = {
  jsonrpc: '2.0',
  error: { code: -32001, message: expect.stringMatching(/^Unauthorized: /) },
  id: null,
};

beforeAll(async () => {
  rig = await startChat();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const ask = (headers: Record<string, string>, more: object = {}, body: object = as('ada')) =>
  rig.talk({ input: QUESTION, ...body }, { headers, ...more });
const askWithClaims = async (claims: object, options = {}) =>
  ask(withToken(await rig.token(claims, options)));
const key = (name: string) => ({ authorization: `Api-Key ${rig.key(name)}` });

test('GEN-01 CAUTH-14 a chat request with a missing, unknown, expired or malformed credential answers 200 with a JSON-RPC error', async () => {
  const bad = [
    {},
    { authorization: 'Api-Key sk-unknown' },
    { authorization: 'Api-Key' },
    { authorization: `Bearer ${rig.key('admin')}` },
    { authorization: `Api-Key ${rig.ready.fixtures.oauthToken}` },
    { authorization: 'nonsense' },
    key('expired'),
  ];
  for (const headers of bad) {
    const answer = await ask(headers);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(answer.records).toEqual([JSON_RPC]);
  }
  expect(await rig.threads()).toEqual([]);
});

test('CAUTH-01 a chat request with an API key at the address of a deployment answers 403 "agentId is required for Api-Key authentication"', async () => {
  for (const headers of [key('admin'), { authorization: 'Api-Key wrong' }, { authorization: 'api-key' }]) {
    const answer = await ask(headers, { deployment: '1' });
    expect([answer.status, answer.records]).toEqual([
      403,
      [{ error: 'agentId is required for Api-Key authentication' }],
    ]);
  }
});

test('CAUTH-02 a chat request with a scoped key answers 403 for the agent of a deployment outside its scope', async () => {
  expect((await ask(key('scoped'))).status).toBe(200);
  expect((await ask(key('scoped'), { agent: '2' })).status).toBe(403);
});

test('CAUTH-03 CAUTH-04 a chat token is refused with a JSON-RPC error by default, and accepted if the deployment enables tokens', async () => {
  const claims = { externalId: 'ada' };
  const token = withToken(await rig.token(claims, { deployment: 1 }));
  expect((await ask(token, { agent: '2' })).records).toEqual([JSON_RPC]);
  await rig.fixtures({ chatAuthentication: [{ deploymentId: '2', tokenAuthentication: true }] });
  expect((await ask(token, { agent: '2' })).records.at(-1).id).toBe('__state__');
  const { deployments } = await rig.fixtures({ deployments: [{ name: 'fresh' }] });
  const { id, apiSecret } = deployments[0];
  const fresh = withToken(await rig.token(claims, { secret: apiSecret }));
  expect((await ask(fresh, { deployment: id })).records).toEqual([JSON_RPC]);
});

test('CAUTH-05 a deployment accepts chat tokens by its secret, its key set or its custom function, whichever is configured', async () => {
  expect((await askWithClaims({ externalId: 'ada' })).records.at(-1).id).toBe('__state__');
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }];
  const method = { kind: 'keySet', keys };
  await rig.fixtures({ chatAuthentication: [{ deploymentId: '1', method }] });
  const signed = await new SignJWT({ externalId: 'keyed', scope: ['chat'] })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setExpirationTime('1h')
    .sign(privateKey);
  expect((await ask(withToken(signed))).records.at(-1).id).toBe('__state__');
  expect((await askWithClaims({ externalId: 'ada' })).records).toEqual([JSON_RPC]);
  const tokens = { 'opaque-1': { externalId: 'Opaque', scope: ['chat'] } };
  await rig.fixtures({ chatAuthentication: [{ deploymentId: '1', method: { kind: 'custom', tokens } }] });
  expect((await ask(withToken('opaque-1'))).records.at(-1).id).toBe('__state__');
  expect((await ask(withToken('opaque-2'))).records).toEqual([JSON_RPC]);
  const names = (await rig.externalUsers()).map(({ externalId }: any) => externalId);
  expect(names).toEqual(['ada', 'keyed', 'opaque']);
});

test('CAUTH-06 a chat request with both Authorization and a token header is authenticated by Authorization alone', async () => {
  const token = withToken(await rig.token({ externalId: 'ada' }));
  expect((await ask({ ...token, authorization: 'Api-Key wrong' })).records).toEqual([JSON_RPC]);
  expect((await ask({ ...withToken('wrong'), ...key('admin') })).records.at(-1).id).toBe('__state__');
});

test('CAUTH-07 a chat token names its user by externalId, or else by sub, in lower case; without both it is refused', async () => {
  const first = await askWithClaims({ externalId: 'USER@X' });
  const chatId = chatIdOf(first.records);
  const headers = withToken(await rig.token({ sub: 'user@x' }));
  expect((await rig.talk({ chatId }, { headers })).status).toBe(200);
  const both = await askWithClaims({ externalId: 'one', sub: 'two' });
  expect(both.status).toBe(200);
  const names = (await rig.externalUsers()).map(({ externalId }: any) => externalId);
  expect(names).toEqual(['user@x', 'one']);
  for (const claims of [{}, { externalId: '' }, { externalId: 7 }])
    expect((await askWithClaims(claims)).records).toEqual([JSON_RPC]);
});

test('CAUTH-08 a chat token is accepted only if its scope is a list that contains chat', async () => {
  for (const scope of [undefined, 'chat', ['meta'], [], null])
    expect((await askWithClaims({ externalId: 'ada', scope })).records).toEqual([JSON_RPC]);
  expect((await askWithClaims({ externalId: 'ada', scope: ['meta', 'chat'] })).status).toBe(200);
});

test('CAUTH-09 the scope chat is read from the security context that the deployment resolves from a chat token, and not from the token', async () => {
  const set = (method: object) =>
    rig.fixtures({ chatAuthentication: [{ deploymentId: '1', method: { kind: 'custom', ...method } }] });
  await set({ drop: ['scope'] });
  expect((await askWithClaims({ externalId: 'ada' })).records).toEqual([JSON_RPC]);
  await set({ set: { scope: ['chat'] } });
  expect((await askWithClaims({ externalId: 'ada', scope: [] })).records.at(-1).id).toBe('__state__');
});

test('a custom function requires a list and an object of a chat token → it accepts equal ones and refuses others', async () => {
  const method = { kind: 'custom', require: { scope: ['chat'], tenant: { region: 'eu', tier: 1 } } };
  await rig.fixtures({ chatAuthentication: [{ deploymentId: '1', method }] });
  const claims = { externalId: 'ada', scope: ['chat'], tenant: { tier: 1, region: 'eu' } };
  expect((await askWithClaims(claims)).records.at(-1).id).toBe('__state__');
  for (const other of [{ scope: ['chat', 'meta'] }, { tenant: { region: 'us', tier: 1 } }])
    expect((await askWithClaims({ ...claims, ...other })).records).toEqual([JSON_RPC]);
});

test('CAUTH-10 the email claim of a chat token is stored with the external user', async () => {
  await askWithClaims({ externalId: 'ada', email: 'ada@outside.example' });
  expect(await rig.externalUsers()).toEqual([
    expect.objectContaining({ externalId: 'ada', email: 'ada@outside.example', isEphemeral: true }),
  ]);
});

test('CAUTH-13 a chat token that is forged, expired, unsigned or of another deployment is answered with a JSON-RPC error', async () => {
  const none = `${btoa('{"alg":"none"}')}.${btoa('{"externalId":"ada","scope":["chat"]}')}.`.replaceAll(
    '=',
    '',
  );
  const answers = await Promise.all([
    askWithClaims({ externalId: 'ada' }, { secret: 'another secret' }),
    askWithClaims({ externalId: 'ada' }, { deployment: 1 }),
    askWithClaims({ externalId: 'ada' }, { expiresIn: '-1m' }),
    ask(withToken('rubbish')),
    ask(withToken(none)),
  ]);
  for (const { records } of answers) expect(records).toEqual([JSON_RPC]);
});

test('GEN-08 ERR-02 unknown JSON keys of a chat request are ignored, and broken JSON answers 400', async () => {
  expect((await ask(key('admin'), {}, { ...as('ada'), colour: 'red' })).status).toBe(200);
  const path = '/api/v1/public/acme/agents/1/chat/stream-chat-state';
  for (const raw of ['{"input":', '[]', '"text"'])
    expect((await rig.call('POST', path, { raw, headers: key('admin') })).status).toBe(400);
});

test('CAUTH-06 with vendorNames a chat token is accepted in the header x-cube-auth-token only, and tools have names such as cubeMeta', async () => {
  const vendor = await startChat({ vendorNames: true });
  try {
    const token = await vendor.token({ externalId: 'ada' });
    const body = { input: QUESTION };
    expect((await vendor.talk(body, { headers: withToken(token) })).records).toEqual([JSON_RPC]);
    const { records } = await vendor.talk(body, { headers: { 'x-cube-auth-token': token } });
    expect(records.map(({ toolCall }) => toolCall?.name)).toContain('cubeMeta');
  } finally {
    await vendor.stop();
  }
});
