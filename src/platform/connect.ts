// The wire to one tenant, made from checked options: the base of the bridge's client and of the whole one.
import { systemClock, type Clock } from '../support/clock.ts';
import { createRedactor, type RedactText } from './redact.ts';
import type { PlatformCall } from './request.ts';
import { checkPositive, checkToken, parseTenantAddress } from './settings.ts';
import type { TransportOptions } from './transport.ts';

export interface PlatformClientOptions {
  /** Tenant base address: https, or plain http to a loopback address with `allowLoopbackHttp`. */
  url: string;
  /** Platform API key, sent as Bearer; a function is asked at every call, so that the key may change. */
  token: string | (() => string);
  /** Token for SCIM; default `token`. */
  scimToken?: string | (() => string);
  allowLoopbackHttp?: boolean;
  /** For one whole request including the body of the answer, milliseconds; default 15,000. */
  timeoutMs?: number;
  /** Most connections at the same time; default 8. */
  connections?: number;
  /** Awaited before every request, outside its timeout: the shared rate budget. What it throws goes through. */
  admit?: (signal?: AbortSignal) => Promise<void>;
  /** Told of every finished request; must not throw. */
  onCall?: (call: PlatformCall) => void;
  /** Default: the system's clock. */
  clock?: Clock;
}

/**
 * What a transport to the tenant needs. Throws PlatformConfiguration when the address is not https (or allowed
 * loopback), holds credentials, or when a token or a number cannot be used.
 */
export function toTransportOptions(options: PlatformClientOptions): TransportOptions {
  const address = parseTenantAddress(options.url, options.allowLoopbackHttp ?? false);
  const credentials = createCredentials(options);
  return {
    address,
    authorize: (family) => credentials.headers(family === 'scim' ? 'scim' : 'rest'),
    timeoutMs: checkPositive('timeoutMs', options.timeoutMs ?? 15_000),
    connections: checkPositive('connections', options.connections ?? 8),
    redact: credentials.redact,
    clock: options.clock ?? systemClock,
    admit: options.admit,
    onCall: options.onCall,
  };
}

const valueOf = (token: string | (() => string)): string => (typeof token === 'string' ? token : token());

/** The headers of the keys as they are now, and a redactor of all keys so far: an old one may still be valid. */
function createCredentials({ token, scimToken = token }: PlatformClientOptions): {
  headers: (family: 'rest' | 'scim') => { authorization: string };
  redact: RedactText;
} {
  const seen = new Set<string>();
  let cut: RedactText = (text) => text;
  const hold = (option: 'token' | 'scimToken', given: string | (() => string)) => {
    let held: string | undefined;
    let headers = { authorization: '' };
    return () => {
      const now = valueOf(given);
      if (now !== held) {
        held = checkToken(option, now);
        headers = { authorization: `Bearer ${held}` };
        cut = createRedactor([...seen.add(held)]);
      }
      return headers;
    };
  };
  const families = { rest: hold('token', token), scim: hold('scimToken', scimToken) };
  // A key that can not be used is found out before any call.
  families.rest();
  families.scim();
  return { headers: (family) => families[family](), redact: (text) => cut(text) };
}
