// One line of a plan: what differs, why, what would be done about it, and against which state it was seen.
import type { Condition, Link } from '../directory/outbox/links.ts';
import type { Kind, Ref } from '../directory/records.ts';

/** In the order in which people want to read them: what takes access away first. */
export const ACTIONS = [
  'deactivate',
  'delete',
  'removeMember',
  'clearAttribute',
  'create',
  'adopt',
  'relink',
  'reactivate',
  'addMember',
  'update',
  'setAttribute',
  'conflict',
  'unmanaged',
] as const;
export type Action = (typeof ACTIONS)[number];

/** Actions that take something away from somebody. */
export const DESTRUCTIVE: ReadonlySet<Action> = new Set([
  'deactivate',
  'delete',
  'removeMember',
  'clearAttribute',
]);

export type Cause =
  /** A push that the worker has not applied yet; it is on its way without this plan. */
  | 'source changed'
  /** Desired, and nothing was going to apply it: the target is new, or a mark was lost. */
  | 'not applied'
  /** Mapping, scope or names in the settings are others than those that were applied. */
  | 'mapping changed'
  /** Somebody changed it at the platform. */
  | 'platform changed'
  /** The platform accepted our write and shows something else, and nobody touched it since. */
  | 'write did not stick'
  /** Not a change: a conflict, or an account that was never pushed. */
  | 'none';

export interface Attribution {
  cause: Cause;
  /** The actor, as the audit log names it. */
  by?: string;
  /** When, as the platform says; ISO 8601. */
  at?: string;
}

export type Values = Record<string, unknown>;

export interface PlanEntry {
  action: Action;
  kind: Kind;
  /** Null for what nobody pushed. */
  ref: Ref | null;
  platformId: string | null;
  /** userName or displayName. */
  name: string;
  /** The attribute, where the action is about one. */
  attribute?: string;
  /** The member, where the action is about one. */
  member?: { ref: Ref | null; platformId: string | null; name: string };
  /** The observed and the desired values; null = no such resource. */
  before: Values | null;
  after: Values | null;
  /** `report`: shown only, because of the target's policy or because a read could not be proven complete. */
  effect: 'apply' | 'report';
  reason: string;
  attribution: Attribution;
  /** The state that the difference was seen against; a plan is stale when it moved. */
  basis: Basis;
}

export interface Basis {
  /** Version of the record; 0 = there is none. */
  version: number;
  /** Hash of the link's text. */
  link: string;
}

/** Whether the entry is something that applying a plan would do. */
export const isChange = ({ action, effect }: PlanEntry): boolean =>
  effect === 'apply' && action !== 'conflict' && action !== 'unmanaged';

/** Whether somebody or something at the platform caused it, as opposed to us or the source. */
export const isDrift = ({ attribution }: PlanEntry): boolean =>
  attribution.cause === 'platform changed' || attribution.cause === 'write did not stick';

/** Left alone for good: listed in `users.protected`, or the owner of the platform key. */
export const isProtected = (link: Link): boolean => link.condition?.reason === 'Protected';

/** Conditions of a resource that is where it shall stay for now; every other one without a mark came with a refusal. */
const NO_REFUSALS: ReadonlySet<string> = new Set(['Held', 'LastAdministrator', 'Rejected', 'Protected']);

/** Why the last sync of a resource gave up; undefined when it did not, or when the next one is on its way. */
export const refusalOf = ({ condition }: Link, marked: boolean): Condition | undefined =>
  marked || condition === undefined || NO_REFUSALS.has(condition.reason) ? undefined : condition;
