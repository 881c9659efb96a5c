// Exports all data of one connection as lines of a backup (`dump`), and restores them: `clear` deletes what is stored, `load`
// stores one line after another, and `finish` completes the restore. A line has a portion of one key of Redis. Lines of records
// and of the keys that `placeOf` names have a family of their own, because load_archive.lua also restores the data derived from
// them; lines of all other keys have the family `plain`.
import type { Redis } from 'ioredis';
import { archiveRuleOf, isLeftOut, isPartOfLog, logFamiliesOf } from './archive-families.ts';
import { beginWholeRead } from '../logs/whole-read.ts';
import { keysLike, pairsOf, inPortions, scanned, streamPortions } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** One portion of one key. */
export interface ArchiveLine {
  family:
    | 'users'
    | 'groups'
    | 'tombstones'
    | 'order'
    | 'members'
    | 'unresolved'
    | 'links'
    | 'pendingMembers'
    | 'plain';
  /** Id of the group whose members the line has; of the family `order` the kind of the resources, `User` or `Group`. */
  id?: string;
  target?: string;
  /** Only of the family `plain`: the key without the base. */
  key?: string;
  /** Only of the family `plain`: the Redis type of the key. */
  type?: string;
  /** The line repeats resources, because they changed during the backup. */
  again?: true;
  /** Of a hash `[field, value]`, a zset `[member, score]`, a stream `[entry id, fields]`; of other types texts. */
  items: unknown[];
}

/** Number of keys or items in a portion. */
const PORTION = 200;
/** Number of records or links in a portion: fewer than of other data, because one may have half a megabyte. */
const LARGE_PORTION = 25;
/** Matches the keys of records and links. */
const IS_LARGE = /:(users|groups|links:[^:]*)$/;
/** Added to the restored `sequence` (keys.ts), because data that the backup read later than this key may have higher numbers. */
const SEQUENCE_GAP = 1_000_000;
/** Largest expected difference between the clocks of processes. */
const CLOCK_DIFFERENCE_MS = 300_000;
/** Keys that the service writes before anything was pushed. A connection that has only these counts as empty. */
const WITHOUT_DATA =
  /^(hold:|dataSeen$|tenant:|mapped:|run:|runs$|reconcile:|acts|tokens$|tokenUses$|proofTurn$|proofLast$|logChecks$)/;

