// A deployment's own check of tokens: API secret, key set or custom function (platform interface, Chat API authentication).
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { verifyToken } from './deployment-tokens.ts';
import { isObject, own, requireObject, type JsonObject } from './json.ts';
import { Problem } from './problem.ts';

/**
 * How tokens become a security context. A custom function is given as data, not as code: `tokens` names opaque
 * tokens and their contexts; any other token is checked with the API secret. Then the claims named in `drop`
 * go away and those of `set` are put in; a claim of `require` that differs refuses the token.
 */
export type AuthenticationMethod =
  | { readonly kind: 'secret' }
  | { readonly kind: 'keySet'; readonly keys: JSONWebKeySet['keys'] }
  | {
      readonly kind: 'custom';
      readonly tokens: Readonly<Record<string, JsonObject>>;
      readonly require: JsonObject;
      readonly drop: readonly string[];
      readonly set: JsonObject;
    };

/** What this module needs of a deployment. */
export interface TokenChecker {
  readonly apiSecret: string;
  /** Absent = the API secret. */
  readonly authentication?: AuthenticationMethod;
}

/** Asymmetric only: a public key must never double as the secret of an HMAC. */
const KEY_SET_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'];

async function verifyByKeySet(
  keys: JSONWebKeySet['keys'],
  token: string,
  nowMs: number,
): Promise<JsonObject | null> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys }), {
      algorithms: KEY_SET_ALGORITHMS,
      currentDate: new Date(nowMs),
    });
    return isObject(payload) ? payload : null;
  } catch {
    return null;
  }
}

async function runCustom(
  checker: TokenChecker,
  method: Extract<AuthenticationMethod, { kind: 'custom' }>,
  token: string,
  nowMs: number,
): Promise<JsonObject | null> {
  const known = own(method.tokens, token);
  const claims = isObject(known) ? known : await verifyToken(checker, token, nowMs);
  if (!claims) return null;
  const isRefused = Object.entries(method.require).some(([name, value]) => own(claims, name) !== value);
  if (isRefused) return null;
  const kept = Object.entries(claims).filter(([name]) => !method.drop.includes(name));
  return { ...Object.fromEntries(kept), ...method.set };
}

/** The security context that the deployment resolves from a token, or null for a token it refuses. */
export async function resolveContext(
  checker: TokenChecker,
  token: string,
  nowMs: number,
): Promise<JsonObject | null> {
  const method = checker.authentication ?? { kind: 'secret' };
  if (method.kind === 'secret') return verifyToken(checker, token, nowMs);
  if (method.kind === 'keySet') return verifyByKeySet(method.keys, token, nowMs);
  return runCustom(checker, method, token, nowMs);
}

/** Reads a method from a fixture; throws Problem 400 for any other form. */
export function parseMethod(source: JsonObject): AuthenticationMethod {
  const kind = own(source, 'kind');
  if (kind === 'secret') return { kind };
  if (kind === 'keySet') {
    const keys = own(source, 'keys');
    if (!Array.isArray(keys) || !keys.every(isObject)) throw new Problem(400, 'keys must be a list of keys');
    return { kind, keys: keys };
  }
  if (kind !== 'custom') throw new Problem(400, 'authentication kind must be secret, keySet or custom');
  const member = (name: string): JsonObject => requireObject(own(source, name) ?? {}, name);
  const tokens = Object.entries(member('tokens')).map(([token, context]): [string, JsonObject] => [
    token,
    requireObject(context, 'every context of tokens'),
  ]);
  const drop = own(source, 'drop') ?? [];
  if (!Array.isArray(drop) || !drop.every((name) => typeof name === 'string'))
    throw new Problem(400, 'drop must be a list of texts');
  return { kind, tokens: Object.fromEntries(tokens), require: member('require'), drop, set: member('set') };
}
