// Stores which targets each connection feeds or has fed. So a target that was removed from the settings stays known while
// accounts are linked there. A full run is a reconcile run that maps and compares every record; `mapped:<t>` has the digest of the
// mapping rules of the last one.
import type { Redis } from 'ioredis';
import { createKeyspace } from '../keys.ts';
import { readableLink, type Link } from '../outbox/link.ts';
import { linkTexts } from '../outbox/links.ts';
import type { Ref } from '../records.ts';
import { ignoreStoreUnavailable } from '../redis/connection.ts';
import type { Scripts } from '../redis/scripts.ts';
import { keysLike } from '../redis/portions.ts';

/** A target and a connection that feeds it. */
export interface TargetFeed {
  connection: string;
  target: string;
}

/** A target in the settings, with the address of its platform. */
export interface FedTarget extends TargetFeed {
  address: string;
}

/** Rules of a target, for a connection that feeds it. */
export interface FeedRules extends TargetFeed {
  /** Digest of the rules by which resources are mapped (`mapped:<t>`). */
  rules: string;
  /** Digest of the other settings that decide about access, such as the limits of the guard. */
  others: string;
}

/** A target that the settings of a connection no longer have, with open accounts that are linked there. */
export interface RemovedTarget extends TargetFeed {
  /** Number of linked accounts that may be open. */
  accounts: number;
  groups: number;
  /** Whether an operator has ordered that these accounts and groups stay as they are. */
  isKept: boolean;
}

/**
 * `fed`: the target is in the settings. `removed`: a process has started with settings without the target. `kept`: removed,
 * and an operator has ordered that its accounts and groups stay.
 */
type FeedState = 'fed' | 'removed' | 'kept';
/** Argument `rules` of note_anew.lua: the next run is a full one in any case. */
const ALWAYS = undefined;
/** The same argument: the next run is a full one if there was a full run before. No rules have this digest. */
const IF_EVER = '';
/** `sizes`: numbers of links as text, at the removed target, then under its new names. */
type LinkCounts = Pick<RemovedTarget, 'accounts' | 'groups'> & { sizes: string };

export type KnownTargets = ReturnType<typeof createKnownTargets>;

