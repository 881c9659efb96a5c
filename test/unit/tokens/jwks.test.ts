// Tests the cache of an issuer's keys and of verified tokens.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { silentLogger } from '../../../src/support/logger.ts';
import { createJwtVerifier } from '../../../src/tokens/jwt.ts';
import { eventually } from '../../support/eventually.ts';

const MINUTE = 60_000;
let now = 0;
const clock = { now: () => now, sleep: () => Promise.resolve() };
const state = { keys: [] as JWK[], fails: false, asked: 0, padding: '' };
let server: Server;
let jwksUri: string;
beforeAll(async () => {
  server = createServer((_request, response) => {
    state.asked += 1;
    response.statusCode = state.fails ? 503 : 200;
    response.end(JSON.stringify({ keys: state.keys, padding: state.padding }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  jwksUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  now = Date.parse('2026-06-01T00:00:00Z');
  Object.assign(state, { keys: [], fails: false, asked: 0, padding: '' });
});

async function addKey(kid: string): Promise<(claims?: object) => Promise<string>> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  state.keys.push({ ...(await exportJWK(publicKey)), kid });
  return (claims = {}) =>
    new SignJWT({ iss: 'i', aud: 'a', exp: now / 1000 + 86_400 * 3, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(privateKey);
}
const create = () =>
  createJwtVerifier({ clock, logger: silentLogger }, { issuer: 'i', audience: 'a', jwksUri });

test("a JWT with an unknown key causes a fetch of the issuer's keys, at most every 30 seconds", async () => {
  const first = await addKey('first');
  const verifier = create();
  expect((await verifier.verify(await first())).kind).toBe('valid');
  const second = await addKey('second');
  expect((await verifier.verify(await second())).kind).toBe('refused');
  expect(state.asked).toBe(1);
  now += MINUTE / 2;
  expect((await verifier.verify(await second())).kind).toBe('valid');
  expect(state.asked).toBe(2);
});

test("concurrent JWTs with unknown keys cause one fetch of the issuer's keys", async () => {
  const sign = await addKey('one');
  const verifier = create();
  const tokens = await Promise.all([1, 2, 3, 4, 5].map((n) => sign({ n })));
  const verdicts = await Promise.all(tokens.map((token) => verifier.verify(token)));
  expect(verdicts.map(({ kind }) => kind)).toEqual(Array(5).fill('valid'));
  expect(state.asked).toBe(1);
});

test('an issuer withdraws a key → a cached JWT that was signed with it is refused', async () => {
  const sign = await addKey('going');
  const verifier = create();
  const token = await sign();
  expect((await verifier.verify(token)).kind).toBe('valid');
  state.keys = [];
  now += 10 * MINUTE;
  await eventually('refused', async () => (await verifier.verify(token)).kind === 'refused');
});

test('a cached JWT is refused one minute after its expiry', async () => {
  const sign = await addKey('k');
  const verifier = create();
  const token = await sign({ exp: now / 1000 + 60 });
  expect((await verifier.verify(token)).kind).toBe('valid');
  now += 119_000;
  expect((await verifier.verify(token)).kind).toBe('valid');
  now += 2000;
  expect((await verifier.verify(token)).kind).toBe('refused');
});

test('the issuer is unavailable → its known keys are used for a day', async () => {
  const sign = await addKey('k');
  const verifier = create();
  expect((await verifier.verify(await sign())).kind).toBe('valid');
  state.fails = true;
  now += 23 * 60 * MINUTE;
  expect((await verifier.verify(await sign({ n: 1 }))).kind).toBe('valid');
  await eventually('it was asked', () => state.asked === 2);
  now += 30 * MINUTE;
  const unknown = await (await addKey('new'))();
  expect((await verifier.verify(unknown)).kind).toBe('undecided');
  now += 31 * MINUTE;
  expect((await verifier.verify(await sign({ n: 2 }))).kind).toBe('undecided');
  state.fails = false;
  now += MINUTE;
  expect((await verifier.verify(await sign({ n: 2 }))).kind).toBe('valid');
});

test('a too large key document of an issuer is refused', async () => {
  const sign = await addKey('k');
  state.padding = 'x'.repeat(600_000);
  expect((await create().verify(await sign())).kind).toBe('undecided');
});
