// Calls the OpenID Connect provider: reads its discovery document, builds the address to sign in at, and exchanges the code
// for a person (OpenID Connect Core 1.0, section 3.1; PKCE: RFC 7636).
import * as openid from 'openid-client';
import { readAnswerAtMost } from '../../../support/limits.ts';
import type { Clock } from '../../../support/sources.ts';
import { MAX_NAME_LENGTH, MAX_NAMES } from './rights.ts';

interface ProviderSettings {
  issuer: string;
  clientId: string;
  /** Null for a public client, which uses PKCE without a secret. */
  clientSecret: string | null;
  /** OAuth scopes that are asked for. */
  scopes: readonly string[];
  /** Claims of the ID token with the person's name and with the names of roles or groups. */
  nameClaim: string;
  rolesClaim: string;
  /** Whether a provider on this machine may be called by http://. */
  allowLoopbackHttp: boolean;
}

/** A sign-in that has begun. Only the browser that began it has these values, so no other browser can complete it. */
export interface PendingSignIn {
  /** Value that the provider sends back with the code (RFC 6749 §10.12). */
  state: string;
  /** Value that the ID token has to contain. */
  nonce: string;
  /** Secret of PKCE, whose hash the provider got at the beginning. */
  verifier: string;
}

interface ProviderPerson {
  name: string;
  /** Unique id of the person: issuer and subject. */
  person: string;
  /** Names of roles or groups. */
  names: string[];
}

/** A sign-in did not succeed. */
export class SignInRefused extends Error {
  override name = 'SignInRefused';
  /** `unreachable`: the provider does not answer; `refused`: it refused the sign-in; `unnamed`: the ID token has no usable name. */
  readonly reason: 'unreachable' | 'refused' | 'unnamed';
  constructor(reason: SignInRefused['reason'], cause?: unknown) {
    super(`sign-in: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** Longest time of a call to the provider. */
const TIMEOUT_SECONDS = 5;
/** Largest answer of the provider. */
const MAX_BYTES = 512 * 1024;
/** Time after which the discovery document is read again. */
const FRESH_MS = 3_600_000;

export type Provider = ReturnType<typeof createProvider>;

/** @param redirect address to which the provider sends the browser back */
export function createProvider(deps: { clock: Clock }, settings: ProviderSettings, redirect: string) {
  let known: { config: openid.Configuration; secret: string | null; readAt: number } | undefined;

  async function configuration(): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret, allowLoopbackHttp } = settings;
    // A changed secret, such as one from a rotated file, needs a new configuration.
    if (known && known.secret === clientSecret && deps.clock.now() - known.readAt < FRESH_MS)
      return known.config;
    // By default the library does not check the signature of an ID token that comes by TLS from the provider itself.
    const execute = [openid.enableNonRepudiationChecks];
    // The settings allow http:// for loopback addresses only (address-checks.ts).
    if (allowLoopbackHttp) execute.push(openid.allowInsecureRequests);
    const config = await openid.discovery(
      new URL(issuer),
      clientId,
      // No metadata of the client: the next argument says how it authenticates.
      undefined,
      clientSecret === null ? openid.None() : bySecret(clientSecret),
      {
        timeout: TIMEOUT_SECONDS,
        execute,
        [openid.customFetch]: fetchBounded,
      },
    );
    known = { config, secret: clientSecret, readAt: deps.clock.now() };
    return config;
  }

  /** Returns the address of the provider and the values that the browser has to keep. @throws SignInRefused */
  async function begin(): Promise<{ address: URL; pending: PendingSignIn }> {
    const config = await configuration().catch(refuse('unreachable'));
    const pending = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
    };
    const address = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirect,
      scope: settings.scopes.join(' '),
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
    });
    return { address, pending };
  }

  /**
   * Exchanges the code for the person who signed in.
   * @param answer the address to which the provider sent the browser, with its parameters
   * @throws SignInRefused
   */
  async function finish(answer: URL, pending: PendingSignIn): Promise<ProviderPerson> {
    const config = await configuration().catch(refuse('unreachable'));
    const tokens = await openid
      .authorizationCodeGrant(config, answer, {
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        pkceCodeVerifier: pending.verifier,
        idTokenExpected: true,
      })
      .catch(refuse('refused'));
    const claims = tokens.claims();
    const name = claims?.[settings.nameClaim];
    if (!claims || typeof name !== 'string' || name === '' || name.length > MAX_NAME_LENGTH)
      throw new SignInRefused('unnamed');
    return { name, person: `${claims.iss} ${claims.sub}`, names: namesIn(claims[settings.rolesClaim]) };
  }

  return { begin, finish };
}

/**
 * Sends the client secret in the body when the provider supports it, else by HTTP Basic, the default of OpenID Connect
 * Discovery.
 */
function bySecret(secret: string): openid.ClientAuth {
  const inBody = openid.ClientSecretPost(secret);
  const inHeader = openid.ClientSecretBasic(secret);
  return (server, client, body, headers) => {
    const supported = server.token_endpoint_auth_methods_supported ?? [];
    const authenticate = supported.includes('client_secret_post') ? inBody : inHeader;
    authenticate(server, client, body, headers);
  };
}

function namesIn(claim: unknown): string[] {
  const values = Array.isArray(claim) ? claim : [claim];
  return values.filter((value) => typeof value === 'string').slice(0, MAX_NAMES);
}

/** Returns an error handler that throws SignInRefused with the error as its cause. */
const refuse =
  (reason: SignInRefused['reason']) =>
  (error: unknown): never => {
    throw new SignInRefused(reason, error);
  };

/** Like `fetch`, but refuses answers beyond MAX_BYTES and does not follow redirects, whose target may not use https. */
const fetchBounded: openid.CustomFetch = async (address, options) => {
  const answer = await fetch(address, { ...(options as RequestInit), redirect: 'manual' });
  const { bytes, isWhole } = await readAnswerAtMost(answer, MAX_BYTES);
  if (!isWhole) throw new Error(`the provider answered more than ${MAX_BYTES} bytes`);
  // A status such as 204 allows no body, not even an empty one.
  return new Response(bytes.length === 0 ? null : bytes, { status: answer.status, headers: answer.headers });
};
