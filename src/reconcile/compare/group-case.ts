// Defines what a comparison knows of one group, and the fields that all plan entries of the group share. Pure.
import type { Link } from '../../directory/outbox/link.ts';
import type { Condition } from '../../directory/outbox/link-condition.ts';
import type { Ref } from '../../directory/records.ts';
import type { WireGroup } from '../../platform/wire.ts';
import type { SyncPolicy } from '../../sync/target.ts';
import type { Basis, Cause, PlanEntry } from '../entry.ts';

export interface Member {
  /** Null: an unmanaged account. */
  ref: Ref | null;
  /** Null: a user without account. */
  platformId: string | null;
  name: string;
}

/** A member whom the source does not have in the group. */
export interface SurplusMember extends Member {
  /** The account is in `users.protected` or owns the API key, so no run removes it. */
  isKept?: true;
}

/** Differences between the source's members and the platform's. */
export interface MemberDifferences {
  /** Managed members that the platform lacks. */
  missing: Member[];
  /** Missing members whose account the platform does not have any more. */
  gone?: ReadonlySet<Ref | null>;
  /** Members at the platform that the source does not have. */
  surplus: SurplusMember[];
}

/** Stored state of a group, and the observed one. */
export interface GroupCase {
  ref: Ref;
  link: Link;
  basis: Basis;
  /** Whether the group has a mark, so that a sync of it is due or under way. */
  marked: boolean;
  /**
   * Pending changes of members may be lost, or were never written. Each difference of a managed member may be one of them: a member
   * whom the platform lacks counts as not added yet, and one that the source does not have as not removed yet, also under
   * `groups.members: owned`.
   */
  isLost: boolean;
  /**
   * The next sync compares all members (`compareMembersAnew` in sync/group/left-members.ts), because no sync wrote their changes
   * meanwhile: the group comes back into scope, or the policy is `sync` again. The link lists the leavers, unless `isLost`.
   */
  needsMemberReview: boolean;
  /** Desired name at the target; undefined when the group is out of scope. */
  wantedName: string | undefined;
  /** True: the source deleted the group. */
  isDeleted: boolean;
  /** Undefined: the platform does not have the group. */
  observed: WireGroup | undefined;
  /** An unmanaged group at the platform with the desired name. */
  namesake?: { id: string; name: string } | undefined;
  /** Why the sync will be refused: another group of the source, or of another connection, has the name. */
  takenBy?: string | undefined;
  /** Undefined when the members were not read. */
  members?: MemberDifferences | undefined;
  /** Names (member-names.ts) of members whose removal was written and that no answer or read has confirmed. */
  unconfirmed: ReadonlySet<string>;
  /** Ids of the users whose addition was never sent to the platform (`unsentMembers` in directory/keys.ts). */
  unsent: ReadonlySet<string>;
  /** Members of the group to be adopted who are not at the source and whom the settings do not leave there. */
  surplusThere?: Member[] | undefined;
  /**
   * Pending memberships with their signs (pending membership in docs/glossary.md), and the refusal of the member's own last sync.
   * `isTakenOut`: no push ordered the addition, but a comparison that found the member taken out at the platform.
   */
  pending: { member: Member; sign: string; refusal?: Condition | undefined; isTakenOut?: boolean }[];
}

export interface GroupRules {
  policy: SyncPolicy;
  /** Time of the comparison, Unix milliseconds. */
  now: number;
}

/** Texts after the reason of a membership that cannot be written yet. */
export const WAITS_FOR_GROUP = '; waits for the group, which needs a person';
export const WAITS_FOR_USER = '; waits for the user, who needs a person';

/** Returns the name at the target: the desired one, or the last known; '' if neither is known. */
const nameOf = ({ wantedName, observed, link }: GroupCase): string =>
  wantedName ?? observed?.displayName ?? String(link.core?.displayName ?? '');

/** Returns the fields that all entries of a group share. */
export function groupFields(
  group: GroupCase,
  cause: Cause,
  effect: PlanEntry['effect'] = 'apply',
): Omit<PlanEntry, 'action' | 'before' | 'after' | 'reason'> {
  return {
    kind: 'Group',
    ref: group.ref,
    platformId: group.link.id ?? null,
    name: nameOf(group),
    effect,
    attribution: { cause },
    basis: group.basis,
  };
}

/** Returns whether the policy `create-only` leaves the group as it is: it writes only to a group that the bridge is making. */
export const isLeftByCreateOnly = ({ link, namesake }: GroupCase, { policy }: GroupRules): boolean =>
  policy.policy === 'create-only' &&
  link.isIncomplete !== true &&
  (link.id !== undefined || namesake !== undefined);
