// Defines the explanation of a user or group at one target, which the command prints and the admin API returns.
import type { Priority } from '../directory/records.ts';
import type { DestructiveKind } from '../guard/judge.ts';
import type { ResourceReason } from '../directory/outbox/exceptions.ts';
import type { PlanEntry } from '../reconcile/entry.ts';
import type { FleetFinding } from '../ops/fleet.ts';
import type { HandoverExplanation } from './handover.ts';
import type { LocatedEntry } from '../ops/provisioning-log.ts';

/**
 * `asDesired`: no difference. `onItsWay`: a sync is pending. `held`: waits for an approval. `stopped`: the target is on hold
 * or does not answer, or no worker runs. `needsPerson`: a dead letter. `leftAlone`: protected, rejected, or excluded by
 * policy. `notForTarget`: out of scope. `differs`: the settings changed since the last sync, or the platform was changed by
 * others. `gone`: deleted at the source and closed at the target.
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

/** Desired and applied value of one attribute. */
export interface AttributeState {
  /** Core path, or `attributes.<name>`. */
  name: string;
  desired: unknown;
  applied: unknown;
  /**
   * `unsure`: sent without confirmation, or suspected drift; it is written again. `unmapped`: the attribute has left the
   * settings, and the applied value stays. `kept`: the source has no value, and the applied one stays by `onEmpty: keep`.
   */
  state: 'equal' | 'differs' | 'unsure' | 'unmappable' | 'unmapped' | 'kept';
  /** Reason why the value cannot be mapped. */
  reason?: string;
  /** Value at the platform, read for this explanation; left out: not read. */
  observed?: unknown;
}

/** A difference at the platform, with the fields of a plan entry. */
export type PlatformDifference = Pick<PlanEntry, 'action' | 'reason' | 'before' | 'after'> & {
  /** Name of the attribute or of the member; null: the resource itself. */
  subject: string | null;
};

export interface MembershipState {
  ref: string;
  name: string;
  state: 'applied' | 'toAdd' | 'toRemove' | 'notForTarget';
  /** Reason why the membership waits; undefined when it is written next. */
  because?: string;
  /** Reason of the condition of the other resource; undefined without a condition, or while its sync is retried. */
  condition?: string;
  /** Time since when writes of the other resource fail and are retried; undefined: they do not fail. */
  triedSince?: string;
}

export interface Explanation {
  connection: string;
  target: string;
  ref: string;
  kind: 'User' | 'Group';
  id: string;
  name: string;
  verdict: ExplanationVerdict;
  /** Summary in one sentence. */
  summary: string;
  /** Further sentences: reasons and advice. */
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
  /** Null for a deleted resource. */
  inScope: boolean | null;
  /** Name at the target; null when it is out of scope. */
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
    /** Whether another resource still has the name or the account at the platform, and is to give it up. */
    waitsForName: boolean;
    lastWrite: string | null;
  };
  /**
   * Result of reading the platform for this explanation. `unread`: the platform did not answer in time. Null: the platform
   * was not read, because nothing is linked, a change or a condition is known already, or the caller decided so. Held and
   * rejected changes do not count as differences here.
   */
  platform: {
    at: string;
    state: 'equal' | 'differs' | 'unread';
    differences: PlatformDifference[];
    /** Groups of a person, or members of a group, that the bridge does not manage now and that stay. */
    addedByOthers: string[];
    /** Groups of a person that groups.include or groups.exclude leave out: the memberships there stay as they are. */
    leftOutGroups: string[];
    /** Groups of a person, or members of a group, that stay against the source because of the policy of the target. */
    leftByPolicy: string[];
    /** Sentences about mapped attributes whose value the person has only by the default of the definition. */
    defaults: string[];
    /** Number of held or rejected changes that the platform has already. */
    done: number;
    /** Number of differences that the guard would hold if a run wrote them now. */
    toBeHeld: number;
  } | null;
  condition: { reason: string; message: string; since: string; status: number | null; advice: string } | null;
  /** The exception of this resource, as the command exceptions lists it; null: none. */
  exception: { reason: ResourceReason; since: string } | null;
  deadLetterSince: string | null;
  mark: {
    generation: string;
    since: string;
    request: string;
    priority: Priority | null;
    state: 'due' | 'queued' | 'running';
    nextTry: string | null;
  } | null;
  /** Time of the next sync without a change. */
  lookAgainAt: string | null;
  /** A user's groups, or up to a hundred pending members of a group. */
  memberships: MembershipState[];
  /**
   * Groups that the person is no longer in, because somebody made a held or rejected removal at the platform. The next
   * reconcile ends the wait for a decision.
   */
  leftByHand: string[];
  /** Numbers and names of the members of a group; null for a user. */
  members: {
    desired: number;
    /** Desired members whose memberships the bridge does not write: protected, or out of the scope of the target. */
    leftAlone: number;
    toAdd: number;
    toRemove: number;
    /** Member values that no pushed user or group has. */
    unknown: string[];
    /** Names of pushed groups that are members; groups in groups are not written. */
    nestedGroups: string[];
  } | null;
  guard: { kind: DestructiveKind; subject: string | null; state: 'held' | 'approved' | 'rejected' }[];
  /** Id of the open approval that covers the held changes of this resource or of its memberships; null: none is held. */
  approval: string | null;
  /** The newest rejection of the resource's own changes (`group` null), and of a person's removal from each group. */
  rejections: { id: string; by: string; at: string; ref: string; group: string | null }[];
  /** Approvals of one person that wait for a second one; `total`: number of changes. */
  firstApprovals: { id: string; by: string; at: string; total: number }[];
  /** Names of values with suspected drift. */
  suspectedDrift: string[];
  hold: { since: string; by: string; note: string | null } | null;
  /**
   * Set while changes wait for the target: its calls fail in a row and only probes are sent, or it refuses the key (`open`
   * false before the breaker opens). `status` 0: no answer. `only`: methods that are answered with 401 while the key is accepted
   * for other calls; null: there are none. `ofOtherKey`: the refused key is not the one of the settings that were read.
   */
  breaker: {
    open: boolean;
    since: string;
    status: number;
    only: string[] | null;
    ofOtherKey: boolean;
  } | null;
  /** Pause of all calls to the target; `asked` false: the bridge chose its length. Null: none. */
  pause: { until: string; status: number; asked: boolean } | null;
  /** Faults of the fleet. */
  fleet: FleetFinding[];
  policy: { policy: string; adopt: string; deprovision: string; activation: string; protected: boolean };
  lastReconcile: { at: string; outcome: string } | null;
  /** Work of a closed account that is, or will be, in the handover folder; null: none. */
  handover: HandoverExplanation | null;
  /** Time of the connection's last restore, ISO 8601, and the backup in words, `the backup of TIME`; null: none. */
  restored: { at: string; backup: string } | null;
  /**
   * Events of the resource, oldest first. `noted`: an entry of the provisioning log that is no success; `compared`: the last
   * reconcile of all resources.
   */
  timeline: { at: string; event: 'stored' | 'accepted' | 'applied' | 'noted' | 'compared'; text: string }[];
  /** The newest entries of the provisioning log, newest first. */
  log: LocatedEntry[];
  /** Whether there may be older entries: the search has limits of time and of entries. */
  isLogCut: boolean;
}

/** The facts from which verdict, summary and reasons are derived. */
export type ExplainedFacts = Omit<Explanation, 'verdict' | 'summary' | 'reasons' | 'timeline'>;
