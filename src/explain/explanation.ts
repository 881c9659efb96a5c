// Defines the explanation of a user or group at one target, which the command prints and the admin API returns.
import type { Priority } from '../directory/records.ts';
import type { GuardState } from '../directory/guard/guard-store.ts';
import type { DestructiveKind } from '../guard/judge.ts';
import type { Pause } from '../directory/outbox/budget.ts';
import type { ResourceReason } from '../directory/outbox/exceptions.ts';
import type { PlanEntry } from '../reconcile/entry.ts';
import type { SyncPolicy } from '../sync/target.ts';
import type { FleetFinding } from '../ops/status/fleet.ts';
import type { HandoverExplanation } from './handover.ts';
import type { LinkRow } from '../ops/links/link-rows.ts';
import type { LocatedEntry } from '../ops/log/provisioning-log.ts';

/**
 * `asDesired`: no difference. `onItsWay`: a sync is pending. `held`: waits for an approval. `stopped`: the target is on hold,
 * its calls fail, no worker runs, or Redis takes no writes. `needsPerson`: a dead letter, or a membership whose group or member
 * the platform refuses. `leftAlone`: protected, rejected, dropped from the dead letters, or excluded by policy. `notForTarget`:
 * out of scope. `differs`: the settings changed since the last sync, or the platform was changed by others. `gone`: deleted at
 * the source, and nothing is left to be written.
 */
export const VERDICTS = [
  'asDesired',
  'onItsWay',
  'held',
  'stopped',
  'needsPerson',
  'leftAlone',
  'notForTarget',
  'differs',
  'gone',
] as const;
export type ExplanationVerdict = (typeof VERDICTS)[number];

/** Desired and applied value of one attribute. */
export interface AttributeState {
  /** Core path, or `attributes.<name>`. */
  name: string;
  /** Value that the identity provider wants, mapped for the target; null: none. */
  desired: unknown;
  /** Value that the bridge last wrote or read at the platform; null: none. */
  applied: unknown;
  /**
   * `unsure`: sent without confirmation, or suspected drift; the value is written again. `unmappable`: the rule gives no valid
   * value, see `reason`. `unmapped`: the attribute has left the settings, and the applied value stays. `kept`: the source has no
   * value, and the applied one stays by `onEmpty: keep`.
   */
  state: 'equal' | 'differs' | 'unsure' | 'unmappable' | 'unmapped' | 'kept';
  /** Why the value cannot be mapped; only with the state `unmappable`. */
  reason?: string;
  /** Value at the platform, read for this explanation; left out: not read. */
  observed?: unknown;
}

/** A difference at the platform, with the fields of a plan entry. */
export type PlatformDifference = Pick<PlanEntry, 'action' | 'reason' | 'before' | 'after'> & {
  /** Name of the attribute, the member, or a person's group; null: the resource itself. */
  subject: string | null;
};

/** A membership of the explained resource. The other resource is the group of a user, or the member of a group. */
export interface MembershipState {
  /** Ref and name of the other resource. */
  ref: string;
  name: string;
  /** `toRemove`: also a kept removal, and one that waits for a decision. `notForTarget`: no sync writes the membership. */
  state: 'applied' | 'toAdd' | 'toRemove' | 'notForTarget';
  /** Why the membership waits or is not written, or who made it; undefined: applied, or written next. */
  because?: string;
  /** CamelCase reason that stops the membership, such as `Held`; undefined: nothing does, or the sync is retried. */
  condition?: string;
  /**
   * The change that stops the membership has an expired approval, without a new judgement yet: the removal itself, the deletion of
   * the group, or the deactivation that an addition waits for.
   */
  isExpired?: true;
  /** ISO 8601 time since when writes of the other resource fail and are retried; undefined: they do not fail. */
  triedSince?: string;
}

