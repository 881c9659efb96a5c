// From settings to what the Redis client takes: one server, a primary found through sentinels, or a cluster; TLS.
import { readFileSync } from 'node:fs';
import type { ClusterNode, RedisOptions } from 'ioredis';
import { parseRedisAddress, type RedisAddress } from '../../support/redis-address.ts';

export interface RedisSettings {
  /** See support/redis-address.ts. */
  url: string;
  /** Addresses of cluster nodes; they count instead of `url`. */
  cluster?: string[] | null;
  tls?: RedisTls;
}

/** Files in PEM form; null = the authorities of Node.js, no certificate of our own, the name in the address. */
export interface RedisTls {
  caFile: string | null;
  certFile: string | null;
  keyFile: string | null;
  serverName: string | null;
}

/** Replies come in the form that is the client's default. */
export type ServerOptions = Omit<RedisOptions, 'replyMapping'>;

export type RedisPlace = { kind: 'server'; options: ServerOptions } | ClusterPlace;

export interface ClusterPlace {
  kind: 'cluster';
  nodes: Exclude<ClusterNode, string | number>[];
  options: ServerOptions;
  tls: boolean;
}

/** Sentinels that are gone are asked again this often whether there was a failover. */
const SENTINEL_RETRY_MS = 5000;
/** A sentinel that hangs must not hold up the next one. */
const SENTINEL_ANSWER_MS = 2000;

/** @throws Error when an address cannot be read, which check-config would have told */
export function placeOf({ url, cluster, tls }: RedisSettings): RedisPlace {
  if (cluster && cluster.length > 0) {
    const addresses = cluster.map(parsed);
    const [first] = addresses;
    if (!first) throw new Error('redis.cluster is empty');
    const nodes = addresses.flatMap(({ hosts }) => hosts);
    // Nodes that are found later are given the credentials of the first.
    return {
      kind: 'cluster',
      nodes,
      options: { ...credentials(first), ...secured(first, tls) },
      tls: first.tls,
    };
  }
  const address = parsed(url);
  const common = { ...credentials(address), db: address.db, ...secured(address, tls) };
  const { sentinel } = address;
  if (!sentinel) return { kind: 'server', options: { ...address.hosts[0], ...common } };
  const { name, username, password } = sentinel;
  return {
    kind: 'server',
    options: {
      ...common,
      sentinels: address.hosts,
      name,
      role: 'master',
      ...(username ? { sentinelUsername: username } : {}),
      ...(password ? { sentinelPassword: password } : {}),
      ...(common.tls ? { sentinelTLS: common.tls, enableTLSForSentinelMode: true } : {}),
      sentinelCommandTimeout: SENTINEL_ANSWER_MS,
      // A primary that hangs or is cut off closes no connection: sentinels tell that it was replaced.
      failoverDetector: true,
      sentinelReconnectStrategy: () => SENTINEL_RETRY_MS,
    },
  };
}

function parsed(text: string): RedisAddress {
  const address = parseRedisAddress(text);
  if (typeof address === 'string') throw new Error(address);
  return address;
}

const credentials = ({ username, password }: RedisAddress): ServerOptions => ({
  ...(username === undefined ? {} : { username }),
  ...(password === undefined ? {} : { password }),
});

function secured({ tls }: RedisAddress, files: RedisTls | undefined): Pick<ServerOptions, 'tls'> {
  return tls ? { tls: tlsOptions(files) } : {};
}

/** Files are read at every new connection, so that certificates can be renewed while the service runs. */
function tlsOptions(files: RedisTls | undefined): NonNullable<ServerOptions['tls']> {
  const { caFile = null, certFile = null, keyFile = null, serverName = null } = files ?? {};
  const options: NonNullable<ServerOptions['tls']> = serverName === null ? {} : { servername: serverName };
  for (const [name, file] of [
    ['ca', caFile],
    ['cert', certFile],
    ['key', keyFile],
  ] as const) {
    if (file === null) continue;
    let last = readFileSync(file, 'utf8');
    Object.defineProperty(options, name, {
      enumerable: true,
      get: () => {
        try {
          last = readFileSync(file, 'utf8');
        } catch {
          // It is being replaced: what was there before still opens the connection, or the server says why not.
        }
        return last;
      },
    });
  }
  return options;
}
