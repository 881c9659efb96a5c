// Stores the guard's counts of a target and its held changes until an operator decides (ADR 0011). Each script decides
// atomically, so that two workers cannot both take the last place.
import type { Redis } from 'ioredis';
import {
  allowanceOf,
  DESTRUCTIVE_KINDS,
  populationOf,
  type DestructiveKind,
  type GuardCount,
  type GuardSettings,
  type Population,
} from '../../guard/judge.ts';
import type { Keyspace } from '../keys.ts';
import type { Ref } from '../records.ts';
import type { Scripts } from '../redis/scripts.ts';

/** One destructive write. `subject`: the removed member (a user's id), or the cleared attribute. */
export interface Destruction {
  kind: DestructiveKind;
  ref: Ref;
  subject?: string;
}

export type Permission = 'allowed' | 'held' | 'rejected';

/** Decision about the removal of a member: see guard_leavers.lua. */
export type MemberDecision = 'stays' | 'follows' | 'waits';

export interface GuardCounts {
  population: Population;
  kinds: Record<DestructiveKind, GuardCount & { approved: number; rejected: number }>;
}

/** The currently held changes. */
export interface HeldChanges {
  /** Id of exactly this list; changes that are held later are not part of it. */
  id: string;
  openedAt: number;
  expiresAt: number;
  items: PlacedItem[];
}

/** `place`: position in the list of held changes; an approval covers all positions up to one. */
export type PlacedItem = Destruction & { place: number };

/** A decision of an operator; the newest fifty are kept. */
export interface Decision {
  id: string;
  action: 'approve' | 'reject' | 'withdraw';
  at: number;
  by: string;
  kinds: Record<DestructiveKind, number>;
  /** The decided changes, at most a thousand. */
  items: Destruction[];
}

export type Decided = { kind: 'decided'; items: number } | { kind: 'expired' } | { kind: 'unknown' };

/** An operator's hold of a target. */
export interface Hold {
  since: number;
  by: string;
  note?: string;
}

/** Time after which held changes are judged again, and approvals of unwritten changes expire. */
const EXPIRY_MS = 72 * 3_600_000;

export type GuardStore = ReturnType<typeof createGuardStore>;

