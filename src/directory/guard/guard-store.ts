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

/** One destructive write: `subject` is the member that goes (a user's id) or the attribute that is emptied. */
export interface Destruction {
  kind: DestructiveKind;
  ref: Ref;
  subject?: string;
}

export type Permission = 'allowed' | 'held' | 'rejected';

/** The decision about a member who is to leave a group: see guard_leavers.lua. */
export type MemberDecision = 'stays' | 'follows' | 'waits';

export interface GuardCounts {
  population: Population;
  kinds: Record<DestructiveKind, GuardCount & { approved: number; rejected: number }>;
}

/** The changes that are held at this moment. */
export interface HeldChanges {
  /** Names exactly this list: what is held later has a later place and is not part of it. */
  id: string;
  openedAt: number;
  expiresAt: number;
  items: PlacedItem[];
}

/** `place`: an approval lists everything up to some place. */
export type PlacedItem = Destruction & { place: number };

/** A decision of an operator; the newest fifty are kept. */
export interface Decision {
  id: string;
  action: 'approve' | 'reject';
  at: number;
  by: string;
  kinds: Record<DestructiveKind, number>;
  /** At most a thousand. */
  items: Destruction[];
}

export type Decided = { kind: 'decided'; items: number } | { kind: 'expired' } | { kind: 'unknown' };

/** An operator's order to write nothing. */
export interface Hold {
  since: number;
  by: string;
  note?: string;
}

/** Held changes wait this long for a person; then they are judged anew. Approved changes may be written for as long. */
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

  /** Asks for destructive writes; with `whole` all or none. Writes that are not allowed are held. In the order asked. */
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

  /** Holds what a plan found to be over the limit, before any of it is marked. */
  async function holdAll(items: Destruction[], windowMs: number): Promise<Permission[]> {
    const allowances = Object.fromEntries(DESTRUCTIVE_KINDS.map((kind) => [kind, -1]));
    return items.length === 0 ? [] : run(items, { allowances, windowMs });
  }

  /** Holds one item whatever was counted or approved: no decision of a person helps before something else changes. */
  async function holdBack(item: Destruction, windowMs: number): Promise<Permission> {
    const allowances = Object.fromEntries(DESTRUCTIVE_KINDS.map((kind) => [kind, -1]));
    const [permission = 'held'] = await run([item], { allowances, windowMs, always: true });
    return permission;
  }

  /** Whose accounts are to be closed or were closed of late; some may be back by now. */
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

  /** The decisions about the accounts of users who leave a group. */
  async function fates(users: string[]): Promise<MemberDecision[]> {
    if (users.length === 0) return [];
    const [, found] = await scripts.run('guard_leavers', keys.base, { ...common, users });
    return found as MemberDecision[];
  }

  /**
   * At the end of a sync that saw everything: `wanted` was asked for and not permitted. All other items of this
   * ref were carried out or taken back by the source: approvals are used up and holds dissolve.
   * @returns how many
   */
  async function settle(ref: Ref, wanted: Destruction[]): Promise<number> {
    const wire = wanted.map(({ kind, subject }) => [kind, subject ?? '']);
    const [, dropped] = await scripts.run('guard_settle', keys.base, { ...common, ref, wanted: wire });
    return Number(dropped);
  }

  /** Whether a person has to decide about each of these. */
  async function areHeld(items: Destruction[]): Promise<boolean[]> {
    const places = await Promise.all(
      items.map(({ kind, ref, subject }) =>
        redis.zscore(sets('guardHeld', kind), subject === undefined ? ref : `${ref} ${subject}`),
      ),
    );
    return places.map((place) => place !== null);
  }

  const idOf = (serial: number, last: number): string => `${target}.${serial}-${last}`;

  /** Resources of which anything is held, also after it has expired. */
  async function heldRefs(): Promise<Ref[]> {
    const found = await Promise.all(
      DESTRUCTIVE_KINDS.map((kind) => redis.zrange(sets('guardHeld', kind), '0', '-1')),
    );
    const refs = found.flatMap((texts, index) =>
      texts.map((text) => parseItem(DESTRUCTIVE_KINDS[index] ?? 'deactivate', text).ref),
    );
    return [...new Set(refs)];
  }

  /** Everything that is held; undefined when nothing is. */
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
    // Items of an expired approval are judged anew soon.
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
    refs?: readonly string[],
  ): Promise<Decided> {
    const [, name, serial, upTo] = /^(.+)[.](\d+)(?:-(\d+))?$/.exec(id) ?? [];
    if (name !== target) return { kind: 'unknown' };
    const args = {
      ...{ ...common, action, by, serial: Number(serial), request: `approval:${id}` },
      ...(upTo === undefined ? {} : { upTo: Number(upTo) }),
      ...(refs === undefined ? {} : { refs }),
    };
    const [tag, decided] = await scripts.run('guard_decide', keys.base, args);
    if (tag !== 'decided') return { kind: tag as 'expired' | 'unknown' };
    return { kind: 'decided', items: (decided as number[]).reduce((sum, each) => sum + each, 0) };
  }

  /** Writes nothing from now on; what runs stops before its next step. @returns false when it was held already */
  async function hold(by: string, note?: string): Promise<boolean> {
    return (await scripts.run('hold', keys.base, { ...common, by, note }))[0] === 'held';
  }

  /** @returns false when it was not held */
  async function release(): Promise<boolean> {
    const released = (await redis.del(keys.key('hold', target))) === 1;
    if (released) await redis.publish(keys.key('marked'), target);
    return released;
  }

  async function onHold(): Promise<Hold | undefined> {
    const text = await redis.get(keys.key('hold', target));
    return text === null ? undefined : (JSON.parse(text) as Hold);
  }

  /** How much is held, by kind and together. */
  async function held(): Promise<Record<DestructiveKind, number> & { total: number }> {
    const sizes = await Promise.all(DESTRUCTIVE_KINDS.map((kind) => redis.zcard(sets('guardHeld', kind))));
    const byKind = Object.fromEntries(DESTRUCTIVE_KINDS.map((kind, index) => [kind, sizes[index] ?? 0]));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    return { ...(byKind as Record<DestructiveKind, number>), total };
  }

  return {
    counts,
    take,
    holdAll,
    holdBack,
    leavers,
    fates,
    settle,
    areHeld,
    heldRefs,
    open,
    decisions,
    decide,
    hold,
    release,
    onHold,
    held,
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
