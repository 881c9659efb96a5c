// Parses Redis addresses of the settings: one server, a primary behind sentinels, or a node of a cluster.

interface HostPort {
  host: string;
  port: number;
}

export interface RedisAddress {
  /** One server, or the sentinels of a sentinel address. */
  hosts: HostPort[];
  tls: boolean;
  username: string | undefined;
  password: string | undefined;
  db: number;
  /** Set for a sentinel address; `name` is the name of the primary. */
  sentinel: { name: string; username: string | undefined; password: string | undefined } | undefined;
}

const FORM = /^(rediss?)(\+sentinel)?:\/\/(?:([^/?#]*)@)?([^/?#@]+)(\/[^?#]*)?(?:\?([^#]*))?$/;
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/;
const DB = /^\d{1,5}$/;
const SENTINEL_QUERY = ['sentinelUsername', 'sentinelPassword'];
/** Name of the primary in the default settings of Sentinel. */
const USUAL_PRIMARY = 'mymaster';

/**
 * Parses `redis[s]://[user:password@]host[:port][/db]` or
 * `redis[s]+sentinel://[user:password@]host[:port],...[/name[/db]][?sentinelUsername=&sentinelPassword=]`; `rediss` means TLS.
 * @returns the parts, or a sentence that describes the fault. It does not quote the address, which may contain a password
 */
export function parseRedisAddress(text: string): RedisAddress | string {
  const [, scheme, sentinel, userinfo = '', authority = '', path = '', query = ''] = FORM.exec(text) ?? [];
  if (scheme === undefined) {
    return 'Not an address of Redis. Write redis://host:6379, rediss://host:6379 or redis+sentinel://host:26379,host:26379/name, special characters of a password %-encoded.';
  }
  const hosts = authority.split(',').map((host) => toHost(host, sentinel ? 26379 : 6379));
  if (!hosts.every((host) => host !== undefined)) {
    return 'A host of the address cannot be read. Write host:port, an IPv6 address in brackets.';
  }
  if (!sentinel && hosts.length > 1) {
    return 'More than one host: write redis+sentinel:// for sentinels, or use redis.cluster for a cluster.';
  }
  // URLSearchParams reads `+` as a space, unlike the part with user and password.
  const options = new URLSearchParams(query.replaceAll('+', '%2B'));
  const strange = [...options.keys()].find((name) => !sentinel || !SENTINEL_QUERY.includes(name));
  if (strange !== undefined)
    return 'Remove everything from ? on: the address has options that are not supported.';
  const places = path.split('/').filter((place) => place !== '');
  const db = DB.test(places.at(-1) ?? '') ? Number(places.pop()) : 0;
  const name = sentinel ? places.shift() : undefined;
  if (places.length > 0)
    return 'Remove the path of the address. Only the number of a database is supported there.';
  try {
    const colon = userinfo.indexOf(':');
    const [user, password] =
      colon < 0 ? [userinfo, ''] : [userinfo.slice(0, colon), userinfo.slice(colon + 1)];
    return {
      hosts,
      tls: scheme === 'rediss',
      username: decodeURIComponent(user) || undefined,
      password: decodeURIComponent(password) || undefined,
      db,
      sentinel: sentinel
        ? {
            name: decodeURIComponent(name ?? USUAL_PRIMARY),
            username: options.get('sentinelUsername') || undefined,
            password: options.get('sentinelPassword') || undefined,
          }
        : undefined,
    };
  } catch {
    return 'A % in the address is not followed by two hexadecimal digits: write it as %25.';
  }
}

function toHost(text: string, usualPort: number): HostPort | undefined {
  const [, host, port = String(usualPort)] = HOST.exec(text) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65535) return undefined;
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
