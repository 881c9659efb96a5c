// How a sync ends, in the words of Kubernetes: done, later, or blocked until a person or a new change helps.
import type { Condition } from '../directory/outbox/links.ts';

export type SyncOutcome =
  /** Equal to the desired state as far as this target shall be. `forget` drops the link. */
  | {
      kind: 'synced';
      writes: number;
      forget?: boolean;
      dropOwed?: boolean;
      condition?: Condition;
      /** Unix milliseconds at which something is due although nothing changes. */
      alarmAt?: number;
    }
  /** Equal but for what the guard holds: a decision of a person, or of the source, marks this resource again. */
  | { kind: 'held'; writes: number; condition: Condition; dropOwed?: boolean; alarmAt?: number }
  /** Not an error: something else has to happen first, and will mark this resource again. */
  | { kind: 'waiting'; writes: number; for: 'removals' | 'memberships' | 'members'; afterMs?: number }
  | { kind: 'later'; writes: number; afterMs: number; condition?: Condition }
  | { kind: 'blocked'; writes: number; condition: Condition };
