// The wire to one tenant, made from checked options: the base of the bridge's client and of the whole one.
import { systemClock, type Clock } from '../support/clock.ts';
import { createRedactor } from './redact.ts';
import type { PlatformCall } from './request.ts';
import { checkPositive, checkToken, parseTenantAddress } from './settings.ts';
import type { TransportOptions } from './transport.ts';

export interface PlatformClientOptions {
  /** Tenant base address: https, or plain http to a loopback address with `allowLoopbackHttp`. */
  url: string;
  /** Platform API key, sent as Bearer. */
  token: string;
  /** Token for SCIM; default `token`. */
  scimToken?: string;
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
  const rest = checkToken('token', options.token);
  const scim = options.scimToken === undefined ? rest : checkToken('scimToken', options.scimToken);
  const bearer = { rest: { authorization: `Bearer ${rest}` }, scim: { authorization: `Bearer ${scim}` } };
  return {
    address,
    authorize: (family) => bearer[family === 'scim' ? 'scim' : 'rest'],
    timeoutMs: checkPositive('timeoutMs', options.timeoutMs ?? 15_000),
    connections: checkPositive('connections', options.connections ?? 8),
    redact: createRedactor([rest, scim]),
    clock: options.clock ?? systemClock,
    admit: options.admit,
    onCall: options.onCall,
  };
}
