// Stores which targets each connection feeds or has fed, so that a target stays known after it was removed from the settings while
// accounts are linked there (former-links.ts). Each feed (target-feed.ts) has a state: `fed`, `removed`, or `kept` by order of an
// operator. `note` stores the states at the start of a process, and notes which targets need a full run: a reconcile run that maps
// and compares every record. `mapped:<t>` has the digest of the mapping rules of the last full run.
import type { Redis } from 'ioredis';
import { createKeyspace } from '../keys.ts';
import { ignoreStoreUnavailable } from '../redis/connection.ts';
import type { Scripts } from '../redis/scripts.ts';
import { keysLike } from '../redis/portions.ts';
import { isFedByNone } from './announced-rules.ts';
import { createFleetStore, runningOf } from './fleet-store.ts';
import { createFormerLinks } from './former-links.ts';
import { toFeed, toField, type FedTarget, type FeedRules, type TargetFeed } from './target-feed.ts';

export type { FedTarget, FeedRules, TargetFeed } from './target-feed.ts';

/** A target that the settings of a connection no longer have, with open accounts that are linked there. */
export interface RemovedTarget extends TargetFeed {
  /** Number of linked accounts that may be open. */
  accounts: number;
  groups: number;
  /** Whether an operator has ordered that these accounts and groups stay as they are. */
  isKept: boolean;
  /**
   * Whether a running process feeds the target, or does not announce which targets it feeds (`isFedByNone`). The settings of a
   * command, or of a process during an update, may lack a target that other processes still feed.
   */
  isFed: boolean;
}

/**
 * `fed`: the target is in the settings. `removed`: a process has started with settings without the target. `kept`: removed,
 * and an operator has ordered that its accounts and groups stay.
 */
type FeedState = 'fed' | 'removed' | 'kept';
/** Argument `rules` of note_anew.lua: the next run is a full one in any case. */
const ALWAYS = undefined;
/** Argument `rules` of note_anew.lua: the next run is a full one if there was a full run before. No rules have this digest. */
const IF_EVER = '';

export type KnownTargets = ReturnType<typeof createKnownTargets>;

export function createKnownTargets(
  { redis, scripts }: { redis: Redis; scripts: Scripts },
  { prefix }: { prefix: string },
) {
  const keys = createKeyspace(prefix, 'bridge.fleet');
  const knownKey = keys.key('knownTargets');
  const fleet = createFleetStore({ redis, scripts }, { prefix });
  const { linksAt, isLinkedAnew, countsOf, forgetCounts } = createFormerLinks({ redis, scripts }, { prefix });
  const readKnown = (): Promise<Record<string, FeedState>> =>
    redis.hgetall(knownKey) as Promise<Record<string, FeedState>>;

  /**
   * Stores at the start of a process which targets its settings feed. Notes that the next reconcile run of a target is a full one,
   * - if the target came back into the settings, because pushes left no marks there meanwhile;
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
    await forgetCounts();
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
   * @param kept targets whose accounts and groups stay by order of an operator (`keep`)
   */
  async function noteLinked(kept: readonly TargetFeed[]): Promise<void> {
    for (const feed of kept) await redis.hsetnx(knownKey, toField(feed), 'kept' satisfies FeedState);
    for await (const field of linkedFeeds()) await redis.hsetnx(knownKey, field, 'fed' satisfies FeedState);
    await forgetCounts();
  }

  /**
   * Returns the removed targets at which open accounts are linked.
   * @param fed the feeds in the settings
   */
  async function removed(fed: readonly FedTarget[]): Promise<RemovedTarget[]> {
    const found: RemovedTarget[] = [];
    const left = await readFormer(fed);
    const running = left.length > 0 ? runningOf(await fleet.read()) : [];
    for (const [field, state] of left) {
      const feed = toFeed(field);
      const hasLeft = isFedByNone(running, feed);
      // A process with former settings started last, stored the target as fed, and has stopped.
      if (state === 'fed' && hasLeft)
        await redis.hset(knownKey, field, 'removed' satisfies FeedState).catch(ignoreStoreUnavailable);
      const isFed = running.length > 0 && !hasLeft;
      const { accounts, groups } = await countsOf(feed, fed);
      if (accounts > 0) found.push({ ...feed, accounts, groups, isKept: state === 'kept', isFed });
    }
    return found;
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
