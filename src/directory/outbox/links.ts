// Reads the links and reverse links of one connection, and gives each account and group of a target one owner among the connections
// of this target (`createElsewhere`): the connection that saved its link first. A connection claims the account or group right
// before it saves a link. The claim fails while another connection claims or is linked to it; the links of a former connection,
// which the settings do not have any more, give way.
import type { Redis } from 'ioredis';
import { type Link, parseLink, parseReverseLink, readableLink } from './link.ts';
import { isInactive, type Kind, parseRef, parseStored, type Ref } from '../records.ts';
import { pairsOf, scanned } from '../redis/portions.ts';
import type { Scripts, StoreDeps } from '../redis/scripts.ts';
import { OLDER_DATA } from '../guard/operator-hold.ts';
import { createKeyspace, type Keyspace } from '../keys.ts';
import { createProcessLease } from '../redis/lease.ts';

/** COUNT of scans: about so many links are in one reply. */
const SCAN_COUNT = 500;

export type Links = ReturnType<typeof createLinks>;

/** Reads links of one connection. They are written by syncs (work.ts), by orders of operators, and by restores and repairs. */
export function createLinks(deps: StoreDeps & { elsewhere: Elsewhere }) {
  const { redis, keys, elsewhere } = deps;

  /** Returns the links in the order of the refs; an empty link for a resource without one. */
  async function getMany(target: string, refs: Ref[]): Promise<Link[]> {
    if (refs.length === 0) return [];
    return (await redis.hmget(keys.key('links', target), ...refs)).map((text) => parseLink(text ?? ''));
  }

  /** Returns the link of a resource; an empty link if it has none. */
  async function get(target: string, ref: Ref): Promise<Link> {
    return parseLink((await redis.hget(keys.key('links', target), ref)) ?? '');
  }

  /** Returns the resource that is linked to a platform id; undefined when there is none. */
  async function holderOf(target: string, kind: Kind, platformId: string): Promise<Ref | undefined> {
    const text = await redis.hget(keys.key('linked', target), `${kind}:${platformId}`);
    if (text === null) return undefined;
    const { ref } = parseReverseLink(text);
    const link = readableLink((await redis.hget(keys.key('links', target), ref)) ?? '');
    // The reverse link may be out of date, so the link itself is compared. A damaged or lost link may have had this id.
    return link?.id === undefined || link.id === platformId ? ref : undefined;
  }

  /** Returns up to `count` random links of a kind. */
  async function some(target: string, kind: Kind, count: number): Promise<Link[]> {
    // Four times as many are read, because links of the other kind are left out. Fewer than `count` may remain.
    const found = (await redis.hrandfield(keys.key('links', target), 4 * count, 'WITHVALUES')) as string[];
    const ofKind = pairsOf(found).filter(([ref]) => ref.startsWith(`${kind}:`));
    return ofKind.slice(0, count).map(([, text]) => parseLink(text));
  }

  /** Yields every link of a target in any order, with bounded memory. */
  async function* all(target: string): AsyncGenerator<{ ref: Ref; link: Link }> {
    for await (const [ref, text] of linkTexts(deps, target)) yield { ref, link: parseLink(text) };
  }

  return { get, getMany, holderOf, all, elsewhere, some };
}

/** Yields the text of every link, also of a damaged one. */
export async function* linkTexts(
  { redis, keys }: StoreDeps,
  target: string,
): AsyncGenerator<[ref: Ref, text: string]> {
  const links = keys.key('links', target);
  for await (const found of scanned((cursor) => redis.hscan(links, cursor, 'COUNT', SCAN_COUNT)))
    yield* pairsOf(found) as [Ref, string][];
}

/** The resource of another connection that is linked to an account or group. */
export interface Holder {
  connection: string;
  ref: Ref;
  /** Last written userName or displayName. */
  name: string;
  /** Last written externalId. */
  externalId: string | undefined;
  /** Whether its source deactivated or deleted the person. */
  shouldBeClosed: boolean;
  /** Whether the link cannot be read; only the reverse link names the account or group. */
  isDamaged: boolean;
}

/**
 * Duration of a claim, milliseconds: longer than a lease, so that a save that comes after the end of the claim is refused, because
 * its lease has expired.
 */
const CLAIM_MS = 20_000;

export type Elsewhere = ReturnType<typeof createElsewhere>;

