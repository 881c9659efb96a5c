// Tests JWTs of an issuer (RFC 7519, RFC 8725), and /Me for their subject (RFC 7644 §3.11).
import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import { exportJWK, SignJWT, UnsecuredJWT, type JWK, type JWTPayload } from 'jose';
import type { App } from '../../../src/app.ts';
import { userBody } from '../scim-conformance/client.ts';
import { AUDIENCE, ISSUER, startIssuer, type Issuer } from './issuer.ts';
import { asClient, createRig, SETTINGS_TOKEN, statusOf, type Rig } from './rig.ts';

let issuer: Issuer;
let rig: Rig;
let app: App;
beforeAll(async () => {
  issuer = await startIssuer();
  await issuer.addKey('RS256', 'rsa');
  await issuer.addKey('ES256', 'ec');
  await issuer.addKey('EdDSA', 'ed');
  await issuer.addKey('PS256', 'pss');
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  issuer.keys.push({ ...(publicKey.export({ format: 'jwk' }) as JWK), kid: 'weak', alg: 'RS256' });
  const jwt = { issuer: ISSUER, audience: AUDIENCE, jwksUri: issuer.uri, allowLoopbackHttp: true };
  rig = createRig(() => ({
    connections: {
      default: { tokens: [{ name: 'primary', secret: SETTINGS_TOKEN }], jwt },
      without: { tokens: [{ name: 'primary', secret: 'token-of-the-one-without-jwt' }] },
    },
  }));
  app = await rig.start();
});
afterAll(async () => {
  await rig.stop();
  await issuer.stop();
});

const seconds = (): number => Math.floor(Date.now() / 1000);

test.each(['rsa', 'ec', 'ed'])(
  'a JWT signed with the %s key authenticates at the connection of its issuer only',
  async (kid) => {
    const token = await issuer.sign(kid);
    expect(await statusOf(app, token)).toBe(200);
    // The second request uses the cached result.
    expect(await statusOf(app, token)).toBe(200);
    expect(await statusOf(app, token, 'without')).toBe(401);
    expect(await statusOf(app, SETTINGS_TOKEN)).toBe(200);
  },
);

test('a JWT is accepted up to a minute after its expiry or before its nbf, and answers 401 beyond that', async () => {
  for (const [claims, status] of [
    [{ exp: seconds() - 30 }, 200],
    [{ exp: seconds() - 90 }, 401],
    [{ nbf: seconds() + 30 }, 200],
    [{ nbf: seconds() + 90 }, 401],
    [{ aud: ['another', AUDIENCE] }, 200],
  ] as const) {
    expect([claims, await statusOf(app, await issuer.sign('ec', claims as JWTPayload))]).toEqual([
      claims,
      status,
    ]);
  }
});