export function createGuardStore(
  deps: { redis: Redis; scripts: Scripts; keys: Keyspace },
  options: { target: string },
) {
  const { redis, scripts, keys } = deps;
  const { target } = options;
  const common = { target, targets: [target], kinds: DESTRUCTIVE_KINDS, expiryMs: EXPIRY_MS };
  const sets = (family: string, kind: DestructiveKind): string => keys.key(family, `${target}:${kind}`);

  async function counts(windowMs: number): Promise<GuardCounts> {
    const reply = await scripts.run('guard_counts', keys.base, { ...common, windowMs });
    const [users, groups, memberships] = reply.slice(1, 4).map(Number);
    const kinds = DESTRUCTIVE_KINDS.map((kind, index) => {
      const [used = 0, waiting = 0, held = 0, approved = 0, rejected = 0] = reply[4 + index] as number[];
      return [kind, { used, waiting, held, approved, rejected }] as const;
    });
    return {
      population: { users: users ?? 0, groups: groups ?? 0, memberships: memberships ?? 0 },
      kinds: Object.fromEntries(kinds) as GuardCounts['kinds'],
    };
  }

  /** Asks for destructive writes; `whole`: all are allowed or none. Others are held. Returns permissions in the same order. */
  async function take(
    items: Destruction[],
    settings: GuardSettings,
    { whole = false } = {},
  ): Promise<Permission[]> {
    if (items.length === 0) return [];
    const { windowMs } = settings;
    const { population, kinds } = await counts(windowMs);
    const allowances = Object.fromEntries(
      DESTRUCTIVE_KINDS.map((kind) => {
        const wanted = items.filter((item) => item.kind === kind).length;
        return [kind, allowanceOf(settings[kind], populationOf(kind, population, kinds[kind], wanted))];
      }),
    );
    return run(items, { allowances, windowMs, whole });
  }

  /** Holds the changes of a plan that exceed the limit, before any of them is marked. */
  async function holdAll(items: Destruction[], windowMs: number): Promise<Permission[]> {
    const allowances = Object.fromEntries(DESTRUCTIVE_KINDS.map((kind) => [kind, -1]));
    return items.length === 0 ? [] : run(items, { allowances, windowMs });
  }

  /** Holds one change regardless of counts and approvals, for example the deactivation of the last administrator. */
  async function holdBack(item: Destruction, windowMs: number): Promise<Permission> {
    const allowances = Object.fromEntries(DESTRUCTIVE_KINDS.map((kind) => [kind, -1]));
    const [permission = 'held'] = await run([item], { allowances, windowMs, always: true });
    return permission;
  }

  /** Returns users with a pending or recent deactivation; some may be active again. */
  async function leavers(): Promise<Ref[]> {
    const found = await Promise.all([
      redis.smembers(keys.key('guardWaiting', target)),
      redis.zrange(sets('guardHeld', 'deactivate'), '0', '-1'),
      redis.zrange(sets('guardUsed', 'deactivate'), '0', '-1'),
      redis.zrange(sets('guardApproved', 'deactivate'), '0', '-1'),
    ]);
    return [...new Set(found.flat())] as Ref[];
  }

  async function run(items: Destruction[], args: object): Promise<Permission[]> {
    const wire = items.map(({ kind, ref, subject }) => [kind, ref, subject ?? '']);
    const [, verdicts] = await scripts.run('guard_take', keys.base, { ...common, ...args, items: wire });
    return verdicts as Permission[];
  }

  /** Returns the decisions about the removal of users from a group. */
  async function decisionsOfMembers(users: string[]): Promise<MemberDecision[]> {
    if (users.length === 0) return [];
    const [, found] = await scripts.run('guard_leavers', keys.base, { ...common, users });
    return found as MemberDecision[];
  }

  /**
   * Called at the end of a complete sync. `wanted`: changes that were refused. All other items of the ref were applied or
   * reverted by the source, so their approvals and holds are removed.
   * @returns number of removed items
   */
  async function settle(ref: Ref, wanted: Destruction[]): Promise<number> {
    const wire = wanted.map(({ kind, subject }) => [kind, subject ?? '']);
    const [, dropped] = await scripts.run('guard_settle', keys.base, { ...common, ref, wanted: wire });
    return Number(dropped);
  }

  async function areIn(family: string, items: Destruction[]): Promise<boolean[]> {
    const places = await Promise.all(
      items.map(({ kind, ref, subject }) =>
        redis.zscore(sets(family, kind), subject === undefined ? ref : `${ref} ${subject}`),
      ),
    );
    return places.map((place) => place !== null);
  }

  /** Returns for each change whether it is held. */
  const areHeld = (items: Destruction[]): Promise<boolean[]> => areIn('guardHeld', items);

  /** Returns for each change whether an operator rejected it. */
  const areRejected = (items: Destruction[]): Promise<boolean[]> => areIn('guardRejected', items);

  /** Returns for each change whether it was rejected or is held; undefined: neither, or its approval has expired. */
  async function verdictsOn(items: Destruction[]): Promise<('rejected' | 'held' | undefined)[]> {
    if (items.length === 0) return [];
    const [rejected, held, expires, [seconds = 0]] = await Promise.all([
      areRejected(items),
      areHeld(items),
      redis.hget(keys.key('guardApproval', target), 'expires'),
      redis.time(),
    ]);
    const isOpen = Number(expires ?? 0) > Number(seconds) * 1000;
    return items.map((_, index) =>
      rejected[index] ? 'rejected' : isOpen && held[index] ? 'held' : undefined,
    );
  }

  const idOf = (serial: number, last: number): string => `${target}.${serial}-${last}`;

  /** Returns the resources with held changes, including expired ones. */
  async function heldRefs(): Promise<Ref[]> {
    const found = await Promise.all(
      DESTRUCTIVE_KINDS.map((kind) => redis.zrange(sets('guardHeld', kind), '0', '-1')),
    );
    const refs = found.flatMap((texts, index) =>
      texts.map((text) => parseItem(DESTRUCTIVE_KINDS[index] ?? 'deactivate', text).ref),
    );
    return [...new Set(refs)];
  }

  /** Returns all held changes; undefined when there are none. */
  async function open(): Promise<HeldChanges | undefined> {
    const [approval, ...itemsByKind] = await Promise.all([
      redis.hgetall(keys.key('guardApproval', target)),
      ...DESTRUCTIVE_KINDS.map((kind) => redis.zrange(sets('guardHeld', kind), '0', '-1', 'WITHSCORES')),
    ]);
    const serial = Number(approval.serial ?? 0);
    const placed = itemsByKind.flatMap((found, index) => {
      const kind = DESTRUCTIVE_KINDS[index] ?? 'deactivate';
      return inPairs(found).map(([text, place]) => ({ ...parseItem(kind, text), place: Number(place) }));
    });
    // Items of an expired approval are left out, because they are judged again soon.
    const current = placed.filter(({ place }) => place > serial).sort((a, b) => a.place - b.place);
    if (approval.serial === undefined || current.length === 0) return undefined;
    return {
      id: idOf(serial, current.at(-1)?.place ?? serial),
      openedAt: Number(approval.opened),
      expiresAt: Number(approval.expires),
      items: current,
    };
  }

  /** Newest first. */
  async function decisions(): Promise<Decision[]> {
    const found = await redis.lrange(keys.key('guardDecisions', target), 0, -1);
    return found.map((text) => {
      const { serial, upTo, items, ...rest } = JSON.parse(text) as Omit<Decision, 'id' | 'items'> & {
        serial: number;
        upTo?: number;
        items: string[];
      };
      const parsed = items.map((item) => {
        const blank = item.indexOf(' ');
        return parseItem(item.slice(0, blank) as DestructiveKind, item.slice(blank + 1));
      });
      return { ...rest, id: idOf(serial, upTo ?? serial), items: parsed };
    });
  }

  /** @param id as listed: `<target>.<serial>-<last place>`; without the last place all that is held now */
  async function decide(
    action: Decision['action'],
    id: string,
    by: string,
    { refs, act }: { refs?: readonly string[] | undefined; act?: object } = {},
  ): Promise<Decided> {
    const [, name, serial, upTo] = /^(.+)[.](\d+)(?:-(\d+))?$/.exec(id) ?? [];
    if (name !== target) return { kind: 'unknown' };
    const args = {
      ...{ ...common, action, by, serial: Number(serial), request: `approval:${id}`, act },
      ...(upTo === undefined ? {} : { upTo: Number(upTo) }),
      ...(refs === undefined ? {} : { refs }),
    };
    const [tag, decided] = await scripts.run('guard_decide', keys.base, args);
    if (tag !== 'decided') return { kind: tag as 'expired' | 'unknown' };
    return { kind: 'decided', items: (decided as number[]).reduce((sum, each) => sum + each, 0) };
  }

  /** Holds the target; running syncs stop before their next step. @returns false when it was already held */
  async function hold(by: string, note?: string): Promise<boolean> {
    return (await scripts.run('hold', keys.base, { ...common, by, note }))[0] === 'held';
  }

  /** Ends the hold of an operator. @returns false when there was none */
  async function release(): Promise<boolean> {
    const released = (await redis.del(keys.key('hold', target))) === 1;
    if (released) await redis.publish(keys.key('marked'), target);
    return released;
  }

  async function onHold(): Promise<Hold | undefined> {
    const text = await redis.get(keys.key('hold', target));
    return text === null ? undefined : (JSON.parse(text) as Hold);
  }

  return {
    counts,
    take,
    holdAll,
    holdBack,
    leavers,
    decisionsOfMembers,
    settle,
    areHeld,
    verdictsOn,
    heldRefs,
    open,
    decisions,
    decide,
    hold,
    release,
    onHold,
  };
}

function parseItem(kind: DestructiveKind, text: string): Destruction {
  const blank = text.indexOf(' ');
  if (blank < 0) return { kind, ref: text as Ref };
  return { kind, ref: text.slice(0, blank) as Ref, subject: text.slice(blank + 1) };
}

function inPairs(flat: string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [
    flat[2 * index] ?? '',
    flat[2 * index + 1] ?? '',
  ]);
}
