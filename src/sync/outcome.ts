// Defines the outcomes of a sync: synced, later, held, waiting or blocked.
import type { Condition } from '../directory/outbox/link-condition.ts';

export type SyncOutcome =
  | {
      /** The target is as desired, except for what `condition` names. */
      kind: 'synced';
      /** The link is removed: there is no account or group (any more), or an adopted group has no managed member left. */
      forget?: boolean;
      /** Drops the pending memberships that the user would still gain. */
      dropGrants?: boolean;
      condition?: Condition;
      /** Time at which the resource is synced again even if nothing changes, such as a delayed deletion; Unix milliseconds. */
      alarmAt?: number;
    }
  /**
   * The target is as desired except for held changes. A decision or a new push marks the resource again. `isHeldAgain`: one of
   * the changes was held or approved before, and its approval list has expired.
   */
  | {
      kind: 'held';
      condition: Condition;
      dropGrants?: boolean;
      alarmAt?: number;
      isHeldAgain?: boolean;
    }
  /**
   * The rest follows later. `removals`: a user waits to be removed from groups. `memberships`: a user waits to be added, before the
   * activation or after a return. `members`: a group waits for syncs of its members, or shortly for more members for one PATCH. The
   * resource becomes due after `afterMs` (default: WAITING_MS, sync-resource.ts), or earlier when another sync marks it.
   * `behindHeld`: ids of the groups, set if the guard holds each removal that the user waits for, or the group of the removal was
   * refused. `isRefused`: all these groups were refused, and no removal is held.
   */
  | {
      kind: 'waiting';
      for: 'removals' | 'memberships' | 'members';
      afterMs?: number;
      behindHeld?: readonly string[];
      isRefused?: boolean;
    }
  /** The sync is tried again, such as after a failed call, or while a name or an account is still taken. */
  | { kind: 'later'; afterMs: number; condition?: Condition }
  /** The resource becomes a dead letter. */
  | { kind: 'blocked'; condition: Condition };

/** Outcome of a step that ends the sync: the step is tried again later, or the resource becomes a dead letter. */
export type Unfinished = Extract<SyncOutcome, { kind: 'later' | 'blocked' }>;

/** The answer of the platform shows that it did not carry out a write, or a part of it; the sync retries later. */
export class WriteIgnored extends Error {
  override name = 'WriteIgnored';
}
