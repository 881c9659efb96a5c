// Validates the options of a client before its first call.
import { isLoopback } from '../support/loopback.ts';
import { PlatformConfiguration } from './errors.ts';

/** Address of the tenant: `origin` to connect to, `prefix` in front of every path ('' or '/something'). */
export interface TenantAddress {
  origin: string;
  prefix: string;
}

/**
 * Parses the tenant's base address. Throws PlatformConfiguration unless it is https, or plain http to a loopback address with
 * `allowLoopbackHttp` (contract 1.2 rule 1), and for an address with credentials, a query or a fragment. The message does not quote
 * the address, which may contain a password.
 */
export function parseTenantAddress(text: string, allowLoopbackHttp: boolean): TenantAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new PlatformConfiguration('url', 'is not an address');
  if (url.username !== '' || url.password !== '') {
    throw new PlatformConfiguration('url', 'must not hold credentials');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new PlatformConfiguration('url', 'must not have a query or a fragment');
  }
  const plainAllowed = url.protocol === 'http:' && allowLoopbackHttp && isLoopback(url);
  if (url.protocol !== 'https:' && !plainAllowed) {
    throw new PlatformConfiguration(
      'url',
      'must be https; plain http is for loopback addresses with allowLoopbackHttp only',
    );
  }
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

/**
 * Returns the token. @throws PlatformConfiguration when the token is not valid in a header; the message does not
 * quote the token
 */
export function checkToken(option: string, token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new PlatformConfiguration(option, 'must be visible ASCII without blanks, and not empty');
  }
  return token;
}

/** Returns a whole number above zero that fits a timer of Node.js (31 bits). @throws PlatformConfiguration for other values */
export function checkPositive(option: string, value: number): number {
  const most = 2 ** 31 - 1;
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new PlatformConfiguration(option, `must be a whole number from 1 to ${most}`);
  }
  return value;
}