export function createKnownTargets(
  { redis, scripts }: { redis: Redis; scripts: Scripts },
  { prefix }: { prefix: string },
) {
  const keys = createKeyspace(prefix, 'bridge.fleet');
  const [knownKey, countsKey] = [keys.key('knownTargets'), keys.key('removedTargets')];
  const readKnown = (): Promise<Record<string, FeedState>> =>
    redis.hgetall(knownKey) as Promise<Record<string, FeedState>>;

  /**
   * Stores at the start of a process which targets its settings feed. Notes that the next reconcile run of a target is a full one,
   * - if the target is back, because pushes left no marks there meanwhile;
   * - if this process has other rules than the last full run;
   * - if the settings of this process lack the target, because its pushes leave no marks there.
   */
  async function note(fed: readonly Omit<FeedRules, 'others'>[]): Promise<void> {
    const known = await readKnown();
    // `knownTargets` may be lost; then the targets with links count as known.
    if (Object.keys(known).length === 0) for await (const field of linkedFeeds()) known[field] = 'fed';
    const fedFields = new Set(fed.map(toField));
    for (const feed of fed) {
      const isBack = (known[toField(feed)] ?? 'fed') !== 'fed';
      await noteAnew(feed, isBack ? ALWAYS : feed.rules, isBack);
    }
    const removed = Object.entries(known).filter(([field]) => !fedFields.has(field));
    for (const [field] of removed) await noteAnew(toFeed(field), IF_EVER);
    const states = [
      ...[...fedFields].map((field): [string, FeedState] => [field, 'fed']),
      ...removed.map(([field, state]): [string, FeedState] => [field, state === 'fed' ? 'removed' : state]),
    ];
    if (states.length > 0) await redis.hset(knownKey, Object.fromEntries(states));
    await redis.del(countsKey);
  }

  /** Notes that the next run is a full one, unless the last full run had these rules. @param rules digest, ALWAYS or IF_EVER */
  async function noteAnew(
    { connection, target }: TargetFeed,
    rules: string | undefined,
    isBack = false,
  ): Promise<void> {
    await scripts.run('note_anew', createKeyspace(prefix, connection).base, { target, rules, isBack });
  }

  /** Yields the field (toField) of each connection and target with links; a field may be repeated. */
  async function* linkedFeeds(): AsyncGenerator<string> {
    for await (const found of keysLike(redis, `${prefix}:{*}:links:*`))
      for (const name of found) {
        const [, connection, target] =
          /^\{([^}]+)\}:links:([^:]+)$/.exec(name.slice(prefix.length + 1)) ?? [];
        if (connection !== undefined && target !== undefined) yield toField({ connection, target });
      }
  }

  /**
   * Stores the targets of restored links. A stored state of a target is not changed.
   * @param kept those of them whose accounts and groups stay by order of an operator (`keep`)
   */
  async function noteLinked(kept: readonly TargetFeed[]): Promise<void> {
    for (const feed of kept) await redis.hsetnx(knownKey, toField(feed), 'kept' satisfies FeedState);
    for await (const field of linkedFeeds()) await redis.hsetnx(knownKey, field, 'fed' satisfies FeedState);
    await redis.del(countsKey);
  }

  /**
   * Returns the removed targets at which open accounts are linked. Accounts that the connection is linked to under a new name of
   * the target do not count, because the bridge still writes to them.
   * @param fed the feeds in the settings
   */
  async function removed(fed: readonly FedTarget[]): Promise<RemovedTarget[]> {
    const found: RemovedTarget[] = [];
    for (const [field, state] of await readFormer(fed)) {
      const feed = toFeed(field);
      // A process with former settings started last, and stored the target as fed.
      if (state === 'fed')
        await redis.hset(knownKey, field, 'removed' satisfies FeedState).catch(ignoreStoreUnavailable);
      const { accounts, groups } = await countsOf(feed, await newNames(feed, fed));
      if (accounts > 0) found.push({ ...feed, accounts, groups, isKept: state === 'kept' });
    }
    return found;
  }

  /**
   * Returns the new names of a former target: targets in the settings at whose address the accounts of the former target were
   * recognised (outbox/recognition.ts). Both are one platform.
   */
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
   * Returns the counts of a removed target. Its links no longer change, so they are counted once after a start, and again
   * only if a number of links differs. @param names new names of the target
   */
  async function countsOf(feed: TargetFeed, names: readonly string[]): Promise<LinkCounts> {
    const field = toField(feed);
    const ofConnection = createKeyspace(prefix, feed.connection);
    const lengths = [feed.target, ...names].map((name) => redis.hlen(ofConnection.key('links', name)));
    const sizes = (await Promise.all(lengths)).join(' ');
    const text = await redis.hget(countsKey, field);
    const last = text === null ? undefined : (JSON.parse(text) as LinkCounts);
    if (last?.sizes === sizes) return last;
    const counts = { sizes, accounts: 0, groups: 0 };
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
    // A replica, or a full Redis, refuses the write; then the next call counts again.
    await redis.hset(countsKey, field, JSON.stringify(counts)).catch(ignoreStoreUnavailable);
    return counts;
  }

  /** Yields the links at a removed target. Undefined: the link is damaged, so its account may be open. */
  async function* linksAt({
    connection,
    target,
  }: TargetFeed): AsyncGenerator<{ ref: Ref; link: Link | undefined }> {
    const ofConnection = createKeyspace(prefix, connection);
    for await (const [ref, text] of linkTexts({ redis, scripts, keys: ofConnection }, target))
      yield { ref, link: readableLink(text) };
  }

  /** Returns the known feeds that are not in the settings. @param fed the feeds in the settings */
  async function readFormer(fed: readonly TargetFeed[]): Promise<[field: string, FeedState][]> {
    const fields = new Set(fed.map(toField));
    return Object.entries(await readKnown()).filter(([field]) => !fields.has(field));
  }

  /** Returns the targets that were fed and that the settings no longer have. @param fed the feeds in the settings */
  async function former(fed: readonly TargetFeed[]): Promise<TargetFeed[]> {
    return (await readFormer(fed)).map(([field]) => toFeed(field));
  }

  /** Returns the former targets (`former`) whose accounts and groups stay by order of an operator. */
  async function kept(fed: readonly TargetFeed[]): Promise<TargetFeed[]> {
    const former = await readFormer(fed);
    return former.flatMap(([field, state]) => (state === 'kept' ? [toFeed(field)] : []));
  }

  /**
   * Stores the order that accounts and groups of a removed target stay; it ends when the target is in the settings
   * again.
   */
  async function keep(feed: TargetFeed): Promise<void> {
    await redis.hset(knownKey, toField(feed), 'kept' satisfies FeedState);
  }

  return { note, noteLinked, removed, isLinkedAnew, former, linksAt, kept, keep };
}

/** Returns the hash field of a feed: `connection target`. Names of connections and targets contain no space. */
const toField = ({ connection, target }: TargetFeed): string => `${connection} ${target}`;

function toFeed(field: string): TargetFeed {
  const [connection = '', target = ''] = field.split(' ');
  return { connection, target };
}
