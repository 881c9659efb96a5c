// Starts Redis servers: a primary with replicas and sentinels, a cluster, or TLS.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { ServerOptions } from '../../src/directory/redis/redis-options.ts';
import { freePort } from '../../src/demo/local-redis.ts';
import { eventually } from './eventually.ts';

export interface RedisServer {
  port: number;
  /** A connection for the test. */
  client: Redis;
  kill(): Promise<void>;
  /** Suspends the process: connections stay open and nothing answers. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

const SERVER = ['redis-server', 'valkey-server'].find(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
);

interface StartOptions {
  /** Connection options of the test. */
  options?: ServerOptions;
  sentinel?: boolean;
  /** Port of the server; by default a free one. */
  port?: number;
}

/** @param args arguments after `--port` */
export function startRedisServer(args: string[], settings: StartOptions = {}): Promise<RedisServer> {
  const start = (): Promise<RedisServer> => startOnce(args, settings);
  return settings.port === undefined ? untilPortsAreFree(start) : start();
}

class ServerEnded extends Error {}

const REPEATS = 3;

/** Attempts to start a server, because another test may take a port that was free a moment ago. */
async function untilPortsAreFree<T>(start: () => Promise<T>): Promise<T> {
  for (let left = REPEATS; ; left--) {
    try {
      return await start();
    } catch (error) {
      if (left === 0 || !(error instanceof ServerEnded)) throw error;
    }
  }
}

