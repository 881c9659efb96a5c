// How much may be taken away unasked. Pure: counts in, verdict out (ADR 0011). The sync asks before every destructive
// write, reconcile before the first mark of a plan; both get the same answer from here.

/**
 * Changes that take access or data away: closing an account, removing it or a group for good, taking a member
 * out of a group, emptying an attribute.
 */
export const DESTRUCTIVE_KINDS = ['deactivate', 'delete', 'removeMembers', 'clearAttributes'] as const;
export type DestructiveKind = (typeof DESTRUCTIVE_KINDS)[number];

/** Bounds on the changes that need no approval within the window; both must be kept. */
export interface GuardLimit {
  count: number;
  /** Share of the population, in percent. */
  percent: number;
}

export type GuardLimits = Record<DestructiveKind, GuardLimit>;

/** The guard of one target as the settings say it. */
export type GuardSettings = GuardLimits & { windowMs: number };

/** Changes that count against a limit already. */
export interface GuardCount {
  /** Carried out within the window, unasked. */
  used: number;
  /** Accepted, not applied yet and not held. */
  waiting: number;
  /** Held for approval. */
  held: number;
}

/** How many there are of what a share is a share of. */
export interface Population {
  users: number;
  groups: number;
  memberships: number;
}

export type GuardVerdict =
  { kind: 'allowed'; allowance: number } | { kind: 'held'; allowance: number; hit: ('count' | 'percent')[] };

/** A share alone punishes small tenants: below this many resources it never bites. */
export const SHARE_FLOOR = 10;

/**
 * Most that may be taken away within one window. A share of 0 means nothing; any other share leaves room for
 * `SHARE_FLOOR`, and `count` bounds both.
 */
export function allowanceOf({ count, percent }: GuardLimit, population: number): number {
  return Math.min(count, shareOf(percent, population));
}

function shareOf(percent: number, population: number): number {
  if (percent === 0) return 0;
  // Hundredths first: 7 % of 100 is 7, although 0.07 * 100 is a little more and 0.29 * 100 a little less.
  const share = Math.floor((Math.round(percent * 100) * population) / 10_000);
  return Math.max(SHARE_FLOOR, share);
}

/** Whether `wanted` more may go through, all together or not at all. */
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

/** Judges a whole plan before its first step: a kind that is over its limit is held, the others go on. */
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
 * The total that the share of a kind refers to. Memberships that go are not in the directory any more, so they are added again;
 * attributes are compared with people, because one mistake in a mapping empties one attribute of everybody.
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
