// Parses signing keys, given as PEM or as one JWK in JSON.
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

/** JWS algorithms (RFC 7518 §3.1, RFC 8037 §3.1), one for each supported key type. */
type SigningAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

export interface SigningKey {
  key: KeyObject;
  algorithm: SigningAlgorithm;
}

const SHORTEST_RSA = 2048;
const NOT_PRIVATE = 'Not a private key. Give PEM (PKCS #8) or one JWK';
const MAKE_ONE = 'openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out events.pem';

/** Parses a private key. @returns the key, or a sentence that describes the fault without quoting the text */
export function parsePrivateKey(text: string): SigningKey | string {
  const key = read(text, createPrivateKey);
  if (!key) return `${NOT_PRIVATE}; make one with: ${MAKE_ONE}`;
  return withAlgorithm(key);
}

/** Parses a public key, or takes it from a private key. @returns the key, or a sentence that describes the fault */
export function parsePublicKey(text: string): SigningKey | string {
  const key = read(text, createPublicKey);
  return key ? withAlgorithm(key) : 'Not a public key. Give PEM (SPKI) or one JWK.';
}

/**
 * Reads PEM or JWK; returns undefined for any other text. In environment variables a line break of a PEM is often written as the
 * two characters `\n`.
 */
function read(
  text: string,
  create: (input: string | { key: JsonWebKey; format: 'jwk' }) => KeyObject,
): KeyObject | undefined {
  try {
    const trimmed = text.trim();
    if (!trimmed.startsWith('{')) return create(trimmed.replaceAll('\\n', '\n'));
    return create({ key: JSON.parse(trimmed) as JsonWebKey, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function withAlgorithm(key: KeyObject): SigningKey | string {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  const kind = key.asymmetricKeyType;
  if (kind === 'ed25519') return { key, algorithm: 'EdDSA' };
  if (kind === 'ec') {
    return namedCurve === 'prime256v1'
      ? { key, algorithm: 'ES256' }
      : 'An elliptic curve key must use the curve P-256.';
  }
  if (kind !== 'rsa') return 'Use a key of the type EC P-256, Ed25519 or RSA.';
  return modulusLength >= SHORTEST_RSA
    ? { key, algorithm: 'RS256' }
    : `An RSA key needs ${SHORTEST_RSA} bits or more.`;
}
