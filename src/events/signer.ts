// Signs event tokens and provides the public keys. Settings are read at each use, so that a replaced key is used at once.
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
  /** Returns the key set (RFC 7517 §5): the public key of the signing key first. */
  keys: () => Promise<{ keys: JWK[] }>;
}

interface Ready extends SigningKey {
  kid: string;
  jwk: JWK;
}

export function createSigner(settings: KeySettings): Signer {
  const signing = createReader(parsePrivateKey);
  const shown = createReader(parsePublicKey);

  return {
    async sign(claims) {
      const { key, algorithm, kid } = await signing(settings.key);
      // The type distinguishes the token from other JWTs (RFC 8417 §2.3).
      const header = { alg: algorithm, kid, typ: 'secevent+jwt' };
      return new SignJWT({ ...claims }).setProtectedHeader(header).sign(key);
    },
    async keys() {
      const { key, otherKeys } = settings;
      const all = await Promise.all([signing(key), ...otherKeys.map(shown)]);
      return { keys: [...new Map(all.map(({ kid, jwk }) => [kid, jwk])).values()] };
    },
  };
}

/** Caches parsed keys, because parsing takes longer than signing. */
function createReader(parse: (text: string) => SigningKey | string): (text: string) => Promise<Ready> {
  const known = new Map<string, Promise<Ready>>();
  return (text) => {
    const ready = known.get(text) ?? prepare(parse(text));
    known.set(text, ready);
    return ready;
  };
}

async function prepare(parsed: SigningKey | string): Promise<Ready> {
  if (typeof parsed === 'string') throw new Error('a signing key passed validation and cannot be read');
  const { key, algorithm } = parsed;
  // A private key is converted to its public key, so that it is never published.
  const open = key.type === 'private' ? createPublicKey(key) : key;
  const jwk = open.export({ format: 'jwk' }) as JWK;
  const kid = await calculateJwkThumbprint(jwk);
  return { key, algorithm, kid, jwk: { ...jwk, kid, alg: algorithm, use: 'sig' } };
}