export function createArchive(deps: StoreDeps) {
  const { redis, scripts, keys } = deps;
  /** Whether there was an audit log before the restore; set by `clear`. */
  let hasActs = false;

  /** Yields all keys of the connection without the base; a key may be repeated. */
  async function* allKeys(): AsyncGenerator<string> {
    for await (const found of keysLike(redis, `${keys.base}*`))
      yield* found.map((each) => each.slice(keys.base.length));
  }

  /**
   * Yields the lines of a backup: records first, because other lines refer to them.
   * @param onUnknown called with each key of an unknown family, which is left out
   */
  async function* dump(onUnknown: (key: string) => void = () => {}): AsyncGenerator<ArchiveLine> {
    const startedAt = Date.now();
    for (const family of ['users', 'groups'] as const)
      for await (const items of portions(redis, keys.key(family), 'hash')) yield { family, items };
    // SCAN may return a key twice, and a list must not be restored twice.
    const reported = new Set<string>();
    for await (const name of allKeys()) {
      const rule = archiveRuleOf(name);
      if (rule === 'leftOut' || reported.has(name) || isPartOfLog(name)) continue;
      reported.add(name);
      if (rule === 'unknown') {
        onUnknown(name);
        continue;
      }
      yield* dumpKey(name);
    }
    // Resources that changed during the backup are written again; the later line counts.
    for (const family of ['users', 'groups'] as const) {
      for await (const items of portions(redis, keys.key(family), 'hash')) {
        const changed = items.filter((item) => modifiedAt(item) >= startedAt - CLOCK_DIFFERENCE_MS);
        if (changed.length > 0) yield { family, again: true, items: changed };
      }
    }
  }

  async function* dumpKey(name: string): AsyncGenerator<ArchiveLine> {
    const log = logFamiliesOf(name);
    if (log) {
      yield* dumpLog(name, log);
      return;
    }
    const key = keys.key(name);
    const type = await redis.type(key);
    const [family = '', ...rest] = name.split(':');
    const place = placeOf(family, rest);
    for await (const items of portions(redis, key, type))
      yield place ? { ...place, items } : { family: 'plain', key: name, type, items };
  }

  /** Dumps a log and its hash chain as they are at the start, without later entries. */
  async function* dumpLog(
    name: string,
    { chain, personal }: { chain: string; personal: string },
  ): AsyncGenerator<ArchiveLine> {
    const key = keys.key(name);
    // No entry of a log is removed before `end` is called.
    const end = await beginWholeRead(deps);
    try {
      const replies = await redis
        .multi()
        .hgetall(keys.key(chain))
        .xrevrange(key, '+', '-', 'COUNT', 1)
        .exec();
      // `ends`: both ends of the hash chain (keys.ts). `last`: id of the newest entry.
      const [ends, [newest]] = (replies ?? []).map(([, reply]) => reply) as [object, [id: string][]];
      const [last] = newest ?? [];
      const hash = { family: 'plain', type: 'hash' } as const;
      if (Object.keys(ends).length > 0) yield { ...hash, key: chain, items: Object.entries(ends) };
      for await (const found of last === undefined ? [] : streamPortions(redis, key, PORTION, last)) {
        const ids = found.map(([id]) => id);
        yield { family: 'plain', key: name, type: 'stream', items: found };
        const texts = await redis.hmget(keys.key(personal), ...ids);
        const items = ids.flatMap((id, index) => (texts[index] ? [[id, texts[index]]] : []));
        if (items.length > 0) yield { ...hash, key: personal, items };
      }
    } finally {
      await end();
    }
  }

  /** Returns whether the connection has no data that a restore would replace. */
  async function isEmpty(): Promise<boolean> {
    for await (const name of allKeys()) if (!WITHOUT_DATA.test(name)) return false;
    return true;
  }

  /**
   * Deletes all data of the connection except holds, `dataSeen`, the audit log and, unless `tokens` is set, inbound tokens.
   * @param options `beforeChange`: called before each change
   */
  async function clear({
    tokens,
    beforeChange = () => undefined,
  }: {
    tokens: boolean;
    beforeChange?: () => void;
  }): Promise<void> {
    const stays = (name: string): boolean =>
      /^(hold:|dataSeen$|acts)/.test(name) || (!tokens && /^(tokens|tokenUses)$/.test(name));
    const names: string[] = [];
    for await (const name of allKeys()) if (!stays(name)) names.push(keys.key(name));
    hasActs = (await redis.exists(keys.key('acts'))) === 1;
    for (const portion of inPortions(names, PORTION)) {
      beforeChange();
      await redis.unlink(...portion);
    }
  }

  /** Restores one valid line. @returns number of restored items, and number of items that were left out */
  async function load(line: ArchiveLine): Promise<{ loaded: number; dropped: number }> {
    // A backup of another release may contain keys that this release leaves out of its backups.
    if (isLeftOut(line.key ?? '')) return { loaded: 0, dropped: 0 };
    // An existing audit log is kept, because its hash chain must not be replaced.
    if (hasActs && /^acts/.test(line.key ?? '')) return { loaded: 0, dropped: 0 };
    const [loaded, dropped] = await scripts.values('load_archive', keys.base, line);
    return { loaded: Number(loaded), dropped: Number(dropped) };
  }

  /**
   * Completes a restore: gives every record a place in the order, and raises the sequence above all used numbers.
   * @param beforeChange called before each change
   */
  async function finish(beforeChange: () => void = () => undefined): Promise<void> {
    beforeChange();
    await redis.incrby(keys.key('sequence'), SEQUENCE_GAP);
    for (const [family, id] of [
      ['users', 'User'],
      ['groups', 'Group'],
    ] as const) {
      for await (const items of portions(redis, keys.key(family), 'hash')) {
        const ids = (items as [id: string, record: string][]).map(([id]) => id);
        beforeChange();
        await scripts.run('load_archive', keys.base, { family: 'withoutOrder', id, items: ids });
      }
    }
  }

  return { dump, isEmpty, clear, load, finish };
}

/** Returns the time of the last change of an item `[id, record]`: the third word of a record (records.ts). */
function modifiedAt(item: unknown): number {
  const [_id, stored = ''] = item as string[];
  const [_version, _created, modified = 0] = stored.split(' ', 3);
  return Number(modified);
}

/**
 * Returns family, id and target of the lines of a key; undefined for a plain key.
 * @param rest parts of the key after the family
 */
function placeOf(family: string, rest: string[]): Omit<ArchiveLine, 'items'> | undefined {
  const [first = '', second = ''] = rest;
  switch (family) {
    case 'tombstones':
      return { family };
    case 'order':
    case 'members':
    case 'unresolved':
      return { family, id: rest.join(':') };
    case 'links':
      return { family, target: first };
    case 'pendingMembers':
      return { family, target: first, id: second };
    default:
      return undefined;
  }
}

/**
 * Yields the content of one key: a hash, a set or a sorted set in portions, so that it is never whole in memory; a string or a list
 * as one portion.
 */
async function* portions(redis: Redis, key: string, type: string): AsyncGenerator<unknown[]> {
  if (type === 'string') {
    const value = await redis.get(key);
    if (value !== null) yield [value];
  } else if (type === 'list') {
    const items = await redis.lrange(key, 0, -1);
    if (items.length > 0) yield items;
  } else if (type === 'hash' || type === 'zset' || type === 'set') {
    const size = IS_LARGE.test(key) ? LARGE_PORTION : PORTION;
    for await (const found of scanned((cursor) => scanOnce(redis, key, type, cursor, size)))
      if (found.length > 0) yield type === 'set' ? found : pairsOf(found);
  }
}

function scanOnce(
  redis: Redis,
  key: string,
  type: 'hash' | 'zset' | 'set',
  cursor: string,
  count: number,
): Promise<[cursor: string, items: string[]]> {
  if (type === 'set') return redis.sscan(key, cursor, 'COUNT', count);
  if (type === 'hash') return redis.hscan(key, cursor, 'COUNT', count);
  return redis.zscan(key, cursor, 'COUNT', count);
}
