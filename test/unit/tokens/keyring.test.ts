// Tests the tokens of a connection in the memory of a process.
import { createBucket } from '../../../src/support/limits.ts';
import { createKeyring } from '../../../src/tokens/keyring.ts';
import { digestOf, makeSecret } from '../../../src/tokens/secret.ts';

const NOW = 1_800_000_000_000;
const secret = makeSecret((size) => Buffer.alloc(size, 7));
const stored = (text: string, expiresAt: number | null = null) => ({
  name: 'made',
  digest: digestOf(text).toString('base64url'),
  createdAt: NOW,
  createdBy: 'jo',
  expiresAt,
});
const createOne = () => createKeyring(() => createBucket({ perSecond: 1, burst: 1 }));

test('a keyring is incomplete until the stored tokens were read', () => {
  const keyring = createOne();
  keyring.setSettings([{ name: 'a', secret: 'written-in-the-settings' }]);
  expect(keyring.isComplete).toBe(false);
  expect(keyring.find('written-in-the-settings', NOW)?.name).toBe('a');
  keyring.setStored([]);
  expect(keyring.isComplete).toBe(true);
});

test('a stored token is found by its secret, and not by its digest or a part of the secret', () => {
  const keyring = createOne();
  const token = stored(secret);
  keyring.setStored([token]);
  expect(keyring.find(secret, NOW)?.source).toBe('stored');
  for (const wrong of [token.digest, `scimb_${token.digest}`, secret.slice(0, -1), '', 'scimb_']) {
    expect(keyring.find(wrong, NOW)).toBeUndefined();
  }
});

test('an expired token, or one with an unreadable expiry, is refused', () => {
  const keyring = createOne();
  keyring.setStored([stored(secret, NOW)]);
  expect(keyring.find(secret, NOW - 1)).toBeDefined();
  expect(keyring.find(secret, NOW)).toBeUndefined();
  keyring.setSettings([{ name: 'a', secret: 'with-a-strange-end', expiresAt: 'next year' }]);
  expect(keyring.find('with-a-strange-end', NOW)).toBeUndefined();
});

test('stored tokens are reloaded → a token keeps its used rate limit, and a token with a new secret starts with an unused one', () => {
  const keyring = createOne();
  keyring.setStored([stored(secret)]);
  const before = keyring.find(secret, NOW);
  expect(before?.budget.take(NOW)).toBe(0);
  if (before) before.lastUsedAt = NOW;
  keyring.setStored([stored(secret)]);
  expect(keyring.find(secret, NOW)?.lastUsedAt).toBe(NOW);
  expect(keyring.find(secret, NOW)?.budget.take(NOW)).toBeGreaterThan(0);
  const other = makeSecret((size) => Buffer.alloc(size, 8));
  keyring.setStored([stored(other)]);
  expect(keyring.find(secret, NOW)).toBeUndefined();
  expect(keyring.find(other, NOW)?.budget.take(NOW)).toBe(0);
});

test.each(['x'.repeat(340), 'x'.repeat(341), 'ü'.repeat(500), '漢'.repeat(2000)])(
  'a long secret is found only in full, not with one character more or less (case %#)',
  (long) => {
    const keyring = createOne();
    keyring.setSettings([{ name: 'long', secret: long }]);
    expect(keyring.find(long, NOW)?.name).toBe('long');
    for (const wrong of [`${long}x`, long.slice(1), `${long}\0`])
      expect(keyring.find(wrong, NOW)).toBeUndefined();
  },
);
