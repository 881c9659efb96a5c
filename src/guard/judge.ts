// Decides how many destructive changes need no approval (docs/adr/0011-guard.md). Pure. There are two callers. Before the
// destructive writes of a sync, directory/guard computes the allowances (`allowanceOf`), and guard_take.lua compares its counts
// with them. A reconcile calls `judgePlan` before it marks the resources of a plan.

/**
 * Destructive changes: deactivating an account, deleting an account or group, removing a member from a group, clearing an
 * attribute.
 */
export const DESTRUCTIVE_KINDS = ['deactivate', 'delete', 'removeMembers', 'clearAttributes'] as const;
export type DestructiveKind = (typeof DESTRUCTIVE_KINDS)[number];

/** Limits of the changes within the window that need no approval. The smaller one decides (`allowanceOf`). */
export interface GuardLimit {
  /** Largest number of changes. */
  count: number;
  /** Share of the population in percent: of all users, of users and groups, or of memberships, by kind (`populationOf`). */
  percent: number;
}

/** Limits of each kind. */
export type GuardLimits = Record<DestructiveKind, GuardLimit>;

/** Guard settings of one target. */
export type GuardSettings = GuardLimits & {
  /** Time for which an allowed change counts against the limits. */
  windowMs: number;
  /** Number of persons who have to approve held changes; default 1. */
  approvers?: number;
};

/** Numbers of changes of one kind that already count against its limit. */
export interface GuardCount {
  /** Allowed within the window without approval, whether or not the write succeeded. */
  used: number;
  /**
   * Deactivations of accepted pushes that no sync has asked the guard for yet; 0 for other kinds. A user whose earlier deactivation
   * is counted in `used` is not counted once more.
   */
  waiting: number;
  /** Held for approval. */
  held: number;
}

/** Totals that a share in percent refers to. `users` and `groups` include those deleted within the window (guard_counts.lua). */
export interface Population {
  users: number;
  groups: number;
  memberships: number;
}

/** `allowance`: largest number of changes within the window. `hit`: the limits that are exceeded. */
type GuardVerdict =
  { kind: 'allowed'; allowance: number } | { kind: 'held'; allowance: number; hit: ('count' | 'percent')[] };

/** Smallest number of changes that a share above 0 % allows, so that small tenants are not blocked. */
export const SHARE_FLOOR = 10;

/**
 * Returns the largest number of changes within one window: the smaller one of `count` and the share. A share of 0 % allows
 * none, any other share at least `SHARE_FLOOR`.
 */
export function allowanceOf({ count, percent }: GuardLimit, population: number): number {
  return Math.min(count, shareOf(percent, population));
}

function shareOf(percent: number, population: number): number {
  if (percent === 0) return 0;
  // Integer hundredths of a percent avoid rounding errors: 0.07 * 100 is more than 7, and 0.29 * 100 less than 29.
  const share = Math.floor((Math.round(percent * 100) * population) / 10_000);
  return Math.max(SHARE_FLOOR, share);
}

/** Decides about `wanted` further changes of one kind: all of them are allowed, or all of them are held. */
export function judge(
  wanted: number,
  { used, waiting, held }: GuardCount,
  population: number,
  limit: GuardLimit,
): GuardVerdict {
  const allowance = allowanceOf(limit, population);
  const total = used + waiting + held + wanted;
  // Without a further change there is nothing to hold, even if the changes before have used the limit up.
  if (wanted <= 0 || total <= allowance) return { kind: 'allowed', allowance };
  // More than the allowance: at least one of the two limits is exceeded.
  const hit: ('count' | 'percent')[] = [];
  if (total > limit.count) hit.push('count');
  if (total > shareOf(limit.percent, population)) hit.push('percent');
  return { kind: 'held', allowance, hit };
}

/**
 * Decides about a whole plan. All changes of a kind that exceeds its limit are held; other kinds are allowed.
 * @param wanted number of changes of each kind in the plan
 */
export function judgePlan(
  wanted: Record<DestructiveKind, number>,
  counts: Record<DestructiveKind, GuardCount>,
  population: Population,
  limits: GuardLimits,
): Record<DestructiveKind, GuardVerdict> {
  const verdictOf = (kind: DestructiveKind): GuardVerdict =>
    judge(
      wanted[kind],
      counts[kind],
      populationOf(kind, population, counts[kind], wanted[kind]),
      limits[kind],
    );
  return {
    deactivate: verdictOf('deactivate'),
    delete: verdictOf('delete'),
    removeMembers: verdictOf('removeMembers'),
    clearAttributes: verdictOf('clearAttributes'),
  };
}

/**
 * Returns the total that the share of a kind refers to. Removed memberships are added, because `memberships` no longer has them.
 * Cleared attributes are compared with users, because a wrong mapping clears one attribute of every user.
 */
export function populationOf(
  kind: DestructiveKind,
  { users, groups, memberships }: Population,
  { used, held }: GuardCount,
  wanted: number,
): number {
  switch (kind) {
    case 'deactivate':
    case 'clearAttributes':
      return users;
    case 'delete':
      return users + groups;
    case 'removeMembers':
      return memberships + used + held + wanted;
  }
}
