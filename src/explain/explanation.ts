// Describes one person or group at one target as plain data: the command renders it, the admin API serves it.
import type { Lane } from '../directory/records.ts';
import type { DestructiveKind } from '../guard/judge.ts';
import type { LocatedEntry } from '../ops/provisioning-log.ts';

/**
 * `asDesired`: equal as far as this target shall be. `onItsWay`: will be without anybody's help. `held`: waits for an
 * approval. `stopped`: an operator's hold or a target that does not answer. `needsPerson`: a dead letter. `leftAlone`:
 * protected, or kept by decision or policy. `notForTarget`: out of scope. `differs`: the settings are others than those
 * that were applied. `gone`: deleted at the source, and nothing is left to do.
 */
export type ExplanationVerdict =
  | 'asDesired'
  | 'onItsWay'
  | 'held'
  | 'stopped'
  | 'needsPerson'
  | 'leftAlone'
  | 'notForTarget'
  | 'differs'
  | 'gone';

/** One value as it shall be and as it was last written or seen. */
export interface AttributeState {
  /** Core path, or `attributes.<name>`. */
  name: string;
  desired: unknown;
  applied: unknown;
  /** `unsure`: sent without an answer, or seen to differ at the platform; it is written again. */
  state: 'equal' | 'differs' | 'unsure' | 'unmappable';
  /** Why a value cannot be mapped. */
  reason?: string;
}

export interface MembershipState {
  ref: string;
  name: string;
  state: 'applied' | 'toAdd' | 'toRemove' | 'notForTarget';
  /** The reason for which the other side waits; absent when the resource is next. */
  because?: string;
}

export interface Explanation {
  connection: string;
  target: string;
  ref: string;
  kind: 'User' | 'Group';
  id: string;
  name: string;
  verdict: ExplanationVerdict;
  /** One sentence for somebody who has never seen the bridge. */
  summary: string;
  /** Further sentences: what it waits for, and what to do. */
  reasons: string[];
  /** The pushed resource; null when it was deleted at the identity provider. All times are ISO 8601. */
  stored: {
    version: number;
    created: string;
    lastModified: string;
    active: boolean | null;
    externalId: string | null;
  } | null;
  deletedAt: string | null;
  /** Null for what was deleted. */
  inScope: boolean | null;
  /** Its name at the target; null when it is out of scope there. */
  nameAtTarget: string | null;
  values: AttributeState[];
  link: {
    platformId: string | null;
    account: string | null;
    origin: 'created' | 'adopted' | null;
    active: boolean | null;
    departed: boolean;
    creating: boolean;
    attempts: number;
    lastWrite: string | null;
  };
  condition: { reason: string; message: string; since: string; status: number | null; advice: string } | null;
  deadLetterSince: string | null;
  mark: {
    generation: string;
    since: string;
    request: string;
    lane: Lane | null;
    state: 'due' | 'queued' | 'running';
    nextTry: string | null;
  } | null;
  /** When it is looked at again by itself. */
  lookAgainAt: string | null;
  /** A user's groups, or up to a hundred members of a group that are not equal yet. */
  memberships: MembershipState[];
  /** Of a group. */
  members: { desired: number; toAdd: number; toRemove: number; unknown: string[] } | null;
  guard: { kind: DestructiveKind; subject: string | null; state: 'held' | 'approved' | 'rejected' }[];
  /** Names that a comparison saw to differ at the platform. */
  doubts: string[];
  hold: { since: string; by: string; note: string | null } | null;
  /** The target answers nobody at the moment: only probes go out. `status` 0 = no answer. */
  breaker: { since: string; status: number } | null;
  policy: { policy: string; adopt: string; deprovision: string; activation: string; protected: boolean };
  lastReconcile: { at: string; outcome: string } | null;
  /** Oldest first. */
  timeline: { at: string; event: 'stored' | 'accepted' | 'applied' | 'noted' | 'compared'; text: string }[];
  /** The newest entries of the provisioning log, newest first. */
  log: LocatedEntry[];
}
