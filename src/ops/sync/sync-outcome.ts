// Defines the report about a resource after a sync that an operator ordered, and its outcome.
import type { PendingSign } from '../../directory/outbox/pending-memberships.ts';
import type { Ref } from '../../directory/records.ts';
import type { PlanEntry } from '../../reconcile/entry.ts';
import type { LocatedEntry } from '../log/provisioning-log.ts';

/**
 * `equal`: as desired, as far as it was compared, and except what the message says, such as a rejected change. `held`: held by the
 * guard or an operator. `waiting`: not finished in time, so the service continues, or a group or member has to be synced first.
 * `needsPerson`: a dead letter, or a difference that no sync can write, such as of an attribute whose definition has another type.
 */
export type SyncOutcomeName = 'equal' | 'held' | 'waiting' | 'needsPerson';

/** Outcomes from the mildest to the gravest. */
const GRAVITY: readonly SyncOutcomeName[] = ['equal', 'waiting', 'held', 'needsPerson'];

/** Returns the report with one more reason why the resource is not as desired: the graver outcome, and both messages. */
export function withReason(end: SyncEnd, outcome: SyncOutcomeName, message: string): SyncEnd {
  const isGraver = GRAVITY.indexOf(outcome) > GRAVITY.indexOf(end.outcome ?? 'equal');
  return {
    outcome: isGraver ? outcome : (end.outcome ?? 'equal'),
    message: end.message === undefined ? message : `${end.message}; ${message}`,
  };
}

/** Report about one resource at the end of a sync that an operator ordered, or of a dry run. */
export interface SyncEnd {
  /** Undefined after a dry run. */
  outcome?: SyncOutcomeName;
  /** Reason why the resource is not as desired, is left alone, or (after a dry run) is not written now. */
  message?: string;
}

export interface SyncReport extends SyncEnd {
  connection: string;
  target: string;
  ref: Ref;
  name: string;
  dryRun: boolean;
  /**
   * Differences at the platform before the sync, with memberships; null: not read, because the target may be another tenant, or not
   * readable.
   */
  differences: PlanEntry[] | null;
  /**
   * Pending memberships (`ResourceStatus.pendingMemberships`): of a user, group id → sign; of a group, user id or
   * `@<platform id>` → sign.
   */
  pendingGroups: Record<string, PendingSign>;
  /** Log entries of this sync, oldest first; empty after a dry run. */
  steps: LocatedEntry[];
}
