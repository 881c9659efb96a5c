// Builds the security context that the platform would give a user (contract 5.6), and signs a data token with it.
import { SignJWT } from 'jose';
import type { AttributeValue, UserAttribute } from '../platform/wire.ts';
import { defaultText, defaultValueOf } from '../sync/mapping/default-value.ts';

/** Part of a token that access policies read. */
export interface SecurityContext {
  cubeCloud: { groups: string[]; userAttributes: Record<string, AttributeValue> };
}

/** Returns groups and effective values: the stored value, or the default of the definition (contract 3.2). */
export function toSecurityContext(
  groups: readonly string[],
  stored: Readonly<Record<string, AttributeValue>>,
  definitions: readonly UserAttribute[],
): SecurityContext {
  const values = definitions.flatMap((definition): [string, AttributeValue][] => {
    const { name } = definition;
    const storedValue = Object.hasOwn(stored, name) ? stored[name] : null;
    const value = storedValue ?? defaultValueOf(definition);
    return value === undefined || value === null ? [] : [[name, value]];
  });
  return { cubeCloud: { groups: [...groups], userAttributes: Object.fromEntries(values) } };
}

/** Returns a sentence for each value that the account has only by the default of the definition at the platform. */
export function defaultNotes(
  { cubeCloud: { userAttributes } }: SecurityContext,
  stored: Readonly<Record<string, AttributeValue>>,
): string[] {
  return Object.entries(userAttributes)
    .filter(([name]) => !Object.hasOwn(stored, name) || stored[name] === null)
    .map(([name, value]) => defaultText(name, value));
}

/**
 * Returns a data token (JWT, HS256) signed with the deployment's API secret (contract 1.1, 5.6).
 * @param lifetimeSeconds from `nowMs` on; a query is polled with the same token until it ends
 */
export function signDataToken(
  secret: string,
  context: SecurityContext,
  { nowMs, lifetimeSeconds }: { nowMs: number; lifetimeSeconds: number },
): Promise<string> {
  const issuedAt = Math.floor(nowMs / 1000);
  return new SignJWT({ ...context })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .sign(new TextEncoder().encode(secret));
}
