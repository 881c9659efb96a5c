// A token of the deployment's own authentication, for one question: HS256 over its API secret (contract 1.1, 5.6).
import { SignJWT } from 'jose';
import type { SecurityContext } from './security-context.ts';

/** Long enough for a query that waits, short enough to be worth nothing afterwards. */
const LIFETIME_SECONDS = 300;

export function signDataToken(secret: string, context: SecurityContext, nowMs: number): Promise<string> {
  const issuedAt = Math.floor(nowMs / 1000);
  return new SignJWT({ ...context })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFETIME_SECONDS)
    .sign(new TextEncoder().encode(secret));
}
