// Reads and writes a cookie of the sign-in (draft-ietf-httpbis-rfc6265bis).
import type { IncomingMessage } from 'node:http';

/** Longest value that is read. */
const MAX_LENGTH = 1024;

export interface Cookie {
  read(request: IncomingMessage): string | undefined;
  /** Header line that stores the value. @param maxAgeSeconds undefined = until the browser ends */
  store(value: string, maxAgeSeconds?: number): string;
  /** Header line that removes it. */
  remove(): string;
}

/**
 * @param options.secure false where the page is reached by plain HTTP on this machine. Else the prefix `__Host-` binds
 * the cookie to this host and to TLS, so that no other host of the domain can set it.
 * @param options.sameSite `Lax`: the browser also sends the cookie when the identity provider redirects back. `Strict`: only
 * with requests from this site.
 */
export function createCookie(
  name: string,
  { secure, sameSite }: { secure: boolean; sameSite: 'Strict' | 'Lax' },
): Cookie {
  const fullName = secure ? `__Host-${name}` : name;
  const line = (value: string, more: string): string =>
    `${fullName}=${value}; Path=/; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}${more}`;
  return {
    read(request) {
      for (const pair of (request.headers.cookie ?? '').split(';')) {
        const [key = '', value = ''] = pair.trim().split('=', 2);
        if (key === fullName && value !== '' && value.length <= MAX_LENGTH) return value;
      }
      return undefined;
    },
    store: (value, maxAgeSeconds) =>
      line(value, maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`),
    remove: () => line('', '; Max-Age=0'),
  };
}