test.each([undefined, 'JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'application/jwt'])(
  'a JWT with the typ %p is accepted as an access token (RFC 8725 §3.11)',
  async (typ) => {
    expect(await statusOf(app, await issuer.sign('ec', {}, { typ }))).toBe(200);
  },
);

test.each([
  'secevent+jwt',
  'logout+jwt',
  'dpop+jwt',
  'id_token',
  'at+jwt+x',
  'text/at+jwt',
  '',
  7,
  null,
  ['JWT'],
])('a JWT with the typ %p answers 401, also when it is sent again', async (typ) => {
  const token = await issuer.sign('ec', {}, { typ });
  expect(await statusOf(app, token)).toBe(401);
  expect(await statusOf(app, token)).toBe(401);
});

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const publicPem = (kid: string): Buffer =>
  Buffer.from(JSON.stringify(issuer.keys.find((key) => key.kid === kid)));

test.each<[string, () => Promise<string> | string]>([
  ['another issuer', () => issuer.sign('ec', { iss: 'https://login.example.com/other/' })],
  ['no issuer', () => issuer.sign('ec', { iss: undefined as unknown as string })],
  ['another audience', () => issuer.sign('ec', { aud: 'somebody-else' })],
  ['no audience', () => issuer.sign('ec', { aud: undefined as unknown as string })],
  ['no expiry', () => issuer.sign('ec', { exp: undefined as unknown as number })],
  ['an expiry that is text', () => issuer.sign('ec', { exp: 'never' as unknown as number })],
  ['an algorithm that is not allowed', () => issuer.sign('pss')],
  ['an unknown critical header (crit)', () => issuer.sign('ec', {}, { crit: ['made-up'], 'made-up': true })],
  ['a kid of a key of another type', () => issuer.sign('ec', {}, { kid: 'rsa' })],
  [
    'the algorithm none without signature',
    () => new UnsecuredJWT({ iss: ISSUER, aud: AUDIENCE, exp: seconds() + 300 }).encode(),
  ],
  [
    'the algorithm none with a signature',
    () => `${part({ alg: 'none' })}.${part({ iss: ISSUER, aud: AUDIENCE })}.AAAA`,
  ],
  [
    'the public key as a shared secret (HS256)',
    () =>
      new SignJWT({ iss: ISSUER, aud: AUDIENCE, exp: seconds() + 300 })
        .setProtectedHeader({ alg: 'HS256', kid: 'rsa' })
        .sign(createSecretKey(publicPem('rsa'))),
  ],
  [
    'a key in its own header (jwk, jku)',
    async () => {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return new SignJWT({ iss: ISSUER, aud: AUDIENCE, exp: seconds() + 300 })
        .setProtectedHeader({ alg: 'ES256', jwk: await exportJWK(publicKey), jku: issuer.uri })
        .sign(privateKey);
    },
  ],
  ['a weak key', () => `${part({ alg: 'RS256', kid: 'weak' })}.${part({ iss: ISSUER })}.AAAA`],
  [
    'changed claims',
    async () => (await issuer.sign('ec')).replace(/\.[^.]+\./, `.${part({ iss: ISSUER })}.`),
  ],
  ['nonsense in three parts', () => 'a.b.c'],
  ['parts that are no JSON', () => 'AAAA.BBBB.CCCC'],
])('a JWT with %s answers 401 with a challenge', async (_what, make) => {
  const answer = await asClient(app, await make()).get('/Users');
  expect(answer.status).toBe(401);
  expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm=/);
});

describe('/Me for the subject of a JWT', () => {
  let jo: { id: string };
  beforeAll(async () => {
    jo = await asClient(app, SETTINGS_TOKEN).user('jo@x.example');
  });
  const me = async (sub: unknown) => asClient(app, await issuer.sign('ec', { sub: sub as string }));
  const location = (): string => `http://127.0.0.1:${app.port}/scim/v2/Users/${jo.id}`;

  test.each(['ext-jo@x.example', 'jo@x.example', 'JO@X.example'])(
    'GET /Me with a JWT whose subject is %s returns the user with this externalId or userName',
    async (sub) => {
      const answer = await (await me(sub)).get('/Me');
      expect([answer.status, answer.body.id, answer.headers.location]).toEqual([200, jo.id, location()]);
      expect(answer.body.meta.location).toBe(location());
    },
  );

  test('/Me of a JWT supports projection and If-None-Match, and PATCH, PUT and DELETE change and delete its user', async () => {
    const scim = await me('ext-jo@x.example');
    expect((await scim.get('/Me?attributes=userName')).body).not.toHaveProperty('displayName');
    expect((await scim.patch('/Me', { op: 'replace', path: 'displayName', value: 'Jo' })).status).toBe(200);
    const put = await scim.put('/Me', userBody('jo@x.example', { displayName: 'Jo D' }));
    expect([put.status, put.headers.location]).toEqual([200, location()]);
    const again = await scim.get('/Me', { 'if-none-match': String(put.headers.etag) });
    expect([again.status, again.headers.location]).toEqual([304, location()]);
    expect((await scim.post('/Me', {})).status).toBe(405);
    expect((await scim.delete('/Me')).status).toBe(204);
    expect((await scim.get('/Me')).status).toBe(404);
  });

  test('GET /Me with a JWT whose subject is no user answers 404', async () => {
    expect((await (await me('nobody@x.example')).get('/Me')).status).toBe(404);
  });

  test.each([2, 102])(
    'GET /Me with a subject that is the externalId of %d users answers 404, also when it is the userName of one',
    async (count) => {
      const sub = `shared-by-${count}@x.example`;
      const scim = await me(sub);
      for (let n = 0; n < count; n++)
        await scim.user(n === 0 ? sub : `sharer-${count}-${n}@x.example`, { externalId: sub });
      expect((await scim.get('/Me')).status).toBe(404);
    },
  );

  test('/Me answers 501 for a token of the settings, and for a JWT without a subject that is text', async () => {
    const clients = [asClient(app, SETTINGS_TOKEN)];
    for (const sub of [undefined, '', 123, null, { a: 1 }]) clients.push(await me(sub));
    for (const client of clients)
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'POST']) {
        const body = method === 'GET' || method === 'DELETE' ? undefined : {};
        expect((await client.send(method, '/Me', body)).status).toBe(501);
      }
  });
});

