// Tests deployment tokens: own secret, HMAC, not expired (contract 1.1, rows AUTH-09, META-10).
import { createHmac } from 'node:crypto';
import { signToken, verifyToken } from '../../../src/sandbox/deployment-tokens.ts';

const sales = { apiSecret: 'a'.repeat(48) };
const ops = { apiSecret: 'b'.repeat(48) };
const nowMs = Date.parse('2026-05-01T10:00:00Z');
const sign = (claims: object) => signToken(sales, { ...claims }, { nowMs, expiresInSeconds: 60 });

test('a deployment token is valid for its own deployment until it expires', async () => {
  const token = await sign({ country: 'DE', scope: ['meta'] });
  expect(await verifyToken(sales, token, nowMs + 59_000)).toEqual({
    country: 'DE',
    scope: ['meta'],
    iat: nowMs / 1000,
    exp: nowMs / 1000 + 60,
  });
  expect(await verifyToken(sales, token, nowMs + 60_000)).toBeNull();
  expect(await verifyToken(ops, token, nowMs)).toBeNull();
});

test('claims cannot extend the lifetime of a deployment token', async () => {
  const token = await sign({ exp: 9_999_999_999, iat: 1 });
  expect(await verifyToken(sales, token, nowMs + 61_000)).toBeNull();
});

test('malformed or unsigned deployment tokens, and those with another algorithm, are refused', async () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const unsigned = `${part({ alg: 'none' })}.${part({ sub: 'x' })}.`;
  const head = `${part({ alg: 'RS256' })}.${part({ sub: 'x' })}`;
  const other = `${head}.${createHmac('sha256', sales.apiSecret).update(head).digest('base64url')}`;
  for (const token of ['', 'x', 'a.b.c', unsigned, other]) {
    expect(await verifyToken(sales, token, nowMs)).toBeNull();
  }
});
