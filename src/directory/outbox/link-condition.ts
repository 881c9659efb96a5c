// Defines the condition of a link: why its resource is not as desired, and what a reason means for the next sync.

/** Reason why a resource is not as desired: a Kubernetes condition with status False. */
export interface Condition {
  /** CamelCase, stable: `Refused`, `Conflict`, `Protected`, `AccountNotFound` ... */
  reason: string;
  /** Message for operators; for a refusal the platform's message. */
  message: string;
  /** Unix milliseconds. */
  since: number;
  /** HTTP status of the platform's refusal. */
  status?: number;
  /** The refused write, if no value at the identity provider mends it (`members`: a change of members); else absent. */
  write?: 'deactivate' | 'delete' | 'members';
  /** Of `NotApplied`: the platform answered success and did not carry the write out; absent: the calls fail again and again. */
  isIgnored?: true;
  /** Print of the target's settings under which the condition arose; absent: it does not depend on settings. */
  settings?: string;
  /**
   * Set if the condition may end when a connection of the target leaves the settings or comes back into them: that connection may
   * have the account that is in the way.
   */
  byConnections?: true;
  /** Of `TakenByConnection`: platform id of the account or group of the other connection. */
  takenId?: string;
  /**
   * Set for a dead letter, or an ignored write, whose message also names a held or rejected change. The resource is then listed
   * as an exception too (exceptionReasonOf of exceptions.ts).
   */
  besides?: 'Held' | 'Rejected';
  /**
   * Correlation id of the push or run that caused a held or rejected change. A write after a withdrawn rejection is logged with it,
   * also a write that is tried again.
   */
  request?: string;
  /** When that push or run was accepted, Unix milliseconds; logged together with `request`. */
  accepted?: number;
  /**
   * Set if the user is a leaver (deleted at the source, or out of scope) and the condition is about a deactivation that is held, or
   * that a person or the platform refused.
   */
  isLeaver?: true;
}

/** Reasons of conditions that end by a decision of an operator. */
export const AWAITING_DECISION: ReadonlySet<string> = new Set(['Held', 'LastAdministrator', 'Rejected']);

/** Returns whether the guard holds a change of the resource, or a person rejected one; with another reason `besides` says so. */
export const isAwaitingDecision = (condition: Condition | undefined): condition is Condition =>
  condition !== undefined && (AWAITING_DECISION.has(condition.reason) || condition.besides !== undefined);

/** Reasons of conditions of a resource whose sync is tried again by itself. */
const TRIED_AGAIN: ReadonlySet<string> = new Set(['NotApplied', 'NameTaken']);

/** Returns whether the sync of a resource with this condition is tried again by itself; false without a condition. */
export const isTriedAgain = (condition: Pick<Condition, 'reason'> | null | undefined): boolean =>
  condition != null && TRIED_AGAIN.has(condition.reason);

/** Reasons of conditions that are no refusal of the platform. Every other condition is one, while no mark is pending. */
const NO_REFUSALS: ReadonlySet<string> = new Set(['Held', 'LastAdministrator', 'Rejected', 'Protected']);

/**
 * Returns the refusal that ended the last sync; undefined if there was none.
 * @param marked true: a mark is pending, so the refusal counts no more; default: marks are not regarded
 */
export const refusalOf = ({ condition }: { condition?: Condition }, marked = false): Condition | undefined =>
  marked || condition === undefined || NO_REFUSALS.has(condition.reason) ? undefined : condition;

/**
 * Returns whether the condition arose under other settings than the present ones.
 * @param settings print of the present ones
 */
export const isBySettingsOfThen = (
  condition: Pick<Condition, 'reason' | 'settings' | 'byConnections'>,
  settings: string,
): boolean => condition.settings !== undefined && condition.settings !== printFor(condition, settings);

/** Returns whether the condition depends on the other connections of the target. */
export const isByConnections = ({
  reason,
  byConnections,
}: Pick<Condition, 'reason' | 'byConnections'>): boolean =>
  reason === 'TakenByConnection' || byConnections === true;

/**
 * Returns the part of a print of settings (sync/settings-print.ts) that decides about a condition. The part behind the dot stands
 * for the other connections of the target. A Conflict about an account of two connections (depart-user.ts) does not need this part:
 * the next sync replaces the Conflict by TakenByConnection.
 */
export const printFor = (condition: Pick<Condition, 'reason' | 'byConnections'>, settings: string): string =>
  isByConnections(condition) ? settings : settings.replace(/\..*/, '');
