// Defines the end of a sync that an operator ordered.

/**
 * `equal`: as desired, as far as it was compared, and except what the message tells, such as a rejected change. `held`: held by the
 * guard or an operator. `waiting`: not finished in time, so the service continues, or a group or member has to be brought first.
 * `needsPerson`: a dead letter, or a conflict with an attribute definition.
 */
export type SyncOutcomeName = 'equal' | 'held' | 'waiting' | 'needsPerson';

/** Outcomes from the mildest to the gravest. */
const GRAVITY: readonly SyncOutcomeName[] = ['equal', 'waiting', 'held', 'needsPerson'];

/** Returns the end with one more reason why the resource is not as desired: the graver outcome, and both messages. */
export function withReason(end: SyncEnd, outcome: SyncOutcomeName, message: string): SyncEnd {
  const isGraver = GRAVITY.indexOf(outcome) > GRAVITY.indexOf(end.outcome ?? 'equal');
  return {
    outcome: isGraver ? outcome : (end.outcome ?? 'equal'),
    message: end.message === undefined ? message : `${end.message}; ${message}`,
  };
}

export interface SyncEnd {
  /** Undefined after a dry run. */
  outcome?: SyncOutcomeName;
  /** Reason why the resource is not as desired, is left alone, or (after a dry run) is not written now. */
  message?: string;
}
