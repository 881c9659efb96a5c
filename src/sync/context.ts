// Defines the context of one running sync: its work, its link, and the functions that save and log each step.
import type { Directory } from '../directory/resources/directory.ts';
import type { HandoverStore } from '../directory/outbox/handover-store.ts';
import type { Link } from '../directory/outbox/link.ts';
import type { Links } from '../directory/outbox/links.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import type { SaveOptions } from '../directory/outbox/work.ts';
import type { DueWork } from '../directory/outbox/due-work.ts';
import type { Ref } from '../directory/records.ts';
import type { Destruction } from '../directory/guard/held-changes.ts';
import type { Permission } from '../directory/guard/guard-store.ts';
import type { DestructiveKind } from '../guard/judge.ts';
import type { CallOptions } from '../platform/client.ts';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import type { ProvisioningWriter, Why, WriteDetail } from './provisioning-writer.ts';
import type { Target } from './target.ts';
import type { ShownAccount } from './user/user-list.ts';

/**
 * Findings of one sync about its changes: decisions of the guard (gate.ts), resources that it waits for, and what happened to the
 * account.
 */
export interface Gate {
  /** Destructive writes that the guard refused. */
  refused: { item: Destruction; permission: Exclude<Permission, 'allowed'> }[];
  /** Kinds of changes that this sync does not make yet. The guard keeps its decisions about them after the sync (`endSync`). */
  postponed: DestructiveKind[];
  /** Whether the guard held a change anew in this sync, because an earlier approval or hold of the change has expired. */
  isHeldAgain: boolean;
  /** Number of removals of members that wait for the decision about the deactivation of the member's account. */
  followers: number;
  /** Number of members who were deleted at the source and stay, because a person rejected the deactivation of their account. */
  keptLeavers: number;
  /** Whether the deactivation is held because no other active administrator would be left. */
  isLastAdministrator: boolean;
  /** Whether the open account that this sync is to close is that of a leaver: deleted at the source, or out of scope. */
  isLeaver: boolean;
  /** Sentences about attributes that this sync cannot write. */
  faults: string[];
  /** Remark for the log entry when the account is closed. */
  remark?: Why;
  /** Whether this sync deactivated the account, or found that somebody else had closed it. */
  closed: boolean;
  /** The resource whose held change this resource waits for; null: there is none; absent: not asked yet. */
  heldHolder?: Ref | null;
  /**
   * The resource that has the name or account which this resource waits for. `isMarked`: a sync of the holder is pending.
   * `pendingSince`: start of the pending sync of the holder, or of a group that is to remove it (Unix milliseconds).
   */
  holder?: { ref: Ref; isMarked: boolean; pendingSince?: number | undefined };
}

/**
 * A write that failed. `names`: the values that it would have written, as in `SyncContext.attempt`; `members` as in
 * `SyncContext.failedWrite`.
 */
interface FailedWrite {
  operation: string;
  error: unknown;
  names?: readonly string[];
  members?: readonly string[];
}

/** The state of one running sync, and the functions that its steps call. */
export interface SyncContext {
  /** The lease, and the stored state that was read together with it. */
  work: DueWork;
  /** Link of the resource, changed in place as the platform confirms steps. */
  link: Link;
  target: Target;
  outbox: Outbox;
  links: Links;
  /** Desired state of other resources: read only. */
  directory: Pick<Directory, 'get' | 'lookup' | 'identifies' | 'groupsOf' | 'tombstone'>;
  /** Handovers of closed accounts at this target: read only. */
  handovers: Pick<HandoverStore, 'heads'>;
  clock: Clock;
  logger: Logger;
  /** Options of every platform call: abort signal, correlation id of the push, and whether the call is urgent. */
  call: CallOptions & { signal: AbortSignal };
  gate: Gate;
  provisioning: ProvisioningWriter;
  /**
   * The linked account as the platform showed it in this sync. `number`: the numeric account id that was found for it
   * (console-account.ts). Absent: not read yet, or its userName was written since.
   */
  shownAccount?: { user: ShownAccount; number?: string };
  /** Whether the platform answered the combined PATCH of this sync with 400 (write-account.ts). */
  isCombinedPatchRefused?: boolean;
  /** Number of writes that the platform answered with success. */
  writes: number;
  /** Whether the platform has carried out a write of the userName or the group name in this sync. */
  hasWrittenName?: boolean;
  /**
   * The last write that failed, such as `delete user`, with its error. `members`: the members that the write would have added or
   * removed, in the form of LinkedMember.user (group/member-writes.ts).
   */
  failedWrite?: FailedWrite;
  /**
   * Refusals of single members, as one failed write with the first error. It is thrown after all other members of the group are
   * written (group/members.ts), so that one refused member stops no other. `members`: the refused members of the first operation
   * (addition or removal). `inARow`: number of refusals since the last member that was written.
   */
  refusedMembers?: FailedWrite & { members: string[]; error: Error; inARow: number };
  /** Refused members whose accounts the platform does not show; judged after all others, by one list (refused-members.ts). */
  goneMembers?: (FailedWrite & { member: { user: string; platformId: string }; error: Error })[];
  /** Saves the link and extends the lease; called after every step that must not be lost. */
  save(options?: SaveOptions): Promise<void>;
  /**
   * Sends a write of `names` (core paths, `attributes.<name>`) through `write`. The link stores the names as unsure before the
   * call, until the answer arrives. The caller then updates and saves the link. `operation`: a key of ACTIONS
   * (provisioning-writer.ts). `why`: remark for the log entry. `ignoredText`: returns how the answer shows that the platform did
   * not carry out the write; undefined: the platform did.
   * @throws WriteIgnored when the write was not carried out; the names stay unsure
   */
  attempt<T>(
    names: string[],
    operation: string,
    run: () => Promise<T>,
    options?: { why?: Why | undefined; ignoredText?: (answer: T) => Promise<string | undefined> },
  ): Promise<T>;
  /**
   * Sends one write, and logs and counts it.
   * @param detail changes for the log entry, or a function that returns them from the answer, or returns 'ignored' when the
   *   platform answered success and did not carry out the write
   * @throws LeaseLost before the write when this process no longer has the lease
   */
  write<T>(
    operation: string,
    run: () => Promise<T>,
    detail?: WriteDetail | ((answer: T) => Promise<WriteDetail | 'ignored'>),
  ): Promise<T>;
}
