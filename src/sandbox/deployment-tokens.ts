// JSON web tokens of a deployment's own authentication: HS256 over its API secret (contract 1.1, 4.3, ASSUMED-57).
import { jwtVerify, SignJWT } from 'jose';
import { isObject, type JsonObject } from './json.ts';

/** Where the secret comes from; a Deployment is one. */
export interface TokenIssuer {
  readonly apiSecret: string;
}

const secretOf = (issuer: TokenIssuer): Uint8Array => new TextEncoder().encode(issuer.apiSecret);

/** A token with these claims; `iat` and `exp` are set from the sandbox's clock, whatever the claims say. */
export async function signToken(
  issuer: TokenIssuer,
  claims: JsonObject,
  options: { readonly nowMs: number; readonly expiresInSeconds: number },
): Promise<string> {
  const issuedAt = Math.floor(options.nowMs / 1000);
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + options.expiresInSeconds)
    .sign(secretOf(issuer));
}

/**
 * The claims of a token that this deployment has signed and that is valid at `nowMs`, else null: another secret,
 * another algorithm (`none` above all), malformed, expired or not valid yet.
 */
export async function verifyToken(
  issuer: TokenIssuer,
  token: string,
  nowMs: number,
): Promise<JsonObject | null> {
  try {
    const { payload } = await jwtVerify(token, secretOf(issuer), {
      algorithms: ['HS256'],
      currentDate: new Date(nowMs),
    });
    return isObject(payload) ? payload : null;
  } catch {
    // Why it failed is nothing that a caller may learn: every bad token gets the same answer (contract 1.3).
    return null;
  }
}
