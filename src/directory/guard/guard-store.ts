// Stores the guard's counts of a target and its held changes until an operator decides (ADR 0011). Before a destructive write, a
// sync asks for a permission (`take`); at its end it tells which changes the guard may forget (`endSync`). Redis has sorted sets
// of the changes of each kind: `guardUsed` (allowed within the window), `guardHeld`, `guardApproved` and `guardRejected`. Each
// script decides atomically, so that two workers cannot both use the last change that the allowance permits. The store also has
// the decisions of operators (decisions.ts) and the hold of the target (operator-hold.ts).
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
import type { DueWork } from '../outbox/due-work.ts';
import { LeaseLost } from '../outbox/work.ts';
import type { Ref } from '../records.ts';
import { pairsOf, inPortions, readInPortions, scanned } from '../redis/portions.ts';
import { redisTime } from '../redis/redis-time.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import { readApprovalTerm, stateOfPlace } from './approval-term.ts';
import { createDecisions } from './decisions.ts';
import { parseItem, readChangePlaces, type Destruction } from './held-changes.ts';
import { createJudgement, type Verdict } from './judgement.ts';
import { createOperatorHold } from './operator-hold.ts';

/** Verdict about a destructive write: it may be sent, it waits for an operator, or an operator rejected it. */
export type Permission = 'allowed' | 'held' | 'rejected';

/** State of a change that is not written; `expired`: its approval has expired, and the guard has not judged it anew yet. */
export type GuardState = 'held' | 'expired' | 'rejected';

const toPermission = (verdict: Verdict): Permission => (verdict === 'heldAgain' ? 'held' : verdict);

/** Reply about the removal of one member; the header of guard_leavers.lua explains the values. */
export type MemberDecision = 'alone' | 'follows' | 'rejected' | 'waits';

/** Counts of each kind within the window, and the totals that percentages refer to (guard_counts.lua). */
export interface GuardCounts {
  population: Population;
  kinds: Record<DestructiveKind, GuardCount & { approved: number; rejected: number }>;
}

/** Reply of guard_counts.lua. */
type CountsReply = [tag: string, users: number, groups: number, memberships: number, ...ofKinds: number[][]];

/** An allowance of -1 for each kind: guard_take.lua holds every change that has no verdict yet. */
const NOTHING_ALLOWED = Object.fromEntries(DESTRUCTIVE_KINDS.map((kind) => [kind, -1]));
/** Time after which held changes are judged again, and approvals of unwritten changes expire. */
const EXPIRY_MS = 72 * 3_600_000;
/** Largest number of changes of one script call: few, because a script blocks Redis. */
const HOLD_PORTION = 250;
/** Largest number of changes or users whose states are read together. */
const LOOK_PORTION = 1000;
/** COUNT of scans: about so many entries are in one reply. */
const SCAN_COUNT = 1000;

export type GuardStore = ReturnType<typeof createGuardStore>;

