// In whose name data is read: what the platform would put into the context of this person (contract 5.6).
import { SignJWT } from 'jose';
import type { AttributeValue, UserAttribute } from '../platform/wire.ts';

/** The reserved element of a token that policies read. */
export interface SecurityContext {
  cubeCloud: { groups: string[]; userAttributes: Record<string, AttributeValue> };
}

/** A default, which is text whatever the type, in its type; undefined when it does not fit (contract 3.1). */
function fromText(type: string, text: string): AttributeValue | undefined {
  if (type === 'string') return text;
  if (type === 'number') {
    const number = text.trim() === '' ? Number.NaN : Number(text);
    return Number.isFinite(number) ? number : undefined;
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Not a default of this type: the platform cannot use it either.
    return undefined;
  }
  if (type === 'boolean') return typeof parsed === 'boolean' ? parsed : undefined;
  const element = type === 'number_array' ? 'number' : 'string';
  const fits = Array.isArray(parsed) && parsed.every((each) => typeof each === element);
  return fits ? (parsed as string[] | number[]) : undefined;
}

/** Groups and effective values: the stored one, else the default of the definition, else none (contract 3.2). */
export function toSecurityContext(
  groups: readonly string[],
  stored: Readonly<Record<string, AttributeValue>>,
  definitions: readonly UserAttribute[],
): SecurityContext {
  const values = definitions.flatMap(({ name, type, defaultValue }): [string, AttributeValue][] => {
    const own = Object.hasOwn(stored, name) ? stored[name] : null;
    const value = own ?? (typeof defaultValue === 'string' ? fromText(type, defaultValue) : undefined);
    return value === undefined || value === null ? [] : [[name, value]];
  });
  return { cubeCloud: { groups: [...groups], userAttributes: Object.fromEntries(values) } };
}

/** Lifetime of a data token: long enough for a query that waits, too short to be of use later. */
const LIFETIME_SECONDS = 300;

/** Signs a token of the deployment's own authentication for one question: HS256 over its API secret (contract 1.1, 5.6). */
export function signDataToken(secret: string, context: SecurityContext, nowMs: number): Promise<string> {
  const issuedAt = Math.floor(nowMs / 1000);
  return new SignJWT({ ...context })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFETIME_SECONDS)
    .sign(new TextEncoder().encode(secret));
}
