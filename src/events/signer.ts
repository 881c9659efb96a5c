// Signs event tokens and provides the public keys. The settings are read at each use, so that a rotated key is used at once.
import { createPublicKey } from 'node:crypto';
import { calculateJwkThumbprint, SignJWT, type JWK } from 'jose';
import { parsePrivateKey, parsePublicKey, type SigningKey } from '../support/signing-key.ts';
import type { Claims } from './claims.ts';

export interface KeySettings {
  /** Private key, PEM or JWK. */
  key: string;
  /** Further public keys. */
  otherKeys: readonly string[];
}

export interface Signer {
  sign: (claims: Claims) => Promise<string>;
  /** Returns the public keys (RFC 7517 §5), first the one of the signing key. */
  keys: () => Promise<{ keys: JWK[] }>;
}

/** A parsed key with its id and its public form. */
interface PreparedKey extends SigningKey {
  kid: string;
  jwk: JWK;
}

export function createSigner(settings: KeySettings): Signer {
  const signing = createReader(parsePrivateKey);
  const published = createReader(parsePublicKey);

  return {
    async sign(claims) {
      const { key, algorithm, kid } = await signing(settings.key);
      // The type distinguishes the token from other JWTs (RFC 8417 §2.3).
      const header = { alg: algorithm, kid, typ: 'secevent+jwt' };
      return new SignJWT({ ...claims }).setProtectedHeader(header).sign(key);
    },
    async keys() {
      const { key, otherKeys } = settings;
      const all = await Promise.all([signing(key), ...otherKeys.map(published)]);
      return { keys: [...new Map(all.map(({ kid, jwk }) => [kid, jwk])).values()] };
    },
  };
}

/** Returns a function that parses a key and caches it, because parsing takes longer than signing. */
function createReader(parse: (text: string) => SigningKey | string): (text: string) => Promise<PreparedKey> {
  const known = new Map<string, Promise<PreparedKey>>();
  return (text) => {
    const ready = known.get(text) ?? prepare(parse(text));
    known.set(text, ready);
    return ready;
  };
}

async function prepare(parsed: SigningKey | string): Promise<PreparedKey> {
  if (typeof parsed === 'string') throw new Error('a key passed validation but cannot be parsed');
  const { key, algorithm } = parsed;
  // The JWK is published, so it is made from the public key.
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const jwk = publicKey.export({ format: 'jwk' }) as JWK;
  const kid = await calculateJwkThumbprint(jwk);
  return { key, algorithm, kid, jwk: { ...jwk, kid, alg: algorithm, use: 'sig' } };
}
