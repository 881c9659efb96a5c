// Decides how many destructive changes need no approval (ADR 0011). Pure. Sync asks before every destructive write,
// reconcile before the first mark of a plan.

/**
 * Destructive changes: deactivating an account, deleting an account or group, removing a member from a group, clearing an
 * attribute.
 */
export const DESTRUCTIVE_KINDS = ['deactivate', 'delete', 'removeMembers', 'clearAttributes'] as const;
export type DestructiveKind = (typeof DESTRUCTIVE_KINDS)[number];

/** Limits of changes without approval within the window; both apply. */
export interface GuardLimit {
  count: number;
  /** Share of the population, in percent. */
  percent: number;
}

export type GuardLimits = Record<DestructiveKind, GuardLimit>;

/** Guard settings of one target. `approvers`: number of persons who have to approve held changes (default 1). */
export type GuardSettings = GuardLimits & { windowMs: number; approvers?: number };

/** Changes that already count against a limit. */
export interface GuardCount {
  /** Applied within the window without approval. */
  used: number;
  /** Accepted, and neither applied nor held. */
  waiting: number;
  /** Held for approval. */
  held: number;
}

/** Totals that a share in percent refers to. */
export interface Population {
  users: number;
  groups: number;
  memberships: number;
}

export type GuardVerdict =
  { kind: 'allowed'; allowance: number } | { kind: 'held'; allowance: number; hit: ('count' | 'percent')[] };

/** Smallest allowance of a share above 0 %, so that small tenants are not blocked. */
export const SHARE_FLOOR = 10;

/**
 * Returns the largest number of changes within one window. A share of 0 % allows none; any other share allows at least
 * `SHARE_FLOOR`; `count` limits both.
 */
export function allowanceOf({ count, percent }: GuardLimit, population: number): number {
  return Math.min(count, shareOf(percent, population));
}

function shareOf(percent: number, population: number): number {
  if (percent === 0) return 0;
  // Integer hundredths avoid rounding errors: 0.07 * 100 is more than 7, and 0.29 * 100 less than 29.
  const share = Math.floor((Math.round(percent * 100) * population) / 10_000);
  return Math.max(SHARE_FLOOR, share);
}

/** Returns whether `wanted` further changes are allowed, all or none. */
export function judge(
  wanted: number,
  { used, waiting, held }: GuardCount,
  population: number,
  limit: GuardLimit,
): GuardVerdict {
  const allowance = allowanceOf(limit, population);
  const total = used + waiting + held + wanted;
  if (wanted <= 0 || total <= allowance) return { kind: 'allowed', allowance };
  const hit: ('count' | 'percent')[] = [];
  if (total > limit.count) hit.push('count');
  if (total > shareOf(limit.percent, population)) hit.push('percent');
  return { kind: 'held', allowance, hit };
}

/** Judges a whole plan: all changes of a kind that exceeds its limit are held, other kinds are allowed. */
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
 * Returns the total that the share of a kind refers to. Removed memberships are no longer in the directory, so they are
 * added; cleared attributes are compared with users, because a wrong mapping clears one attribute of every user.
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
