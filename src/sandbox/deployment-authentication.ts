// Verifies the tokens of a deployment: API secret, key set or custom function (contract 6.1).
import { isDeepStrictEqual } from 'node:util';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { verifyToken } from './deployment-tokens.ts';
import { isJsonObject, own, requireObject, type SandboxJsonObject } from './json.ts';
import { SandboxProblem } from './problem.ts';

/**
 * Method that resolves a token to a security context. A custom function is data, not code: `tokens` maps opaque
 * tokens to contexts, and other tokens are verified with the API secret. A context with a claim that differs from
 * `require` is refused. Claims named in `drop` are then removed and those of `set` added.
 */
export type AuthenticationMethod =
  | { readonly kind: 'secret' }
  | { readonly kind: 'keySet'; readonly keys: JSONWebKeySet['keys'] }
  | {
      readonly kind: 'custom';
      readonly tokens: Readonly<Record<string, SandboxJsonObject>>;
      readonly require: SandboxJsonObject;
      readonly drop: readonly string[];
      readonly set: SandboxJsonObject;
    };

/** The properties of a deployment that this file reads. */
interface TokenChecker {
  readonly apiSecret: string;
  /** Absent = the API secret. */
  readonly authentication?: AuthenticationMethod;
}

/** Asymmetric algorithms only: a public key must not be accepted as an HMAC secret. */
const KEY_SET_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'];

/** Returns the claims of a token that a key of the set signed and that is valid at `nowMs`; null for any other token. */
async function verifyByKeySet(
  keys: JSONWebKeySet['keys'],
  token: string,
  nowMs: number,
): Promise<SandboxJsonObject | null> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys }), {
      algorithms: KEY_SET_ALGORITHMS,
      currentDate: new Date(nowMs),
    });
    return isJsonObject(payload) ? payload : null;
  } catch {
    return null;
  }
}

async function runCustom(
  checker: TokenChecker,
  method: Extract<AuthenticationMethod, { kind: 'custom' }>,
  token: string,
  nowMs: number,
): Promise<SandboxJsonObject | null> {
  const known = own(method.tokens, token);
  const claims = isJsonObject(known) ? known : await verifyToken(checker, token, nowMs);
  if (!claims) return null;
  // A required claim may be a list or an object.
  const isRefused = Object.entries(method.require).some(
    ([name, value]) => !isDeepStrictEqual(own(claims, name), value),
  );
  if (isRefused) return null;
  const remaining = Object.entries(claims).filter(([name]) => !method.drop.includes(name));
  return { ...Object.fromEntries(remaining), ...method.set };
}

/** Returns the security context that the deployment resolves from a token, or null for a refused token. */
export async function resolveContext(
  checker: TokenChecker,
  token: string,
  nowMs: number,
): Promise<SandboxJsonObject | null> {
  const method = checker.authentication ?? { kind: 'secret' };
  if (method.kind === 'secret') return verifyToken(checker, token, nowMs);
  if (method.kind === 'keySet') return verifyByKeySet(method.keys, token, nowMs);
  return runCustom(checker, method, token, nowMs);
}

/** Parses the authentication method of a fixture. @throws SandboxProblem 400 for any other form */
export function parseMethod(source: SandboxJsonObject): AuthenticationMethod {
  const kind = own(source, 'kind');
  if (kind === 'secret') return { kind };
  if (kind === 'keySet') {
    const keys = own(source, 'keys');
    if (!Array.isArray(keys) || !keys.every(isJsonObject))
      throw new SandboxProblem(400, 'keys must be a list of keys');
    return { kind, keys };
  }
  if (kind !== 'custom')
    throw new SandboxProblem(400, 'authentication kind must be secret, keySet or custom');
  const objectIn = (name: string): SandboxJsonObject => requireObject(own(source, name) ?? {}, name);
  const tokens = Object.entries(objectIn('tokens')).map(([token, context]): [string, SandboxJsonObject] => [
    token,
    requireObject(context, 'every context of tokens'),
  ]);
  const drop = own(source, 'drop') ?? [];
  if (!Array.isArray(drop) || !drop.every((name) => typeof name === 'string'))
    throw new SandboxProblem(400, 'drop must be a list of texts');
  return {
    kind,
    tokens: Object.fromEntries(tokens),
    require: objectIn('require'),
    drop,
    set: objectIn('set'),
  };
}
