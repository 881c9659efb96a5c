// Converts the Redis settings to options of ioredis: one server, sentinels or a cluster, with or without TLS.
import { readFileSync } from 'node:fs';
import type { ClusterNode, RedisOptions } from 'ioredis';
import { parseRedisAddress, type RedisAddress } from '../../support/redis-address.ts';

export interface RedisSettings {
  /** redis://, rediss:// or redis+sentinel:// (support/redis-address.ts). */
  url: string;
  /** Addresses of cluster nodes, used instead of `url`. */
  cluster?: string[] | null;
  tls?: RedisTls;
}

/** TLS settings; the files are PEM files. */
interface RedisTls {
  /** null: the default authorities of Node.js. */
  caFile: string | null;
  /** Certificate and key of the client; null: no client certificate. */
  certFile: string | null;
  keyFile: string | null;
  /** Host name that the certificate of Redis must have; null: the host of the address. */
  serverName: string | null;
}

/** Options of ioredis without `replyMapping`, so that replies have their default form. */
export type ServerOptions = Omit<RedisOptions, 'replyMapping'>;

type RedisPlace = { kind: 'server'; options: ServerOptions } | ClusterPlace;

export interface ClusterPlace {
  kind: 'cluster';
  nodes: Exclude<ClusterNode, string | number>[];
  options: ServerOptions;
  /** Whether `options` have TLS: the certificates name hosts, so host names are then not resolved to addresses. */
  tls: boolean;
}

/** Interval at which unreachable sentinels are asked again. */
const SENTINEL_RETRY_MS = 5000;
/** Longest wait for one sentinel. */
const SENTINEL_ANSWER_MS = 2000;

/**
 * Returns server or cluster, with the options of ioredis.
 * @throws Error for an invalid address, which check-config reports earlier, and for a TLS file that cannot be read
 */
export function placeOf({ url, cluster, tls }: RedisSettings): RedisPlace {
  if (cluster && cluster.length > 0) {
    const addresses = cluster.map(parsed);
    const [first] = addresses;
    if (!first) throw new Error('redis.cluster is empty');
    const nodes = addresses.flatMap(({ hosts }) => hosts);
    // All nodes of a cluster get the credentials of the first address.
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
      // The client learns of a new primary from the sentinels, because an old primary that hangs does not close its connections.
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

/** Reads the TLS files at every new connection, so that certificates can be renewed at run time. */
function tlsOptions(files: RedisTls | undefined): NonNullable<ServerOptions['tls']> {
  const { caFile = null, certFile = null, keyFile = null, serverName = null } = files ?? {};
  const options: NonNullable<ServerOptions['tls']> = serverName === null ? {} : { servername: serverName };
  for (const [name, file] of [
    ['ca', caFile],
    ['cert', certFile],
    ['key', keyFile],
  ] as const) {
    if (file === null) continue;
    // A file that is missing at the start is an error.
    let last = readFileSync(file, 'utf8');
    Object.defineProperty(options, name, {
      enumerable: true,
      get: () => {
        try {
          last = readFileSync(file, 'utf8');
        } catch {
          // The file may be in the middle of a replacement; then the previous content is used.
        }
        return last;
      },
    });
  }
  return options;
}
