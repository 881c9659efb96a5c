// Checks the options of a client and builds its transport to one tenant.
import { systemClock, type Clock } from '../support/sources.ts';
import { createRedactor, type RedactText } from './redact.ts';
import type { PlatformCall } from './request.ts';
import { checkPositive, checkToken, parseTenantAddress } from './settings.ts';
import type { CallGate, TransportOptions } from './transport.ts';

export interface PlatformClientOptions {
  /** Base address of the tenant: https, or plain http to a loopback address with `allowLoopbackHttp`. */
  url: string;
  /** Platform API key, sent as Bearer. A function is called at every request, so that the key may change. */
  token: string | (() => string);
  /** Token for SCIM; default `token`. */
  scimToken?: string | (() => string);
  allowLoopbackHttp?: boolean;
  /** Time for one request including the body of the answer, milliseconds; default 15,000. */
  timeoutMs?: number;
  /** Largest number of connections; default 8. */
  connections?: number;
  /**
   * Awaited before every request, outside its timeout, after the wait for `gate`: the budget of calls per second, which several
   * processes may share. Its errors are passed to the caller.
   */
  admit?: (signal?: AbortSignal) => Promise<void>;
  /**
   * Runs every call, at once or after a wait: limits the calls of this process that are under way at the same time. Default: every
   * call runs at once.
   */
  gate?: CallGate;
  /** Called right before every request is sent, after all waits; must not throw. */
  onStart?: () => void;
  /** Called after every finished request; must not throw. */
  onCall?: (call: PlatformCall) => void;
  /** Default: the system clock. */
  clock?: Clock;
}

/**
 * Returns the options of a transport to the tenant. Throws PlatformConfiguration when the address is not https
 * (or allowed loopback) or contains credentials, a query or a fragment, or when a token or a number is invalid.
 */
export function toTransportOptions(options: PlatformClientOptions): TransportOptions {
  const address = parseTenantAddress(options.url, options.allowLoopbackHttp ?? false);
  const credentials = createCredentials(options);
  return {
    address,
    // All families but scim use the REST key.
    authorize: (family) => credentials.headers(family === 'scim' ? 'scim' : 'rest'),
    timeoutMs: checkPositive('timeoutMs', options.timeoutMs ?? 15_000),
    connections: checkPositive('connections', options.connections ?? 8),
    redact: credentials.redact,
    clock: options.clock ?? systemClock,
    admit: options.admit,
    gate: options.gate,
    onStart: options.onStart,
    onCall: options.onCall,
  };
}

/** Returns the headers of the current keys, and a redactor for all keys used so far, because an old key may still be valid. */
function createCredentials({ token, scimToken = token }: PlatformClientOptions): {
  headers: (family: 'rest' | 'scim') => { authorization: string };
  redact: RedactText;
} {
  const usedKeys = new Set<string>();
  let redact: RedactText = (text) => text;
  const headersOf = (option: 'token' | 'scimToken', source: string | (() => string)) => {
    let known: { key: string; headers: { authorization: string } } | undefined;
    return () => {
      const key = typeof source === 'string' ? source : source();
      if (known?.key !== key) {
        known = { key: checkToken(option, key), headers: { authorization: `Bearer ${key}` } };
        usedKeys.add(key);
        redact = createRedactor([...usedKeys]);
      }
      return known.headers;
    };
  };
  const families = { rest: headersOf('token', token), scim: headersOf('scimToken', scimToken) };
  // Builds the headers of both families now, so that an invalid key throws here and not at the first call.
  families.rest();
  families.scim();
  return { headers: (family) => families[family](), redact: (text) => redact(text) };
}
