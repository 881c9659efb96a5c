// Authenticates SCIM requests: checks the network, then the bearer token or the JWT of the connection's issuer.
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { forbidden, tooManyRequests, unavailable, type ScimError } from '../../scim/index.ts';
import type { Bucket } from '../../support/limits.ts';
import type { Clock } from '../../support/sources.ts';
import type { ConnectionCredentials } from '../../tokens/credentials.ts';
import { isJwtShaped } from '../../tokens/jwt.ts';
import { hasTokenPrefix } from '../../tokens/secret.ts';
import { wrongToken, type BadCredentials } from './bad-credentials.ts';
import { isWithin, toNetworks, type ClientAddress } from './client-address.ts';

interface AuthenticateDeps {
  clock: Clock;
  credentials: ConnectionCredentials;
  clientAddress: ClientAddress;
  badCredentials: BadCredentials;
}

export interface AuthenticateOptions {
  /** CIDR list; empty = every network. */
  allowedNetworks: readonly string[];
}

const RETRY_AFTER_SECONDS = 5;
/** Property of a request with the subject of its JWT. */
const SUBJECT = Symbol('subject');

interface WithSubject {
  [SUBJECT]?: string;
}

/** Returns the subject of the request's JWT; `''` when the JWT has none, undefined without a JWT. */
export const subjectOf = (request: IncomingMessage): string | undefined => (request as WithSubject)[SUBJECT];

/**
 * Returns the middleware. Neither the time nor the length of its answer depends on a secret.
 * @throws ScimError 403 for a network that is not allowed, 401 or 429 for a wrong token, 429 beyond the rate limit, 503 for
 * a token that cannot be checked
 */
export function createAuthenticate(deps: AuthenticateDeps, options: AuthenticateOptions): RequestHandler {
  const { clock, clientAddress } = deps;
  const { keyring, jwt } = deps.credentials;
  const networks = toNetworks(options.allowedNetworks);

  return (request, response, next) => {
    if (networks && !isWithin(networks, clientAddress(request))) {
      throw forbidden('This address is not in allowedNetworks of the connection.');
    }
    const presented = tokenOf(request.headers.authorization);
    const now = clock.now();
    const token = keyring.find(presented, now);
    if (token) {
      token.lastUsedAt = now;
      takeFrom(token.budget, now);
      next();
      return;
    }
    // 401 makes an identity provider stop provisioning. A created token (`hasTokenPrefix`) cannot be checked before the tokens in
    // Redis were read; until then such a token gets 503, so that the provider retries.
    if (!keyring.isComplete && hasTokenPrefix(presented)) throw undecided();
    if (!jwt || !isJwtShaped(presented)) throw wrongToken(deps, response, presented, now);
    jwt.verifier
      .verify(presented)
      .then((verdict) => {
        if (verdict.kind === 'undecided') throw undecided();
        if (verdict.kind === 'refused') throw wrongToken(deps, response, presented, now);
        takeFrom(jwt.budget, now);
        (request as WithSubject)[SUBJECT] = verdict.subject;
      })
      .then(() => next(), next);
  };
}

const undecided = (): ScimError =>
  unavailable('Tokens cannot be checked at the moment: retry later.', RETRY_AFTER_SECONDS);

/** Takes one request from the rate limit. @throws 429 when the limit is reached */
function takeFrom(budget: Bucket, now: number): void {
  const waitMs = budget.take(now);
  if (waitMs > 0)
    throw tooManyRequests('More requests than rateLimit of the connection allows.', waitMs / 1000);
}

/** Returns the token of the header. Okta's header authentication sends the token without the scheme `Bearer`. */
function tokenOf(header: string | undefined): string {
  const value = (header ?? '').trim();
  return /^bearer\s/i.test(value) ? value.slice('bearer '.length).trim() : value;
}
