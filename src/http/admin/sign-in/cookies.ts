// Reads a cookie of the sign-in, and builds the headers that set and remove it (draft-ietf-httpbis-rfc6265bis).
import type { IncomingMessage } from 'node:http';

/** Longest value that is read, in characters. The values that the bridge sets are far shorter, so a longer one is of no use. */
const MAX_LENGTH = 1024;

export type Cookie = ReturnType<typeof createCookie>;

/**
 * Creates the functions that read, set and remove one cookie.
 * @param options.secure true for a page that is reached by HTTPS: the prefix `__Host-` binds the cookie to this host and to
 * TLS, so that no other host of the domain can set it. False for plain HTTP on this machine.
 * @param options.sameSite `Strict`: the browser sends the cookie only with requests from this site. `Lax`: also when the
 * identity provider redirects back.
 */
export function createCookie(
  name: string,
  { secure, sameSite }: { secure: boolean; sameSite: 'Strict' | 'Lax' },
) {
  const fullName = secure ? `__Host-${name}` : name;
  const line = (value: string, more: string): string =>
    `${fullName}=${value}; Path=/; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}${more}`;
  return {
    /** Returns the value of the cookie in a request; undefined when it is absent, empty or too long. */
    read(request: IncomingMessage): string | undefined {
      for (const pair of (request.headers.cookie ?? '').split(';')) {
        const [key = '', value = ''] = pair.trim().split('=', 2);
        if (key === fullName && value !== '' && value.length <= MAX_LENGTH) return value;
      }
      return undefined;
    },
    /** Returns the value of Set-Cookie that stores the cookie. @param maxAgeSeconds undefined = until the browser is closed */
    store: (value: string, maxAgeSeconds?: number): string =>
      line(value, maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`),
    /** Returns the value of Set-Cookie that removes the cookie. */
    remove: (): string => line('', '; Max-Age=0'),
  };
}
