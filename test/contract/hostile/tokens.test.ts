// Tests wrong bearer tokens (RFC 7644 §2, RFC 6750): a refusal reveals nothing.
import { createClient, startApi, type Client } from '../scim-conformance/client.ts';
import { TOKEN, type Bridge } from '../../support/build-bridge.ts';
import { exchange, expectUnharmed, rawRequest } from './attack.ts';

const SOON = 'a-token-that-ends-0123456789';
const OTHER = 'the-token-of-the-other-connection-0123';

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi({
    configure: (config) => {
      config.connections.default?.tokens.push(
        { name: 'ended', secret: 'a-token-that-has-ended-0123456789', expiresAt: '2020-01-31T00:00:00Z' },
        { name: 'nonsense', secret: 'a-token-with-a-bad-date-0123456789', expiresAt: 'next year' },
        { name: 'soon', secret: SOON, expiresAt: new Date(Date.now() + 3_600_000).toISOString() },
      );
      const other = (name: string, allowedNetworks: string[]) => {
        config.connections[name] = {
          name,
          profile: 'auto',
          tokens: [{ name: 'primary', secret: OTHER }],
          allowedNetworks,
          targets: ['main'],
          schemas: [],
        };
      };
      other('elsewhere', ['10.0.0.0/8', '2001:db8::/32']);
      other('here', ['127.0.0.0/8', '::1/128']);
      other('nobody', []);
      Object.assign(config.connections.nobody ?? {}, { tokens: [] });
    },
  }));
});
afterAll(() => bridge.stop());
afterEach(() => expectUnharmed(scim));

test.each([
  ['no header', undefined],
  ['an empty header', ''],
  ['the scheme alone', 'Bearer'],
  ['the scheme and blanks', 'Bearer   '],
  ['a wrong token', 'Bearer wrong'],
  ['a prefix of the valid token', `Bearer ${TOKEN.slice(0, -1)}`],
  ['the valid token with one character more', `Bearer ${TOKEN}x`],
  ['the valid token and a second word', `Bearer ${TOKEN} x`],
  ['the valid token twice', `Bearer ${TOKEN}, Bearer ${TOKEN}`],
  ['the valid token in capitals', `Bearer ${TOKEN.toUpperCase()}`],
  ['the scheme twice', `Bearer Bearer ${TOKEN}`],
  ['another scheme', `Token ${TOKEN}`],
  ['Basic', `Basic ${Buffer.from(`${TOKEN}:`).toString('base64')}`],
  ['an expired token', 'Bearer a-token-that-has-ended-0123456789'],
  ['a token with an unreadable expiry', 'Bearer a-token-with-a-bad-date-0123456789'],
  ['the token of another connection', `Bearer ${OTHER}`],
  ['the word undefined', 'Bearer undefined'],
  ['the word null', 'Bearer null'],
  ['a token of 8 KB', `Bearer ${'x'.repeat(8192)}`],
])(
  'a request with %s in place of a valid token answers 401 with a challenge on every endpoint (RFC 6750 §3)',
  async (_what, authorization) => {
    for (const [method, path, body] of [
      ['GET', '/Users', undefined],
      ['POST', '/Users', '{"userName":"intruder@x.example"}'],
      ['POST', '/Users', '{broken'],
      ['PATCH', '/Groups/1', '{}'],
      ['PUT', '/nowhere', '{}'],
      ['DELETE', '/Users/1', undefined],
      ['OPTIONS', '/Users', undefined],
      ['GET', '/Me', undefined],
      ['POST', '/Bulk', '{}'],
    ] as const) {
      const answer = await scim.send(method, path, body, { authorization });
      expect([method, path, answer.status]).toEqual([method, path, 401]);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm=/);
      expect(answer.text).not.toContain(TOKEN);
    }
    expect(await scim.find('/Users', 'userName sw "intruder"')).toEqual([]);
  },
);

test.each([
  ['behind Bearer', `Bearer ${TOKEN}`],
  ['in lower case', `bearer ${TOKEN}`],
  ['after several blanks', `Bearer    ${TOKEN}`],
  ['bare, as Okta header authentication sends it', TOKEN],
  ['one that ends in an hour', `Bearer ${SOON}`],
])('a valid token is accepted in this form: %s', async (_what, authorization) => {
  expect((await scim.get('/Users', { authorization })).status).toBe(200);
});

test('of two Authorization headers the first decides: a valid token in it answers 200, one in the second header 400 or 401', async () => {
  const lines = (first: string, second: string): Buffer =>
    Buffer.from(
      `GET /scim/v2/Users HTTP/1.1\r\nHost: x\r\nAuthorization: ${first}\r\nAuthorization: ${second}\r\n\r\n`,
    );
  const [wrong] = await exchange(scim.port, lines('Bearer wrong', `Bearer ${TOKEN}`));
  expect([400, 401]).toContain(wrong?.status);
  const [late] = await exchange(scim.port, lines(`Bearer ${TOKEN}`, 'Bearer wrong'));
  // Node.js keeps the first of repeated Authorization headers. The sender has a right token, so nothing is revealed.
  expect(late?.status).toBe(200);
  const [half] = await exchange(scim.port, lines(`Bearer ${TOKEN.slice(0, 5)}`, TOKEN.slice(5)));
  expect([400, 401]).toContain(half?.status);
});

test('a token in a query parameter answers 401 (RFC 6750 §2.3, RFC 7644 §7.5)', async () => {
  for (const name of ['access_token', 'token', 'authorization']) {
    const answer = await scim.get(`/Users?${name}=${TOKEN}`, { authorization: undefined });
    expect(answer.status).toBe(401);
  }
});

test('a token of one connection answers 401 at another connection, and 200 at its own', async () => {
  const mine = createClient(scim.port, '/connections/here/scim/v2', OTHER);
  expect((await mine.get('/Users')).status).toBe(200);
  expect((await createClient(scim.port, '/connections/here/scim/v2', TOKEN).get('/Users')).status).toBe(401);
  expect((await createClient(scim.port, '/scim/v2', OTHER).get('/Users')).status).toBe(401);
});

test('a connection without tokens in the settings answers 401 to every request', async () => {
  for (const authorization of [undefined, '', 'Bearer ', 'Bearer undefined', `Bearer ${TOKEN}`]) {
    const nobody = createClient(scim.port, '/connections/nobody/scim/v2');
    expect((await nobody.get('/Users', { authorization })).status).toBe(401);
  }
});

test('a client outside allowedNetworks gets 403 with a valid token, whatever address its forwarding headers name', async () => {
  const outside = createClient(scim.port, '/connections/elsewhere/scim/v2', OTHER);
  for (const name of [
    'x-forwarded-for',
    'forwarded',
    'x-real-ip',
    'x-client-ip',
    'cf-connecting-ip',
    'true-client-ip',
  ]) {
    const answer = await outside.get('/Users', {
      [name]: name === 'forwarded' ? 'for=10.0.0.1' : '10.0.0.1',
    });
    expect(answer.status).toBe(403);
  }
  expect((await outside.get('/Users')).status).toBe(403);
  const inside = createClient(scim.port, '/connections/here/scim/v2', OTHER);
  expect((await inside.get('/Users')).status).toBe(200);
});

test('an upload with a wrong token answers 401 before its body has arrived', async () => {
  const request = rawRequest('POST /scim/v2/Users', {
    Authorization: 'Bearer wrong',
    'Content-Length': 9_000_000,
  });
  const [answer] = await exchange(scim.port, Buffer.concat([request, Buffer.alloc(1000, 120)]), 1, 2000);
  expect(answer?.status).toBe(401);
});
