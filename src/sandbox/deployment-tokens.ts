// Signs and verifies the JSON web tokens of a deployment: HMAC with its API secret (contract 1.1, 4.3, ASSUMED-57).
import { jwtVerify, SignJWT } from 'jose';
import { isJsonObject, type SandboxJsonObject } from './json.ts';

/** Holder of the HMAC secret, such as a DeploymentRecord. */
interface TokenIssuer {
  readonly apiSecret: string;
}

const secretOf = (issuer: TokenIssuer): Uint8Array => new TextEncoder().encode(issuer.apiSecret);

/** Returns a token with these claims; `iat` and `exp` always come from the sandbox's clock. */
export async function signToken(
  issuer: TokenIssuer,
  claims: SandboxJsonObject,
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
 * Returns the claims of a token that this deployment signed and that is valid at `nowMs`. Returns null for
 * another secret, an algorithm outside the HMAC family (`none` above all), and malformed, expired or not yet valid tokens.
 */
export async function verifyToken(
  issuer: TokenIssuer,
  token: string,
  nowMs: number,
): Promise<SandboxJsonObject | null> {
  try {
    const { payload } = await jwtVerify(token, secretOf(issuer), {
      algorithms: ['HS256', 'HS384', 'HS512'],
      currentDate: new Date(nowMs),
    });
    return isJsonObject(payload) ? payload : null;
  } catch {
    // The reason is hidden from callers: every invalid token gets the same answer (contract 1.3).
    return null;
  }
}
