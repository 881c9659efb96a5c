// Defines an entry of a plan: the difference, its cause, the action, and the state it was computed from.
import type { Link } from '../directory/outbox/link.ts';
import { isAwaitingDecision, refusalOf } from '../directory/outbox/link-condition.ts';
import type { Kind, Ref } from '../directory/records.ts';
import { DESTRUCTIVE_KINDS, type DestructiveKind } from '../guard/judge.ts';
import type { SyncPolicy } from '../sync/target.ts';
import { isoTime } from '../support/sources.ts';

/** Actions in the order of display: those that take access away come first. */
export const ACTIONS = [
  'deactivate',
  'delete',
  'removeMember',
  'clearAttribute',
  'defineAttribute',
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

/** The action that takes something away, by the guard's kind of change. */
export const ACTION_OF: Record<DestructiveKind, Action> = {
  deactivate: 'deactivate',
  delete: 'delete',
  removeMembers: 'removeMember',
  clearAttributes: 'clearAttribute',
};

/** Actions that take access or data away. */
export const DESTRUCTIVE: ReadonlySet<Action> = new Set(Object.values(ACTION_OF));

/** Returns the guard's kind of an action; undefined for an action that takes nothing away. */
export const guardKindOf = (action: Action): DestructiveKind | undefined =>
  DESTRUCTIVE_KINDS.find((kind) => ACTION_OF[kind] === action);

/** Actions after which the resource has another account or group than before. */
export const NEWLY_LINKED: ReadonlySet<Action> = new Set(['create', 'adopt', 'relink']);

export type Cause =
  /** A pending push, which the worker applies without this plan. */
  | 'source changed'
  /** Pending since a restore, and not pushed since: the source changed it before the backup, or the restore marked it. */
  | 'restored from a backup'
  /**
   * Desired without mark and never written: the target is new, a mark was lost, a decision of an operator comes first, or the last
   * sync protected the user.
   */
  | 'not applied'
  /** Mapping, scope or names in the settings changed since the last sync. */
  | 'mapping changed'
  /** Changed at the platform, not by the bridge. */
  | 'platform changed'
  /** The platform accepted a write of this value, shows another one, and reports no change since. */
  | 'write did not stick'
  /** Changed at the platform between a backup and its restore, by others or by the bridge, which does not know it any more. */
  | 'changed after the backup'
  /** No difference of a managed value: a conflict, or an unmanaged account. */
  | 'none';

/** Cause of a difference, with actor and time if they are known (attribution.ts). */
export interface Attribution {
  cause: Cause;
  /** Actor in the platform's audit log. */
  by?: string;
  /** Time of the change at the platform, ISO 8601; with the cause `write did not stick` the time of the bridge's write. */
  at?: string;
}

export type Values = Record<string, unknown>;

export interface PlanEntry {
  action: Action;
  kind: Kind | 'Attribute';
  /** Null for an unmanaged account or group, and for an attribute definition. */
  ref: Ref | null;
  platformId: string | null;
  /** userName, displayName, or name of the attribute definition. */
  name: string;
  /** Name of the attribute, for actions on attributes. */
  attribute?: string;
  /**
   * Of an action on a member, the member. `ref` null: an unmanaged account, which has a `platformId`. `platformId` null: none is
   * known.
   */
  member?: { ref: Ref | null; platformId: string | null; name: string };
  /** Observed (`before`) and desired (`after`) values by name; of a membership `{ member: BOOLEAN }`. Null: there are none. */
  before: Values | null;
  after: Values | null;
  /** `report`: no run applies it, because of the target's policy, an incomplete read, or a step before it, such as a decision. */
  effect: 'apply' | 'report';
  /** Text for people. `isLeftBy` and `needsNoPermission` compare its end, and `isTakenOut` its start, so no text is added there. */
  reason: string;
  attribution: Attribution;
  /** Versions that the entry was computed from; the entry is stale when they have changed. */
  basis: Basis;
  /** Resource whose sync writes this entry too, so that a plan marks that resource only (plan/followers.ts). */
  follows?: Ref;
}

export interface Basis {
  /** Version of the record; 0: no record. */
  version: number;
  /** Hash of the stored link. */
  link: string;
}

/** Basis of an entry that no run marks, because it is only reported or shown. */
export const NO_BASIS: Basis = { version: 0, link: '' };

/** Fields of an entry that only tells of the platform, without values. */
export const ONLY_TOLD = {
  before: null,
  after: null,
  effect: 'report',
  attribution: { cause: 'none' },
  basis: NO_BASIS,
} as const;

/** Action and values of an entry that adds a member to a group, or removes one. */
export const MEMBER_ADDED = {
  action: 'addMember',
  before: { member: false },
  after: { member: true },
} as const;
export const MEMBER_REMOVED = {
  action: 'removeMember',
  before: { member: true },
  after: { member: false },
} as const;

/** Returns the fields that all entries about the definition of an attribute share. */
export const aboutDefinition = (name: string) => ({
  ...ONLY_TOLD,
  kind: 'Attribute' as const,
  ref: null,
  platformId: null,
  name,
  attribute: name,
});

/** Time after a write within which a platform may answer reads that do not show it yet, milliseconds. */
const LAG_MS = 60_000;

/**
 * Returns the cause of an absence at the platform, and its reason. A resource that the bridge wrote a moment ago may only not be
 * shown yet.
 * @param now Unix milliseconds
 * @param gone the reason; of a resource that was written a moment ago, the start of the reason
 */
export function absenceOf({ writtenAt }: Link, now: number, gone: string): { cause: Cause; reason: string } {
  if (writtenAt === undefined || now - writtenAt > LAG_MS) return { cause: 'platform changed', reason: gone };
  const since = isoTime(writtenAt);
  return {
    cause: 'write did not stick',
    reason: `${gone}, or not shown there yet: the bridge wrote it at ${since}`,
  };
}

/** Returns the end of the reason of a difference that the target's policy leaves; '' under the policy `sync`, which leaves none. */
export const leftBy = ({ policy }: Pick<SyncPolicy, 'policy'>): string =>
  policy === 'sync' ? '' : `; policy ${policy} leaves it`;

/** Returns whether no run writes the entry, because of the policy of its target. */
export const isLeftBy = (policy: Pick<SyncPolicy, 'policy'>, { effect, reason }: PlanEntry): boolean =>
  effect === 'report' && leftBy(policy) !== '' && reason.endsWith(leftBy(policy));

const NEEDS_NO_PERMISSION = '; the account is inactive, so its values give no access and need no approval';

/**
 * Adds to the reason of a cleared attribute that it needs no approval. For entries of an inactive account that is adopted: its
 * values give no access, so the guard does not count them (ADR 0011). Returns other entries unchanged.
 */
export const markNeedsNoPermission = (entry: PlanEntry): PlanEntry =>
  entry.action === 'clearAttribute' ? { ...entry, reason: `${entry.reason}${NEEDS_NO_PERMISSION}` } : entry;

/** Returns whether the sync writes the entry without asking the guard, although it takes something away. */
export const needsNoPermission = ({ reason }: PlanEntry): boolean => reason.endsWith(NEEDS_NO_PERMISSION);

/** Returns whether the entry only tells of the platform: a conflict, or an account or group that only the platform has. */
export const isNotice = ({ action }: PlanEntry): boolean => action === 'conflict' || action === 'unmanaged';

/** Returns whether the entries show no difference: all of them tell of members or accounts that only the platform has. */
export const isAsDesired = (entries: readonly PlanEntry[]): boolean =>
  entries.every(({ action }) => action === 'unmanaged');

/** Returns whether applying the plan would execute the entry. */
export const isChange = (entry: PlanEntry): boolean => entry.effect === 'apply' && !isNotice(entry);

/** Returns the entry as one that no run writes. @param why text after its reason */
export const reportedAs = (entry: PlanEntry, why: string): PlanEntry => ({
  ...entry,
  effect: 'report',
  reason: `${entry.reason}${why}`,
});

/** Returns whether the cause lies at the platform rather than in the source or the settings. */
export const isDrift = ({ attribution }: PlanEntry): boolean =>
  attribution.cause === 'platform changed' ||
  attribution.cause === 'write did not stick' ||
  attribution.cause === 'changed after the backup';

/** Reason of the addition of a member whom somebody took out of the group at the platform. */
export const TAKEN_OUT = 'member at the source, taken out at the platform';

/** Returns whether somebody took the member of the entry out of the group at the platform. */
export const isTakenOut = ({ action, reason }: PlanEntry): boolean =>
  action === 'addMember' && reason.startsWith(TAKEN_OUT);

/** Returns whether a push or a restore has marked the resource of the entry, so that no run has to mark it. */
export const isPending = ({ attribution }: PlanEntry): boolean =>
  attribution.cause === 'source changed' || attribution.cause === 'restored from a backup';

/** Returns whether the entry is a change whose own resource has a mark already. */
export const isMarked = (entry: PlanEntry): boolean =>
  isChange(entry) && isPending(entry) && entry.follows === undefined;

/** Returns whether a run has to mark the change. A pending change has a mark; a follower is written with another resource. */
export const needsMark = (entry: PlanEntry): boolean =>
  isChange(entry) && !isPending(entry) && entry.follows === undefined;

/**
 * Returns the cause of a difference between the desired and the applied state: a push (which left a mark), or other settings. A
 * sync that waits for a decision of an operator, or that protects the user, clears the mark and leaves values unwritten. Without a
 * mark, this and other settings are then both possible, so the cause is `not applied`.
 */
export function ownCause({ marked, link }: { marked: boolean; link: Link }): Cause {
  if (marked) return 'source changed';
  const isUndecided = isAwaitingDecision(link.condition) && refusalOf(link) === undefined;
  return isUndecided || link.condition?.reason === 'Protected' ? 'not applied' : 'mapping changed';
}
