// Tells in words why a membership waits, is left out, or is kept, for the descriptions of memberships
// (memberships-of-user.ts, members-of-group.ts). Signs of pending memberships (docs/glossary.md): `+` to gain, `-` to lose, `r` a
// kept removal, which a decision or a protection keeps from being written.
import { conditionText } from '../directory/outbox/condition-text.ts';
import type { MemberDecision } from '../directory/guard/guard-store.ts';
import type { Link } from '../directory/outbox/link.ts';
import { fold, type Ref } from '../directory/records.ts';
import type { RemovalStop } from '../reconcile/unwritten/removal-stops.ts';
import { wasBehindHold } from '../sync/gate.ts';
import { counted } from '../support/counted.ts';
import { isoTime } from '../support/sources.ts';
import type { MembershipState } from './explanation.ts';

/** Start of the cause of a membership in a group that has another name at the platform. */
export const STILL_CALLED = 'the group is still called ';

/** Returns whether the person is in the group already, and the membership waits for the desired name of the group. */
export const isUnderFormerName = ({ because }: MembershipState): boolean =>
  because?.startsWith(STILL_CALLED) === true;

/** The cause of a membership in a group that the settings leave out. */
export const LEFT_OUT_MEMBERSHIP = { because: 'left out by groups.include or groups.exclude' };

/** The cause of a kept removal (sign `r`) that no person rejected. */
export const PROTECTED = {
  because: 'the person is protected: it is written after that',
  condition: 'Protected',
};

/** Part of the cause of a change whose approval has expired. */
export const EXPIRED = { condition: 'Held', isExpired: true } as const;
/** The cause of a removal that waits for a decision or was rejected: the platform keeps the member. */
export const REMOVAL = {
  held: { because: 'the guard holds the removal', condition: 'Held' },
  expired: { ...EXPIRED, because: 'the approval of the removal has expired, and the guard judges it anew' },
  rejected: { because: 'a person rejected the removal', condition: 'Rejected' },
} as const;

/** The cause of a removal from a group whose deletion waits for a decision or was rejected. */
export const DELETION = {
  held: { because: 'the guard holds the deletion of the group', condition: 'Held' },
  expired: {
    ...EXPIRED,
    because: 'the approval of the deletion of the group has expired, and the guard judges it anew',
  },
  rejected: { because: 'a person rejected the deletion of the group', condition: 'Rejected' },
} as const;

/** Returns the cause of an addition of a person whose removal from another group is stopped; empty for other people. */
export function movingOf(
  ref: Ref,
  stop: RemovalStop | undefined,
): Pick<MembershipState, 'because' | 'condition'> {
  if (stop === 'heldRemoval')
    return { because: 'the guard holds the removal from another group', condition: 'Held' };
  if (stop === undefined) return {};
  const because = `the removal from another group, which needs a person, comes first: scim-bridge explain ${ref} names the group`;
  return { because, condition: 'Refused' };
}

/** The cause of a removal that is written with the deactivation; the approval lists only the deactivation. */
export const FOLLOWING = {
  because: 'leaves with the account, whose deactivation the guard holds',
  condition: 'Held',
} as const;

/** The cause of a removal that is kept because the deactivation of a deleted person was rejected. */
export const KEPT_WITH_ACCOUNT = {
  because: 'stays with the account, whose deactivation a person rejected',
  condition: 'Rejected',
} as const;

/** Decision about the member's account → cause that stops the removal; others stop none. */
export const WITH_ACCOUNT: Partial<Record<MemberDecision, typeof FOLLOWING | typeof KEPT_WITH_ACCOUNT>> = {
  follows: FOLLOWING,
  rejected: KEPT_WITH_ACCOUNT,
};

/**
 * Returns the link of a group; an empty one if the condition is a decision, which may be about another member. A group behind the
 * held change of another resource keeps its condition: all its memberships wait.
 */
const withoutDecision = (group: Link): Link =>
  /^(Held|Rejected)$/.test(group.condition?.reason ?? '') && !wasBehindHold(group) ? {} : group;

/** Reasons of conditions whose sync is retried by itself. */
const PASSING = new Set(['NotApplied', 'NameTaken']);

/**
 * Returns the cause of a membership that waits because the other resource has a condition; empty without a condition.
 * @param settings print of the present settings of the target
 */
export function causeOfCondition(
  { condition }: Link,
  settings: string,
): Pick<MembershipState, 'because' | 'condition' | 'triedSince'> {
  if (!condition) return {};
  const { reason, since } = condition;
  const because = conditionText(condition, settings);
  return PASSING.has(reason) ? { because, triedSince: isoTime(since) } : { because, condition: reason };
}

/** Returns the cause of a membership that waits for the sync of its group: the group's condition, or else its last failures. */
export function causeOfGroup(group: Link, settings: string): ReturnType<typeof causeOfCondition> {
  const cause = causeOfCondition(withoutDecision(group), settings);
  const { attempts = 0, lastFailure, successionAttempts } = group;
  if (cause.because === undefined && successionAttempts !== undefined)
    return { because: 'the platform does not give the group its name yet; it is tried again' };
  if (cause.because !== undefined || attempts === 0 || lastFailure === undefined) return cause;
  return {
    because: `${counted(attempts, 'attempt')} to write the group failed in a row; it is tried again. The last failure: ${lastFailure}`,
  };
}

/** Returns why the bridge writes no membership of a user; undefined: it does, or the next sync of a marked user finds out. */
export function whyOutside({ id, condition, departed }: Link, marked: boolean): string | undefined {
  if (condition?.reason === 'Protected') return 'the bridge writes no membership of a protected person';
  if (marked) return undefined;
  // A user in scope has an account, or a condition that says why there is none.
  const isInScope = !departed && (id !== undefined || condition !== undefined);
  return isInScope ? undefined : 'outside users.scope';
}

/** Returns the name of a linked group at the platform; undefined: it is the desired one, or not known. */
export function formerName({ id, core }: Link, wanted: string | undefined): string | undefined {
  const name = id === undefined ? undefined : core?.displayName;
  return typeof name === 'string' && wanted !== undefined && fold(name) !== fold(wanted) ? name : undefined;
}

/** Returns why a desired member cannot be added yet; undefined: only the sync of the group is to come. */
export function whyNotReady(link: Link, settings: string): string | undefined {
  if (link.condition) return conditionText(link.condition, settings);
  if (link.id === undefined) return 'has no account at the target yet';
  return link.departed ? 'has left this target' : undefined;
}
