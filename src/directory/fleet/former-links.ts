// Reads the links that are kept of a former target, one that the settings of a connection no longer have: which accounts and
// groups are linked there, and whether the connection is linked to them under a new name of the target too. A new name is a target
// in the settings at whose address the accounts of the former target were recognised (outbox/recognition.ts): both are one
// platform.
import type { Redis } from 'ioredis';
import { createKeyspace } from '../keys.ts';
import { readableLink, type Link } from '../outbox/link.ts';
import { linkTexts } from '../outbox/links.ts';
import type { Ref } from '../records.ts';
import { ignoreStoreUnavailable } from '../redis/connection.ts';
import type { Scripts } from '../redis/scripts.ts';
import { toField, type FedTarget, type TargetFeed } from './target-feed.ts';

/** `sizes`: numbers of links as text, at the former target, then under its new names. */
interface LinkCounts {
  /** Number of linked accounts that may be open. */
  accounts: number;
  groups: number;
  sizes: string;
}

export function createFormerLinks(
  { redis, scripts }: { redis: Redis; scripts: Scripts },
  { prefix }: { prefix: string },
) {
  const countsKey = createKeyspace(prefix, 'bridge.fleet').key('removedTargets');

  /** Yields the links at a former target. Undefined: the link is damaged, so its account may be open. */
  async function* linksAt({
    connection,
    target,
  }: TargetFeed): AsyncGenerator<{ ref: Ref; link: Link | undefined }> {
    const ofConnection = createKeyspace(prefix, connection);
    for await (const [ref, text] of linkTexts({ redis, scripts, keys: ofConnection }, target))
      yield { ref, link: readableLink(text) };
  }

  /** Returns the new names of a former target. @param fed the feeds in the settings */
  async function newNames({ connection, target }: TargetFeed, fed: readonly FedTarget[]): Promise<string[]> {
    const addresses = await redis.smembers(createKeyspace(prefix, connection).key('tenant', target));
    return fed.flatMap((each) =>
      each.connection === connection && each.target !== target && addresses.includes(each.address)
        ? [each.target]
        : [],
    );
  }

  /** Returns whether the connection is linked to the account or group of a former target under a new name of this target. */
  async function isLinkedAnew(
    feed: TargetFeed,
    { ref, id }: { ref: Ref; id: string },
    fed: readonly FedTarget[],
  ): Promise<boolean> {
    for (const name of await newNames(feed, fed)) {
      const text = await redis.hget(createKeyspace(prefix, feed.connection).key('links', name), ref);
      if (text !== null && readableLink(text)?.id === id) return true;
    }
    return false;
  }

  /**
   * Returns the counts of a former target. Accounts that the connection is linked to under a new name of the target do not count,
   * because the bridge still writes to them. The links no longer change, so they are counted once after a start (`forgetCounts`),
   * and again only if a number of links differs.
   * @param fed the feeds in the settings
   */
  async function countsOf(feed: TargetFeed, fed: readonly FedTarget[]): Promise<LinkCounts> {
    const names = await newNames(feed, fed);
    const field = toField(feed);
    const ofConnection = createKeyspace(prefix, feed.connection);
    const lengths = [feed.target, ...names].map((name) => redis.hlen(ofConnection.key('links', name)));
    const sizes = (await Promise.all(lengths)).join(' ');
    const text = await redis.hget(countsKey, field);
    const last = text === null ? undefined : (JSON.parse(text) as LinkCounts);
    if (last?.sizes === sizes) return last;
    const counts = { sizes, ...(await countLinks(feed, names)) };
    // A replica, or a full Redis, refuses the write; then the next call counts again.
    await redis.hset(countsKey, field, JSON.stringify(counts)).catch(ignoreStoreUnavailable);
    return counts;
  }

  async function countLinks(feed: TargetFeed, names: readonly string[]): Promise<Omit<LinkCounts, 'sizes'>> {
    const counts = { accounts: 0, groups: 0 };
    const linkedAnew = new Set<string>();
    for (const name of names)
      for await (const { ref, link } of linksAt({ ...feed, target: name }))
        linkedAnew.add(`${ref} ${link?.id ?? ''}`);
    for await (const { ref, link } of linksAt(feed)) {
      if (link && (link.id === undefined || linkedAnew.has(`${ref} ${link.id}`))) continue;
      if (ref.startsWith('Group:')) counts.groups++;
      // An account may be open if its link is damaged, or if the write that closed it was not confirmed.
      else if (link?.core?.active !== false || link.unsure?.includes('active')) counts.accounts++;
    }
    return counts;
  }

  /** Makes the next `countsOf` of each former target count its links again. */
  async function forgetCounts(): Promise<void> {
    await redis.del(countsKey);
  }

  return { linksAt, isLinkedAnew, countsOf, forgetCounts };
}
