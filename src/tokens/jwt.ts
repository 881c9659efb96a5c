// Verifies JWTs of the identity provider's issuer (RFC 7519, RFC 8725, RFC 9068).
import { errors, jwtVerify, type JWTPayload } from 'jose';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { createJwks, type KeySet } from './jwks.ts';
import { createRefusedJwtLog } from './refused-jwts.ts';
import { digestOf } from './secret.ts';

export interface JwtSettings {
  issuer: string;
  audience: string;
  jwksUri: string;
}

type JwtVerdict =
  /** `subject`: the claim `sub`; `''` when the token has none. */
  | { kind: 'valid'; subject: string }
  | { kind: 'refused' }
  /** The keys of the issuer cannot be fetched, so the token cannot be checked. */
  | { kind: 'undecided' };

/** Accepted algorithms: key pairs only. With HMAC, anybody could sign with the public key as secret (RFC 8725 §2.1). */
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA', 'Ed25519'];
/** Accepted `typ` values: access tokens. Issuers sign other kinds, such as `logout+jwt`, with the same keys. */
const TYPES = ['jwt', 'at+jwt'];
const CLOCK_TOLERANCE_SECONDS = 60;
/** Largest number of cached verified tokens. A cache helps, because providers send the same token for an hour. */
const MOST_CACHED = 1000;

/** Returns whether a token has the form of a JWT; other tokens are refused without verification. */
export const isJwtShaped = (presented: string): boolean =>
  /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.test(presented);

interface CachedToken {
  subject: string;
  /** End of its validity, Unix milliseconds. */
  endsAt: number;
  /** `KeySet.serial` of the keys that verified the token (jwks.ts). */
  serial: number;
}

export type JwtVerifier = ReturnType<typeof createJwtVerifier>;

export function createJwtVerifier(deps: { clock: Clock; logger: Logger }, settings: JwtSettings) {
  const { clock } = deps;
  const { issuer, audience } = settings;
  const jwks = createJwks(deps, settings.jwksUri);
  const logRefused = createRefusedJwtLog(deps, issuer);
  /** By digest, so that no token stays in memory. */
  const cached = new Map<string, CachedToken>();

  function cache(key: string, entry: CachedToken): void {
    cached.set(key, entry);
    const oldest = cached.keys().next().value;
    if (cached.size > MOST_CACHED && oldest !== undefined) cached.delete(oldest);
  }

  /** @throws JOSEError when the token is not valid with these keys */
  async function check(token: string, keys: KeySet): Promise<JWTPayload> {
    const { payload, protectedHeader } = await jwtVerify(token, keys.select, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      // A token without `exp` would never expire.
      requiredClaims: ['exp'],
      currentDate: new Date(clock.now()),
    });
    if (!isAccessToken(protectedHeader.typ)) {
      throw new errors.JWTClaimValidationFailed('the "typ" header names another kind of JWT', payload, 'typ');
    }
    return payload;
  }

  /** Caches a valid token. @param key digest of the token */
  function accept(key: string, { sub, exp }: JWTPayload, { serial }: KeySet): JwtVerdict {
    // jose does not check the type of claims that are not required.
    const subject = typeof sub === 'string' ? sub : '';
    // `check` requires `exp`, so 0 only satisfies the type.
    cache(key, { subject, endsAt: ((exp ?? 0) + CLOCK_TOLERANCE_SECONDS) * 1000, serial });
    return { kind: 'valid', subject };
  }

  /** Logs the reason for the operator; the client only gets 401. */
  function refuse(token: string, error: unknown): JwtVerdict {
    logRefused(token, error);
    return { kind: 'refused' };
  }

  /** Checks a token, from the cache if possible. An unknown key id causes one more fetch of the keys. */
  async function verify(token: string): Promise<JwtVerdict> {
    const keys = await jwks.current();
    if (!keys) return { kind: 'undecided' };
    const key = digestOf(token).toString('base64');
    const known = cached.get(key);
    // A cached token is valid only with the keys that verified it.
    if (known && known.serial === keys.serial && known.endsAt > clock.now()) {
      return { kind: 'valid', subject: known.subject };
    }
    try {
      return accept(key, await check(token, keys), keys);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) return refuse(token, error);
      const newer = await jwks.newer(keys);
      if (!newer) return jwks.isFailing ? { kind: 'undecided' } : refuse(token, error);
      return check(token, newer).then(
        (payload) => accept(key, payload, newer),
        (later: unknown) => refuse(token, later),
      );
    }
  }

  /** Fetches the keys before the first token arrives. Never rejects. */
  const prepare = async (): Promise<void> => void (await jwks.current());

  return { verify, prepare };
}

/**
 * Returns whether `typ` names an access token (RFC 8725 §3.11). A JWT without `typ` counts as one. `typ` may have the prefix
 * `application/` (RFC 7515 §4.1.9).
 */
function isAccessToken(typ: unknown): boolean {
  if (typ === undefined) return true;
  return typeof typ === 'string' && TYPES.includes(typ.toLowerCase().replace(/^application\//, ''));
}
