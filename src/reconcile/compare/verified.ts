// Defines the findings about one user or group, with the facts that the later steps of a plan need.
import type { Condition } from '../../directory/outbox/link-condition.ts';
import type { AppliedLink, ConfirmedRemovals } from '../../directory/outbox/drift.ts';
import type { Ref } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import type { ObservedAccount } from './compare.ts';
import type { DoneChanges } from './done-changes.ts';
import type { PlanEntry } from '../entry.ts';

/** A group of the platform, with its name there. */
export interface GroupOfAccount {
  id: string;
  name: string;
}

/** Findings about one resource, with the facts that decide the cause of a difference (attribution.ts). */
export interface VerifiedResource extends UserFacts, GroupFacts {
  ref: Ref;
  entries: PlanEntry[];
  /** Version of the record that was compared; 0: there is none. Undefined: nothing was compared. */
  version?: number;
  /** Time of the last change at the platform, ISO 8601. */
  changedAt?: string | undefined;
  /** Time of the bridge's last write, Unix milliseconds. */
  writtenAt?: number | undefined;
  /** Refusal of the last sync, if no mark is pending. */
  refusal?: Condition | undefined;
  /** Held or rejected changes that the platform has already. */
  done?: DoneChanges | undefined;
  /** Without a difference: the link, with values that the platform has already and the stored link lacks. */
  asApplied?: AppliedLink | undefined;
}

/** Facts that only users have; absent in the findings about a group. */
interface UserFacts {
  /** The linked account as it was read for the comparison. */
  account?: ObservedAccount | undefined;
  /** The attribute values could not be read, so that only the rest was compared. */
  areValuesUnread?: boolean;
  /** Groups of the account, or of the account that is to be adopted. */
  memberOf?: readonly GroupOfAccount[] | undefined;
  /** The user comes back into scope, so its sync writes all memberships again. */
  isReturning?: boolean;
  /** The user is out of scope, or the source deleted the user, so no sync adds a membership. */
  isOut?: boolean;
  /** The mapping of an attribute fails; only the next sync stores this in the link (condition). */
  isUnmappable?: boolean;
  /** Why the sync will refuse to adopt the account that it finds. */
  notAdopted?: string | undefined;
}

/** Facts that only groups have; absent in the findings about a user. */
interface GroupFacts {
  /** `hashOfLink` of the link before the read of the platform; absent: the settings leave the group out. */
  linkHash?: string;
  /** Platform id of a linked group that the settings now leave out; only the next sync notes this in the link. */
  leftOut?: string;
  /** As in GroupCase. Only a sync ends this state, so the group is marked even without a difference. */
  needsMemberReview?: boolean;
  /** Whether the member list was read. */
  isMembersRead?: boolean;
  /** Members at the source whose account the platform does not have any more, so that the group lacks them. */
  membersGone?: Ref[];
  /** Members whose pending addition or removal somebody else has already made at the platform. */
  pendingDone?: readonly Ref[];
  /** Number of pending, held and rejected removals of members that were not looked up, because they are too many. */
  removalsUnread?: number;
  /** Members whose unconfirmed removal this read confirms. */
  confirmed?: ConfirmedRemovals | undefined;
  /** Members (member-names.ts) with an unconfirmed removal of whom this comparison does not know whether they are in the group. */
  leaversUndecided?: ReadonlySet<string>;
  /** Platform ids of unmanaged members whose removal is pending, held or rejected; they have no entry. */
  unmanagedLeavers?: ReadonlySet<string>;
}

/** Returns the groups that the platform names for an account; undefined without an account. */
export const groupsOfAccount = (account: WireUser | undefined): GroupOfAccount[] | undefined =>
  account &&
  (account.groups ?? []).map(({ value, display }) => ({ id: String(value), name: display ?? String(value) }));
