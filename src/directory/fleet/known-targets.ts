// Stores which targets each connection feeds or has fed, so that a target that leaves the settings is known as long as accounts
// stay there.
import type { Redis } from 'ioredis';
import { createKeyspace } from '../keys.ts';
import { allLinks } from '../outbox/links.ts';
import { RETURNED } from '../outbox/runs.ts';
import { isStoreUnavailable } from '../redis/connection.ts';
import { primariesOf } from '../redis/store-health.ts';

/** A target and a connection that feeds it. */
export interface TargetFeed {
  connection: string;
  target: string;
}

/** A target that the settings of a connection no longer have, with open accounts that are linked there. */
export interface RemovedTarget extends TargetFeed {
  /** Number of linked accounts that may be open. */
  accounts: number;
  /** Number of linked groups. */
  groups: number;
  /** Whether an operator has said that they are to stay. */
  isKept: boolean;
}

/** `removed`: a process has started without it since. `kept`: the same, and an operator has said that it is meant. */
type FeedState = 'fed' | 'removed' | 'kept';
type LinkCounts = Pick<RemovedTarget, 'accounts' | 'groups'> & { links: number };

export type KnownTargets = ReturnType<typeof createKnownTargets>;

export function createKnownTargets({ redis }: { redis: Redis }, { prefix }: { prefix: string }) {
  const keys = createKeyspace(prefix, 'bridge.fleet');
  const [knownKey, countsKey] = [keys.key('knownTargets'), keys.key('removedTargets')];
  const readKnown = (): Promise<Record<string, FeedState>> =>
    redis.hgetall(knownKey) as Promise<Record<string, FeedState>>;

  /**
   * Notes at the start of a process what its settings feed. The changes of a connection since a target left the settings have no
   * marks there, so the first reconcile of a target that is back compares every resource.
   */
  async function note(fed: readonly TargetFeed[]): Promise<void> {
    const known = await readKnown();
    // A release that notes no targets may have written links.
    if (Object.keys(known).length === 0) for await (const each of linkedFeeds()) known[each] = 'fed';
    const names = new Set(fed.map(toField));
    for (const { connection, target } of fed)
      if ((known[toField({ connection, target })] ?? 'fed') !== 'fed')
        await redis.set(createKeyspace(prefix, connection).key('mapped', target), RETURNED);
    const removed = Object.entries(known).filter(([name]) => !names.has(name));
    const states = [
      ...[...names].map((name): [string, FeedState] => [name, 'fed']),
      ...removed.map(([name, state]): [string, FeedState] => [name, state === 'fed' ? 'removed' : state]),
    ];
    if (states.length > 0) await redis.hset(knownKey, Object.fromEntries(states));
    await redis.del(countsKey);
  }

  /** Yields the fields of all connections and targets with links; a field may be repeated. */
  async function* linkedFeeds(): AsyncGenerator<string> {
    for (const node of primariesOf(redis)) {
      let cursor = '0';
      do {
        const [next, found] = await node.scan(cursor, 'MATCH', `${prefix}:{*}:links:*`, 'COUNT', 1000);
        cursor = next;
        for (const name of found) {
          const [, connection, target] =
            /^\{([^}]+)\}:links:([^:]+)$/.exec(name.slice(prefix.length + 1)) ?? [];
          if (connection !== undefined && target !== undefined) yield toField({ connection, target });
        }
      } while (cursor !== '0');
    }
  }

  /** Notes the targets of links that a restore brought. */
  async function noteLinked(): Promise<void> {
    for await (const field of linkedFeeds()) await redis.hsetnx(knownKey, field, 'fed' satisfies FeedState);
    await redis.del(countsKey);
  }

  /** Returns the removed targets at which open accounts are linked. @param fed those that the settings have */
  async function removed(fed: readonly TargetFeed[]): Promise<RemovedTarget[]> {
    const names = new Set(fed.map(toField));
    const known = Object.entries(await readKnown()).filter(([name]) => !names.has(name));
    const found: RemovedTarget[] = [];
    for (const [name, state] of known) {
      const feed = toFeed(name);
      // A process with former settings that started last has noted it as fed.
      if (state === 'fed') await ifWritable(redis.hset(knownKey, name, 'removed' satisfies FeedState));
      const { accounts, groups } = await countsOf(feed);
      if (accounts > 0) found.push({ ...feed, accounts, groups, isKept: state === 'kept' });
    }
    return found;
  }

  /** Nothing changes the links of a removed target, so they are counted once after a start, and again if their number differs. */
  async function countsOf(feed: TargetFeed): Promise<LinkCounts> {
    const field = toField(feed);
    const own = createKeyspace(prefix, feed.connection);
    const [links, text] = await Promise.all([
      redis.hlen(own.key('links', feed.target)),
      redis.hget(countsKey, field),
    ]);
    const last = text === null ? undefined : (JSON.parse(text) as LinkCounts);
    if (last?.links === links) return last;
    const counts = { links, accounts: 0, groups: 0 };
    for await (const { ref, link } of allLinks({ redis, keys: own }, feed.target)) {
      if (link.id === undefined) continue;
      if (ref.startsWith('Group:')) counts.groups++;
      else if (link.core?.active !== false || link.unsure?.includes('active')) counts.accounts++;
    }
    await ifWritable(redis.hset(countsKey, field, JSON.stringify(counts)));
    return counts;
  }

  /** Returns the targets that a connection has fed and that its settings no longer have. @param targets those that they have */
  async function former(connection: string, targets: readonly string[]): Promise<string[]> {
    const feeds = Object.keys(await readKnown()).map(toFeed);
    return feeds.flatMap((feed) =>
      feed.connection === connection && !targets.includes(feed.target) ? [feed.target] : [],
    );
  }

  /** Notes that what is linked at a removed target is to stay there, until the target is in the settings again. */
  async function keep(feed: TargetFeed): Promise<void> {
    await redis.hset(knownKey, toField(feed), 'kept' satisfies FeedState);
  }

  return { note, noteLinked, removed, former, keep };
}

/** Names of connections and targets have no blank. */
const toField = ({ connection, target }: TargetFeed): string => `${connection} ${target}`;

function toFeed(field: string): TargetFeed {
  const [connection = '', target = ''] = field.split(' ');
  return { connection, target };
}

/** A replica, or a full Redis, takes no writes; the next read writes again. */
async function ifWritable(write: Promise<unknown>): Promise<void> {
  await write.catch((error: unknown) => {
    if (!isStoreUnavailable(error)) throw error;
  });
}