export function createElsewhere(
  { redis, scripts }: { redis: Redis; scripts: Scripts },
  options: {
    prefix: string;
    connection: string;
    /** Returns the other connections that the settings sync to the target. */
    othersOf: (target: string) => readonly string[];
    /** Returns the connections that were synced to the target, and that the settings no longer have there. */
    formerOf: (target: string) => Promise<readonly string[]>;
    /**
     * True when no process syncs this former connection to the target any more; during an update a process with the former settings
     * may still do so.
     */
    hasLeft: (former: string, target: string) => Promise<boolean>;
    /** Returns whether Redis, or a node of its cluster, came back empty (`emptied` of keys.ts). */
    isEmptied: () => Promise<boolean>;
  },
) {
  const { prefix, connection, othersOf, formerOf, hasLeft, isEmptied } = options;

  /**
   * Claims an account or group right before its link is saved, and removes the links of former connections to it. `claimed`: no
   * other connection is linked to it, and none can save a link before the claim expires. `busy` and a holder: as `reserve`.
   * @param isNew whether the account or group was just created, so that no former connection can be linked to it
   */
  async function claim(
    target: string,
    ref: Ref,
    account: { kind: Kind; platformId: string; isNew: boolean },
  ): Promise<Holder | 'claimed' | 'busy'> {
    const reserved = await reserve(target, ref, account);
    if (!Array.isArray(reserved)) return reserved;
    await giveWay(target, account.platformId, reserved);
    return 'claimed';
  }

  /**
   * Claims an account or group, and removes no link. `busy`: another resource has a claim, or a process with other settings
   * syncs the resource of a former connection, or may do so. A holder: another connection is linked.
   * @returns the resources of former connections whose links give way to the link that is saved next
   */
  async function reserve(
    target: string,
    ref: Ref,
    { kind, platformId, isNew }: { kind: Kind; platformId: string; isNew: boolean },
  ): Promise<Holder[] | Holder | 'busy'> {
    const formerConnections = isNew ? [] : await formerOf(target);
    if (othersOf(target).length === 0 && formerConnections.length === 0) return [];
    // Connections of one target may be on different cluster nodes, so each first claims the platform id under a key of the target,
    // then checks the links of the others, and saves its own.
    const deps = { redis, scripts, keys: createKeyspace(prefix, `target.${target}`) };
    const platformClaim = createProcessLease(deps, `claim:${target}:${kind}:${platformId}`);
    const isClaimed = await platformClaim.lead(`${connection} ${ref}`, CLAIM_MS);
    const holder = await holderOf(target, kind, platformId);
    if (holder || !isClaimed) return holder ?? 'busy';
    const givingWay: Holder[] = [];
    for (const name of formerConnections) {
      const formerHolder = await holderAmong([name], target, kind, platformId);
      if (!formerHolder) continue;
      const lease = createKeyspace(prefix, name).key('lease', `${target}:${formerHolder.ref}`);
      if (!(await hasLeft(name, target)) || (await redis.exists(lease)) === 1) return 'busy';
      // A damaged link stays, because it may be of another account.
      if (!formerHolder.isDamaged) givingWay.push(formerHolder);
    }
    return givingWay;
  }

  /**
   * Removes the links of former connections to an account or group: such a connection, if it comes back, must not write to
   * the account of another owner.
   */
  async function giveWay(target: string, platformId: string, holders: readonly Holder[]): Promise<void> {
    for (const { connection: former, ref } of holders) {
      const { base } = createKeyspace(prefix, former);
      await scripts.run('forget_link', base, { target, targets: [target], ref, platformId });
    }
  }

  /** Returns the resource of another connection that is linked to the account or group; undefined when there is none. */
  const holderOf = (target: string, kind: Kind, platformId: string): Promise<Holder | undefined> =>
    holderAmong(othersOf(target), target, kind, platformId);

  /**
   * Returns whether other connections may have lost links to the target, so that `holderOf` may miss one: Redis came back empty, or
   * a hold of the target says that it came back with older data. The connections of a target may be on different nodes of a
   * cluster.
   */
  async function mayLackLinks(target: string): Promise<boolean> {
    const holds = await Promise.all(
      othersOf(target).map((other) => redis.get(createKeyspace(prefix, other).key('hold', target))),
    );
    return holds.some((hold) => hold?.includes(OLDER_DATA)) || isEmptied();
  }

  /** Returns the resource of the first of these connections that is linked to the account or group. */
  async function holderAmong(
    connections: readonly string[],
    target: string,
    kind: Kind,
    platformId: string,
  ): Promise<Holder | undefined> {
    for (const other of connections) {
      const keys = createKeyspace(prefix, other);
      const text = await redis.hget(keys.key('linked', target), `${kind}:${platformId}`);
      if (text === null) continue;
      const { ref } = parseReverseLink(text);
      const link = readableLink((await redis.hget(keys.key('links', target), ref)) ?? '');
      // The reverse link may be out of date, so the link itself is compared. A damaged link may have this id.
      if (link && link.id !== platformId) continue;
      const { core } = link ?? {};
      const name = String(core?.userName ?? core?.displayName ?? ref);
      const { externalId } = core ?? {};
      return {
        connection: other,
        ref,
        name,
        externalId: externalId ? String(externalId) : undefined,
        shouldBeClosed: await shouldBeClosed(keys, ref),
        isDamaged: link === undefined,
      };
    }
    return undefined;
  }

  /** Returns whether the source deactivated or deleted a person; false if the record is lost or damaged. */
  async function shouldBeClosed(keys: Keyspace, ref: Ref): Promise<boolean> {
    const { kind, id } = parseRef(ref);
    if (kind !== 'User') return false;
    const stored = await redis.hget(keys.key('users'), id);
    if (stored === null) return (await redis.hexists(keys.key('tombstones'), id)) === 1;
    return isInactive(parseStored(id, stored));
  }

  return { holderOf, mayLackLinks, claim, reserve, giveWay };
}