/** @param options.others keys of the other connections of the target */
export function createGuardStore(deps: StoreDeps, options: { target: string; others: readonly Keyspace[] }) {
  const { redis, scripts, keys } = deps;
  const { target } = options;
  const common = { target, targets: [target], kinds: DESTRUCTIVE_KINDS, expiryMs: EXPIRY_MS };
  const judge = createJudgement(deps, common);
  /** Returns the key of the list of changes of a kind. */
  const listKey = (family: string, kind: DestructiveKind): string => keys.key(family, `${target}:${kind}`);

  /** Returns the counts of each kind within the window, and the sizes that percentages refer to. */
  async function counts(windowMs: number): Promise<GuardCounts> {
    const reply = await scripts.run('guard_counts', keys.base, { ...common, windowMs });
    const [_tag, users, groups, memberships, ...ofKinds] = reply as CountsReply;
    const kinds = DESTRUCTIVE_KINDS.map((kind, index) => {
      const [used = 0, waiting = 0, held = 0, approved = 0, rejected = 0] = ofKinds[index] ?? [];
      return [kind, { used, waiting, held, approved, rejected }] as const;
    });
    return {
      population: { users, groups, memberships },
      kinds: Object.fromEntries(kinds) as GuardCounts['kinds'],
    };
  }

  /**
   * Asks for destructive writes; those that are not allowed are held.
   * @param options `whole`: if one item was refused earlier, or a kind exceeds its allowance, no item without an earlier verdict is
   *   allowed. `onHeldAgain` is called if an item is held whose earlier approval or hold has expired
   * @returns permissions in the order of `items`
   */
  async function take(
    items: Destruction[],
    settings: GuardSettings,
    { whole = false, onHeldAgain }: { whole?: boolean; onHeldAgain?: () => void } = {},
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
    const args = { allowances, windowMs, whole };
    const found = await judge(items, args);
    if (found.includes('heldAgain')) onHeldAgain?.();
    return found.map(toPermission);
  }

  /**
   * Holds changes of a plan whose kind exceeds its limit, before their resources are marked. Changes that were approved, rejected,
   * or allowed within the window keep their verdict.
   */
  async function holdAll(items: Destruction[], windowMs: number): Promise<Permission[]> {
    const args = { allowances: NOTHING_ALLOWED, windowMs };
    const verdicts = await readInPortions(items, HOLD_PORTION, (portion) => judge(portion, args));
    return verdicts.map(toPermission);
  }

  /** Holds one change regardless of counts and approvals, for example the deactivation of the last administrator. */
  async function holdBack(item: Destruction, windowMs: number): Promise<Permission> {
    const args = { allowances: NOTHING_ALLOWED, windowMs, always: true } as const;
    const [verdict = 'held'] = await judge([item], args);
    return toPermission(verdict);
  }

  /**
   * Called at the end of a complete sync, under its lease. Items of the ref that are neither refused nor postponed are applied or
   * no longer desired, so they are removed from the held, approved and rejected ones. A rejected removal of a member stays until
   * the source adds the member again.
   * @param refused changes that the guard held or that an operator rejected
   * @param options `isGone`: the resource is gone at the source and at the platform, so rejected removals of members are removed
   *   too; `postponed`: kinds of changes that this sync does not make yet; their items are kept
   * @returns number of removed items
   * @throws LeaseLost
   */
  async function endSync(
    { ref, fence }: Pick<DueWork, 'ref' | 'fence'>,
    refused: Destruction[],
    { isGone = false, postponed = [] }: { isGone?: boolean; postponed?: readonly DestructiveKind[] } = {},
  ): Promise<number> {
    // An entry of `guardItems` is `kind subject`.
    const refusedEntries = new Set(refused.map(({ kind, subject }) => `${kind} ${subject ?? ''}`));
    const isKept = (entry: string): boolean =>
      refusedEntries.has(entry) || postponed.some((kind) => entry.startsWith(`${kind} `));
    const ended = new Set<string>();
    const items = keys.key('guardItems', `${target}:${ref}`);
    for await (const found of scanned((cursor) => redis.sscan(items, cursor, 'COUNT', SCAN_COUNT)))
      for (const entry of found) if (!isKept(entry)) ended.add(entry);
    let removed = 0;
    // Runs at least once, because the script also closes an approval without changes.
    for (const entries of ended.size === 0 ? [[]] : inPortions([...ended], HOLD_PORTION)) {
      const args = { ...common, ref, fence, isGone, entries };
      const [tag, count] = await scripts.run('guard_end_sync', keys.base, args);
      if (tag === 'fenced') throw new LeaseLost(`lost the lease of ${ref}`);
      removed += Number(count);
    }
    return removed;
  }

  /** Returns the decision about the removal of each user from a group, in the order of `users`. */
  const decisionsOfMembers = (users: string[]): Promise<MemberDecision[]> =>
    readInPortions(users, LOOK_PORTION, async (portion) => {
      const [found] = await scripts.values('guard_leavers', keys.base, { ...common, users: portion });
      return found as MemberDecision[];
    });

  /** Returns users with a pending or recent deactivation; some may be active again. */
  async function closingUsers(): Promise<Ref[]> {
    const found = new Set<string>();
    const waiting = keys.key('guardWaiting', target);
    for await (const refs of scanned((cursor) => redis.sscan(waiting, cursor, 'COUNT', SCAN_COUNT)))
      for (const ref of refs) found.add(ref);
    for (const list of ['guardHeld', 'guardUsed', 'guardApproved'].map((each) => listKey(each, 'deactivate')))
      for await (const flat of scanned((cursor) => redis.zscan(list, cursor, 'COUNT', SCAN_COUNT)))
        for (const [ref] of pairsOf(flat)) found.add(ref);
    return [...found] as Ref[];
  }

  /**
   * Returns the changes of a kind that count towards the guard's limit, because it allowed them within its window: the
   * newest `most` of them, and the time of the oldest (Unix milliseconds).
   */
  async function countedChanges(
    kind: DestructiveKind,
    windowMs: number,
    most: number,
  ): Promise<{ newest: { item: Destruction; at: number }[]; oldestAt: number | undefined }> {
    const from = `(${(await redisTime(redis)) - windowMs}`;
    const used = listKey('guardUsed', kind);
    const [newest, [_oldest, oldestAt]] = await Promise.all([
      redis.zrevrangebyscore(used, '+inf', from, 'WITHSCORES', 'LIMIT', 0, most),
      redis.zrangebyscore(used, from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1),
    ]);
    return {
      newest: pairsOf(newest).map(([text, at]) => ({ item: parseItem(kind, text), at: Number(at) })),
      oldestAt: oldestAt === undefined ? undefined : Number(oldestAt),
    };
  }

  const placesIn = (family: string, items: Destruction[]): Promise<(string | null)[]> =>
    readChangePlaces(deps, target, family, items);

  /** Returns for each change whether it is in the list of its kind. */
  const areIn = async (family: string, items: Destruction[]): Promise<boolean[]> =>
    (await placesIn(family, items)).map((place) => place !== null);

  /** Returns for each change whether it is among the held ones, also of an expired approval. */
  const areHeld = (items: Destruction[]): Promise<boolean[]> => areIn('guardHeld', items);

  const areRejected = (items: Destruction[]): Promise<boolean[]> => areIn('guardRejected', items);

  /** Returns for each change whether it needs no permission: an approval of it has not ended, or it is counted already. */
  async function arePermitted(items: Destruction[]): Promise<boolean[]> {
    const [now, approvedUntil, used] = await Promise.all([
      redisTime(redis),
      placesIn('guardApproved', items),
      areIn('guardUsed', items),
    ]);
    return items.map((_, index) => Number(approvedUntil[index]) > now || used[index] === true);
  }

  /** Returns for each change whether it was rejected, is held, or was held under an expired approval; undefined: none of these. */
  async function statesOf(items: Destruction[]): Promise<(GuardState | undefined)[]> {
    if (items.length === 0) return [];
    const [rejected, places, term] = await Promise.all([
      areRejected(items),
      placesIn('guardHeld', items),
      readApprovalTerm(deps, target),
    ]);
    return items.map((_, index) =>
      rejected[index] ? 'rejected' : stateOfPlace(places[index] ?? null, term),
    );
  }

  /** Returns for each change whether it was rejected or is held; undefined: neither, or its approval has expired. */
  const verdictsOn = async (items: Destruction[]): Promise<('rejected' | 'held' | undefined)[]> =>
    (await statesOf(items)).map((state) => (state === 'expired' ? undefined : state));

  return {
    counts,
    countedChanges,
    take,
    holdAll,
    holdBack,
    closingUsers,
    decisionsOfMembers,
    endSync,
    areHeld,
    areRejected,
    arePermitted,
    statesOf,
    verdictsOn,
    ...createDecisions(deps, common),
    ...createOperatorHold(deps, target, options.others),
  };
}