async function startOnce(
  args: string[],
  { options = {}, sentinel = false, port }: StartOptions,
): Promise<RedisServer> {
  if (SERVER === undefined) throw new Error('no redis-server');
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-redis-'));
  const own = port ?? (await freePort());
  const file = join(folder, 'server.conf');
  // Sentinels rewrite their file, so each has its own.
  writeFileSync(file, `port ${options.tls ? 0 : own}\nbind 127.0.0.1\ndir ${folder}\n${args.join('\n')}\n`);
  const child = spawn(SERVER, [file, ...(sentinel ? ['--sentinel'] : [])], { stdio: 'ignore' });
  const last = (): void => void child.kill('SIGKILL');
  process.once('exit', last);
  const client = new Redis({
    host: '127.0.0.1',
    port: own,
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
    ...options,
  });
  client.on('error', () => undefined);
  const answers = eventually('the server answers', async () => (await client.ping()) === 'PONG');
  // The end of the process is awaited too, because without a server the ping would wait for ever.
  const ended = once(child, 'exit').then(([code]) => {
    throw new ServerEnded(`the server ended with ${code}`);
  });
  try {
    await Promise.race([answers, ended]);
  } catch (error) {
    client.disconnect();
    throw error;
  } finally {
    for (const promise of [answers, ended]) promise.catch(() => undefined);
  }
  const end = async (): Promise<void> => {
    await killed(child);
    client.disconnect();
  };
  return {
    port: own,
    client,
    kill: end,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    stop: async () => {
      process.off('exit', last);
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const DURABLE = ['appendonly yes', 'save ""', 'maxmemory-policy noeviction', 'repl-diskless-sync-delay 0'];

export interface SentinelSet {
  /** The Redis URL for the bridge. */
  url: string;
  servers: RedisServer[];
  sentinels: RedisServer[];
  /** Returns the server that sentinels report as the primary. */
  primary(): Promise<RedisServer>;
  stop(): Promise<void>;
}

/**
 * Starts one primary, `replicas` replicas and three sentinels that replace a primary after half a second of silence.
 */
export async function startSentinelSet(replicas = 1): Promise<SentinelSet> {
  const servers = [await startRedisServer(DURABLE)];
  for (let index = 0; index < replicas; index++) {
    servers.push(await startRedisServer([...DURABLE, `replicaof 127.0.0.1 ${servers[0]?.port}`]));
  }
  await eventually('replicas are connected', async () =>
    (await servers[0]?.client.info('replication'))?.includes(`connected_slaves:${replicas}`),
  );
  // Two of the three sentinels have to agree that the primary is gone.
  const watched = [
    `sentinel monitor main 127.0.0.1 ${servers[0]?.port} 2`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 3000',
  ];
  const sentinels = await Promise.all([1, 2, 3].map(() => startRedisServer(watched, { sentinel: true })));
  // A sentinel that does not know the others and the replicas cannot fail over.
  await eventually(
    'sentinels know each other and the replicas',
    async () => {
      const known = await Promise.all(
        sentinels.map(({ client }) => client.call('SENTINEL', 'MASTER', 'main')),
      );
      return known.every((answer) => {
        const fields = Array.isArray(answer) ? answer : Object.entries(answer as object).flat();
        const of = (name: string): number => Number(fields[fields.indexOf(name) + 1]);
        return of('num-other-sentinels') === 2 && of('num-slaves') === replicas;
      });
    },
    20_000,
  );
  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/main`,
    servers,
    sentinels,
    primary: async () => {
      const [, port] = (await sentinels[0]?.client.call(
        'SENTINEL',
        'GET-MASTER-ADDR-BY-NAME',
        'main',
      )) as string[];
      const found = servers.find((server) => server.port === Number(port));
      if (!found) throw new Error(`nobody is at ${port}`);
      return found;
    },
    stop: async () => {
      await Promise.all([...sentinels, ...servers].map((each) => each.stop()));
    },
  };
}

export interface RedisCluster {
  addresses: string[];
  nodes: RedisServer[];
  /** Returns the node that currently stores a key. */
  holderOf(key: string): Promise<RedisServer>;
  stop(): Promise<void>;
}

const SLOTS = 16384;

/** Starts three primaries and, with `replicaOf`, one replica of the primary that stores this key. */
export async function startCluster({ replicaOf }: { replicaOf?: string } = {}): Promise<RedisCluster> {
  const busOf = new Map<number, number>();
  const start = async (): Promise<RedisServer> => {
    // The default bus port, 10,000 higher, may be taken or above the largest port.
    const bus = await freePort();
    const args = ['cluster-enabled yes', `cluster-port ${bus}`, 'cluster-node-timeout 1500'];
    const node = await startRedisServer([...DURABLE, ...args]);
    busOf.set(node.port, bus);
    return node;
  };
  const nodes = await Promise.all(
    Array.from({ length: replicaOf === undefined ? 3 : 4 }, () => untilPortsAreFree(start)),
  );
  const [first] = nodes;
  if (!first) throw new Error('no nodes');
  for (const [index, node] of nodes.slice(0, 3).entries()) {
    const [from, to] = [Math.ceil((index * SLOTS) / 3), Math.ceil(((index + 1) * SLOTS) / 3) - 1];
    await node.client.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
    await node.client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
  }
  for (const node of nodes.slice(1)) {
    await first.client.call('CLUSTER', 'MEET', '127.0.0.1', node.port, busOf.get(node.port) ?? 0);
  }
  const everybody = (what: string, test: (info: string) => boolean) =>
    eventually(
      what,
      async () =>
        (await Promise.all(nodes.map(({ client }) => client.cluster('INFO')))).every((info) =>
          test(String(info)),
        ),
      20_000,
    );
  await everybody('the nodes know each other', (info) =>
    info.includes(`cluster_known_nodes:${nodes.length}`),
  );
  /** Returns the server that stores a key, as this node sees the cluster. */
  const holderSeenBy = async ({ client }: RedisServer, key: string): Promise<RedisServer> => {
    const slot = Number(await client.cluster('KEYSLOT', key));
    const ranges = (await client.cluster('SLOTS')) as unknown as [number, number, [string, number]][];
    const port = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
    const found = nodes.find((node) => node.port === port);
    if (!found) throw new Error(`nobody holds slot ${slot}`);
    return found;
  };
  const [replica] = nodes.slice(3);
  if (replica && replicaOf !== undefined) {
    const primary = await holderSeenBy(first, replicaOf);
    const id = await primary.client.cluster('MYID');
    await eventually('the replica knows its primary', async () => {
      await replica.client.call('CLUSTER', 'REPLICATE', id);
      return true;
    });
    await eventually('the replica follows', async () =>
      /slave0:.*state=online/.test(await primary.client.info('replication')),
    );
  }
  await everybody('the cluster is whole', (info) => info.includes('cluster_state:ok'));
  return {
    addresses: nodes.map(({ port }) => `redis://127.0.0.1:${port}`),
    nodes,
    // The replica is asked, because a test may kill its primary.
    holderOf: (key) => holderSeenBy(replica ?? first, key),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}
