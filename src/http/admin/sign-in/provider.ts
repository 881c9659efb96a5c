// Speaks with the OpenID Connect provider: discovery, the address to sign in at, and the exchange of the code
// (OpenID Connect Core 1.0, section 3.1; PKCE: RFC 7636).
import * as openid from 'openid-client';
import type { Clock } from '../../../support/sources.ts';

export interface ProviderSettings {
  issuer: string;
  clientId: string;
  /** null = a public client, which proves itself by PKCE alone. */
  clientSecret: string | null;
  scopes: readonly string[];
  nameClaim: string;
  rolesClaim: string;
  allowLoopbackHttp: boolean;
}

/** A started sign-in. The browser that began it keeps these values, so that no other browser can complete it. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
}

/** A person as the ID token names them. */
export interface ProviderPerson {
  name: string;
  /** Issuer and subject. */
  person: string;
  /** Names of roles or groups. */
  names: string[];
}

export interface Provider {
  /** Returns the address of the provider and the values that the browser has to keep. @throws SignInRefused */
  begin(): Promise<{ address: URL; pending: PendingSignIn }>;
  /** @param answer the address with the parameters to which the provider sent the browser. @throws SignInRefused */
  finish(answer: URL, pending: PendingSignIn): Promise<ProviderPerson>;
}

/** Why a sign-in did not succeed: `unreachable`: the provider; `refused`: by the provider; `unnamed`: no name claim. */
export class SignInRefused extends Error {
  override name = 'SignInRefused';
  readonly reason: 'unreachable' | 'refused' | 'unnamed';
  constructor(reason: SignInRefused['reason'], cause?: unknown) {
    super(`sign-in: ${reason}`, { cause });
    this.reason = reason;
  }
}

const TIMEOUT_SECONDS = 5;
const MAX_BYTES = 512 * 1024;
/** A discovery document is read again after this time. */
const FRESH_MS = 3_600_000;
const MAX_NAMES = 2000;
const MAX_NAME_LENGTH = 200;

export function createProvider(
  deps: { clock: Clock },
  settings: ProviderSettings,
  redirect: string,
): Provider {
  let known: { config: openid.Configuration; secret: string | null; readAt: number } | undefined;

  async function configuration(): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret, allowLoopbackHttp } = settings;
    // The secret may come from a file that was rotated.
    if (known && known.secret === clientSecret && deps.clock.now() - known.readAt < FRESH_MS)
      return known.config;
    const config = await openid.discovery(
      new URL(issuer),
      clientId,
      undefined,
      clientSecret === null ? openid.None() : bySecret(clientSecret),
      {
        timeout: TIMEOUT_SECONDS,
        // The settings allow http:// for loopback addresses only (sign-in-checks.ts).
        // The signature of the ID token is checked too, although it comes by TLS from the provider itself.
        execute: [
          openid.enableNonRepudiationChecks,
          ...(allowLoopbackHttp ? [openid.allowInsecureRequests] : []),
        ],
        [openid.customFetch]: fetchBounded,
      },
    );
    known = { config, secret: clientSecret, readAt: deps.clock.now() };
    return config;
  }

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

/** Sends the secret in a way that the provider supports; the default of OpenID Connect Discovery is `basic`. */
function bySecret(secret: string): openid.ClientAuth {
  const [inBody, inHeader] = [openid.ClientSecretPost(secret), openid.ClientSecretBasic(secret)];
  return (server, client, body, headers) => {
    const known = server.token_endpoint_auth_methods_supported ?? [];
    (known.includes('client_secret_post') ? inBody : inHeader)(server, client, body, headers);
  };
}

function namesIn(claim: unknown): string[] {
  const values = Array.isArray(claim) ? claim : [claim];
  return values.filter((value) => typeof value === 'string').slice(0, MAX_NAMES);
}

const refuse =
  (reason: SignInRefused['reason']) =>
  (error: unknown): never => {
    throw new SignInRefused(reason, error);
  };

/** fetch whose answer has a largest size; redirects are refused, because their target may not use https. */
const fetchBounded: openid.CustomFetch = async (address, options) => {
  const answer = await fetch(address, { ...(options as RequestInit), redirect: 'manual' });
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length;
    // The throw cancels the rest of the body.
    if (size > MAX_BYTES) throw new Error(`the provider answered more than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  const body = size === 0 ? null : Buffer.concat(pieces);
  return new Response(body, { status: answer.status, headers: answer.headers });
};