describe('log lines about refused JWTs', () => {
  const REFUSED = 'JWT refused';
  const refusals = (): any[] =>
    rig.logs.filter((each) => each.includes(REFUSED)).map((each) => JSON.parse(each));

  test('the log has one line for each reason of refused JWTs, and no part of a token', async () => {
    const own = await rig.start();
    const before = refusals().length;
    const tokens = await Promise.all([
      ...[1, 2, 3, 4, 5].map((n) => issuer.sign('ec', { aud: 'somebody-else', sub: 'Jo Secret', n })),
      issuer.sign('ec', { iss: 'https://login.example.com/other/' }),
      issuer.sign('ec', {}, { typ: 'logout+jwt' }),
    ]);
    for (const token of tokens) expect(await statusOf(own, token)).toBe(401);
    expect(
      refusals()
        .slice(before)
        .map(({ issuer: expected, claim, claimedIssuer, kid }) => [expected, claim, claimedIssuer, kid]),
    ).toEqual([
      [ISSUER, 'aud', ISSUER, 'ec'],
      [ISSUER, 'iss', 'https://login.example.com/other/', 'ec'],
      [ISSUER, 'typ', ISSUER, 'ec'],
    ]);
    const all = rig.logs.join('');
    for (const token of tokens) for (const piece of token.split('.')) expect(all).not.toContain(piece);
    expect(all).not.toContain('Jo Secret');
  });

  test('key id and issuer of a refused JWT are logged shortened and with escaped control characters', async () => {
    const own = await rig.start();
    const before = refusals().length;
    const bad = { kid: `x\u009b2J${'k'.repeat(2000)}`, alg: 'ES256', crit: ['c'.repeat(3000)] };
    const presented = `${part(bad)}.${part({ iss: `\u202e${'i'.repeat(2000)}` })}.AAAA`;
    expect(await statusOf(own, presented)).toBe(401);
    const [line] = refusals().slice(before);
    expect(line.kid).toMatch(/^x\\u009b2Jk{196}$/);
    expect(line.claimedIssuer).toMatch(/^\\u202ei{199}$/);
    expect(JSON.stringify(line).length).toBeLessThan(1000);
  });
});

describe('changing keys of the issuer', () => {
  test('right after the keys of an issuer were fetched, ten JWTs with unknown key ids answer 401 without another fetch', async () => {
    const own = await rig.start();
    expect(await statusOf(own, await issuer.sign('ec'))).toBe(200);
    const before = issuer.asked;
    await issuer.addKey('ES256', 'next');
    // The keys were just fetched; many unknown key ids must not cause as many requests to the issuer.
    for (let index = 0; index < 10; index++) {
      expect(await statusOf(own, await issuer.sign('next', {}, { kid: `made-up-${index}` }))).toBe(401);
    }
    expect(issuer.asked).toBe(before);
  });

  test('while the issuer is unavailable, a JWT of a known key is accepted, and answers 503 at a process without keys', async () => {
    issuer.status = 500;
    const fresh = await rig.start();
    const answer = await fetch(`http://127.0.0.1:${fresh.port}/scim/v2/Users`, {
      headers: { authorization: `Bearer ${await issuer.sign('ec')}` },
    });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await statusOf(fresh, SETTINGS_TOKEN)).toBe(200);
    expect(await statusOf(app, await issuer.sign('ec', { sub: 'new-token' }))).toBe(200);
    issuer.status = 302;
    expect(await statusOf(app, await issuer.sign('ec', { sub: 'another' }))).toBe(200);
    issuer.status = 200;
  });
});
