// Defines the coverage of a target: whether every stored resource is linked and synced, pending, or excluded for a known reason.
// Each resource that is not linked and synced has one state (`CoverState`); the counts (`Coverage`) add the states up.
// coverage-reader.ts reads the states, and reconcile compares them with the platform's lists (ADR 0021).
import type { Ref } from '../records.ts';

/** State of a resource that is not linked and synced. */
export type CoverState =
  /** Marked, and due for a sync or delivered to the queue. */
  | 'pending'
  /** Marked, but neither in `dirty` nor in `inflight`. */
  | 'stuck'
  /** Neither link nor mark. */
  | 'missing'
  /**
   * Without a mark, and the resource (1) changed since the last sync, (2) is held and no decision is open any more, (3) is a group
   * with a pending membership that can be written, or (4) with `closes`, is a user out of scope whose account is unknown.
   */
  | 'stale'
  /** Linked, but its platform id has no reverse link to it. */
  | 'astray'
  /** A sync was refused for good. */
  | 'deadLetter'
  /** The guard holds a change. */
  | 'held'
  /** Marked, and waits for a held change of another resource. */
  | 'behindHeld'
  /** Marked, and waits for a removal from a group whose sync was refused for good. */
  | 'behindRefused'
  /** The condition of the link says why. */
  | 'exception'
  /** Deleted, out of scope, or left out by the settings, at its last sync. A user who is inactive and in scope counts as linked. */
  | 'closed'
  /** Deleted, without a mark, and its account or group may still be open. */
  | 'orphan';

/** States of lost resources: no sync is due, although one is needed. A run marks these resources. */
export const LOST: ReadonlySet<CoverState> = new Set(['stuck', 'missing', 'stale', 'astray', 'orphan']);

/** Number of resources of one kind by state. `desired` is the sum of all others except `seen`. */
export interface Coverage {
  /** All stored resources but the `closed` ones, so a user who left the scope counts until the next sync has ended. */
  desired: number;
  linked: number;
  /** Linked and shown by the lists of the last run; null when a list was not read completely. */
  seen: number | null;
  pending: number;
  /** Resources with a held change, or that wait for a held change of another resource. */
  held: number;
  deadLetters: number;
  /**
   * Excluded by another condition of their link, such as protected, rejected, or dropped from the dead letters; and people who wait
   * for the removal from a group whose sync was refused, because an operator may have dropped the dead letter of that group.
   */
  exceptions: number;
  /** Resources in a state of `LOST`, except orphans. */
  missing: number;
}

/**
 * `closes`: whether the policy of the target closes accounts. Such a policy has to know the accounts of users out of scope and of
 * deleted resources. A sync under an earlier policy, which closed none, may have ended without looking for them.
 */
export interface ClosingPolicy {
  closes?: boolean;
}

/** Resources of one script call, with their states. */
export interface CoverPortion {
  linked: { ref: Ref; platformId: string }[];
  others: { ref: Ref; state: CoverState }[];
}

/**
 * A portion in which linked resources are only counted, and their reverse links are not checked, so no resource gets the state
 * `astray`.
 */
export interface BriefPortion {
  linked: number;
  others: CoverPortion['others'];
}

/**
 * The count that a state adds to; `missing` is a state and the count of four states. Undefined: a resource out of scope and an
 * orphan are not desired.
 */
const COUNTED_AS: Record<CoverState, keyof Coverage | undefined> = {
  pending: 'pending',
  stuck: 'missing',
  missing: 'missing',
  stale: 'missing',
  astray: 'missing',
  deadLetter: 'deadLetters',
  held: 'held',
  behindHeld: 'held',
  behindRefused: 'exceptions',
  exception: 'exceptions',
  closed: undefined,
  orphan: undefined,
};

/** Returns counts of zero, to which `count` adds. */
export const noCoverage = (): Coverage => ({
  desired: 0,
  linked: 0,
  seen: null,
  pending: 0,
  held: 0,
  deadLetters: 0,
  exceptions: 0,
  missing: 0,
});

/** Adds one portion to the counts. */
export function count(coverage: Coverage, { linked, others }: CoverPortion | BriefPortion): void {
  const more = typeof linked === 'number' ? linked : linked.length;
  coverage.linked += more;
  coverage.desired += more;
  for (const { state } of others) {
    const name = COUNTED_AS[state];
    if (name === undefined) continue;
    coverage[name] = (coverage[name] ?? 0) + 1;
    coverage.desired++;
  }
}

/** Subtracts a resource from the counts that contain it. @param state undefined: linked and synced */
export function discount(coverage: Coverage, state: CoverState | undefined): void {
  const name = state === undefined ? 'linked' : COUNTED_AS[state];
  if (name === undefined) return;
  coverage[name] = (coverage[name] ?? 0) - 1;
  coverage.desired--;
}