export interface Explanation {
  connection: string;
  target: string;
  /** Resource key, `User:<id>` or `Group:<id>`, and its two parts. */
  ref: string;
  kind: 'User' | 'Group';
  id: string;
  /** The userName, or the displayName of a group. */
  name: string;
  verdict: ExplanationVerdict;
  /** Summary in one sentence. */
  summary: string;
  /** Further sentences: reasons and advice. */
  reasons: string[];
  /** The pushed resource; null when it was deleted at the identity provider. All times are ISO 8601. */
  stored: {
    /** Number of the stored change; 1: as created. */
    version: number;
    created: string;
    lastModified: string;
    /** Null: the identity provider sent none, as for every group. */
    active: boolean | null;
    externalId: string | null;
  } | null;
  /** Time of the deletion at the source; null: not deleted. */
  deletedAt: string | null;
  /** Whether the settings bring the resource to the target; null for a deleted resource. */
  inScope: boolean | null;
  /** Name at the target; null: out of scope, or deleted at the source. */
  nameAtTarget: string | null;
  /** Values that are set at the source or at the target. */
  values: AttributeState[];
  link: Pick<LinkRow, 'platformId' | 'account' | 'origin' | 'active' | 'departed' | 'lastWrite'> & {
    /** Whether a create was sent whose answer is not known yet. */
    creating: boolean;
    /** Number of consecutive failed attempts of the sync. */
    attempts: number;
    /** Message of the newest of these failures; null: none is known. */
    lastFailure: string | null;
    /**
     * Whether the sync waits because another resource still has the name or the account at the platform, or because reads do not
     * show yet which resource has it.
     */
    waitsForName: boolean;
  };
  /**
   * Result of reading the platform for this explanation. `unread`: no answer in time, or none that can be compared. Null: the
   * platform was not read, because nothing is linked, the settings leave the group out, a change or a condition is known already,
   * or the caller decided so. Held and rejected changes do not count as differences here.
   */
  platform: {
    /** Time of the read. */
    at: string;
    state: 'equal' | 'differs' | 'unread';
    /** Failure of the last failed read, if the state is `unread`; null: no read failed, such as when the time ended first. */
    why: string | null;
    /**
     * Differences that a run would write or ask the guard about, and conflicts, which a person resolves. Empty for a protected
     * person, whom no run compares.
     */
    differences: PlatformDifference[];
    /**
     * Groups of a person, or members of a group, that the bridge does not manage and that stay; of a protected person all groups.
     */
    addedByOthers: string[];
    /** Groups of a person that groups.include or groups.exclude leave out: the memberships there stay as they are. */
    leftOutGroups: string[];
    /** Groups of a person, or members of a group, that stay against the source because of the policy of the target. */
    leftByPolicy: string[];
    /** Number of all differences that stay because of the policy of the target, also those of `leftByPolicy`. */
    leftDifferences: number;
    /** Sentences about mapped attributes whose value the person has only by the default of the definition. */
    defaults: string[];
    /** Number of held or rejected changes that the platform has already. */
    done: number;
    /** Number of differences that the guard would hold if a run wrote them now. */
    toBeHeld: number;
    /** Whether a truth value or list of the person differs; a run reads these of a part of the people only. */
    readInTurn: boolean;
    /**
     * Number of groups of a person, or of removals from a group (pending, held, rejected), that were not compared: too many for one
     * look, or not readable.
     */
    notCompared: number;
    /** Whether the platform no longer has the linked account of a person. If no account is wanted, this is no difference. */
    accountGone: boolean;
  } | null;
  /** Why the last sync did not reach the desired state; `status`: HTTP status of a refusal. Null: no condition is stored. */
  condition: { reason: string; message: string; since: string; status: number | null; advice: string } | null;
  /** The exception of this resource, as the command exceptions lists it; null: none. */
  exception: { reason: ResourceReason; since: string } | null;
  /** Null: the resource is no dead letter. */
  deadLetterSince: string | null;
  /** The change that waits for its sync; null: none. */
  mark: {
    /** Number of the mark as text; it grows with every change. */
    generation: string;
    /** Time at which the oldest change that is not applied was accepted. */
    since: string;
    /** Id of the newest change: of a push, a reconcile or an order. */
    request: string;
    /**
     * Null with the state `due`: behind all priorities, because the resource waits for a held change of another resource or for a
     * refused group. Null with another state: not known.
     */
    priority: Priority | null;
    /** `due`: waits for `nextTry`. `queued`: waits for a worker. `running`: a worker syncs the resource. */
    state: 'due' | 'queued' | 'running';
    /** Time of the next attempt; null while the mark is queued or its sync runs. */
    nextTry: string | null;
  } | null;
  /** Time of the next sync without a change; null: none is planned. */
  lookAgainAt: string | null;
  /** A user's groups, or up to a hundred members of a group that are pending or that the policy leaves out. */
  memberships: MembershipState[];
  /**
   * Names of groups that the person is not in at the platform, although the removal from them is pending, held or rejected. The
   * next reconcile ends the wait for a decision.
   */
  leftByHand: string[];
  /** Numbers and names of the members of a group; null for a user. */
  members: {
    /** Number of members at the source. */
    desired: number;
    /**
     * Number of desired members whose memberships are not written: protected, or out of scope. Of a large group not all are looked
     * up.
     */
    leftAlone: number;
    /** Number of desired members who joined a complete group, so that the policy `create-only` leaves them out. */
    leftOutByPolicy: number;
    /** Numbers of memberships that the platform still has to gain or to lose. */
    toAdd: number;
    toRemove: number;
    /** Member values that no pushed user or group has. */
    unknown: string[];
    /** Names of pushed groups that are members; groups in groups are not written. */
    nestedGroups: string[];
  } | null;
  /**
   * Changes that a person can decide or has decided, and those in the state `expired`: their approval has expired, and the guard
   * has not judged them anew yet.
   */
  guard: {
    kind: DestructiveKind;
    /** Id of the member, or name of the attribute; null for other changes. */
    subject: string | null;
    state: GuardState | 'approved';
    /** End of an approval. */
    until?: string;
  }[];
  /** Id (`<connection>.<list>`) of the newest approval; null: it holds no change of the resource or its memberships. */
  approval: string | null;
  /**
   * Sentence about the expired approval of these changes and their next judgement by the guard. Null: none waits, or an operator
   * can decide some.
   */
  approvalExpired: string | null;
  /** The newest rejection of the resource's own changes (`group` null), and of a person's removal from each group (its name). */
  rejections: { id: string; by: string; at: string; ref: string; group: string | null }[];
  /**
   * First approvals, each by one person, that cover held or rejected changes of the resource and wait for a second person; `total`:
   * number of its changes.
   */
  firstApprovals: { id: string; by: string; at: string; total: number }[];
  /** Names of values with suspected drift. */
  suspectedDrift: string[];
  /** The order that stops all writes to the target; null: none. */
  hold: { since: string; by: string; note: string | null } | null;
  /** Whether nothing is written because no linked account was found at the new address of the target yet. */
  hasMoved: boolean;
  /** Set while changes wait because calls to the target fail in a row, or because the target refuses the key. */
  breaker: {
    /** Whether only probes are sent; false: the key is refused, and the breaker is not open yet. */
    open: boolean;
    since: string;
    /** HTTP status of the failures; 0: no answer. */
    status: number;
    /** Methods that are answered with 401 while the key is accepted for other calls; null: there are none. */
    only: string[] | null;
    /** Whether the refused key is another than the one in the settings of this process. */
    ofOtherKey: boolean;
  } | null;
  /** Pause of all calls to the target; `asked` false: the bridge chose its length. Null: none. */
  pause: (Omit<Pause, 'until'> & { until: string }) | null;
  fleet: FleetFinding[];
  /** Settings of the target; `protected`: users.protected lists the person. */
  policy: Pick<SyncPolicy, 'policy' | 'adopt'> &
    Pick<SyncPolicy['users'], 'deprovision' | 'deleteAfterDays' | 'activation'> & { protected: boolean };
  /** End and outcome of the last reconcile of the target; null: none yet. */
  lastReconcile: { at: string; outcome: string } | null;
  /** Handover of the work of a closed account: planned, begun, done, or taken back; null: none. */
  handover: HandoverExplanation | null;
  /**
   * Time of the connection's last restore, and the backup in words, `the backup of TIME`; null: none, or a reconcile has
   * converged since.
   */
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
