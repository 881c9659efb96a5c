// Signs event tokens, and shows the keys by which receivers check them. Settings are read at each use: a key that was
// replaced in its file signs from then on.
import { createPublicKey } from 'node:crypto';
import { calculateJwkThumbprint, SignJWT, type JWK } from 'jose';
import { parsePrivateKey, parsePublicKey, type SigningKey } from '../support/signing-key.ts';
import type { Claims } from './claims.ts';

export interface KeySettings {
  /** Private key, PEM or JWK. */
  key: string;
  /** Public keys that are shown beside it. */
  otherKeys: readonly string[];
}

export interface Signer {
  sign: (claims: Claims) => Promise<string>;
  /** RFC 7517 §5: the public key that signs, then the others. */
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
      // RFC 8417 §2.3: the type keeps it from being taken for another kind of token.
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

/** Reading a key and naming it costs more than signing with it, so each is read once. */
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
  // Never anything of a private key, whatever was given.
  const open = key.type === 'private' ? createPublicKey(key) : key;
  const jwk = open.export({ format: 'jwk' }) as JWK;
  const kid = await calculateJwkThumbprint(jwk);
  return { key, algorithm, kid, jwk: { ...jwk, kid, alg: algorithm, use: 'sig' } };
}
