// Texts of the reasons why no sync writes a change, and the tests that recognise an entry by its text: an entry has no other
// field that says why it is only reported.
import { WAITS_FOR_USER } from '../compare/group-case.ts';
import { needsMark, type PlanEntry } from '../entry.ts';
import type { MembershipWait } from './waiting-for-decision.ts';

/** Reason of an entry for a change that the guard holds. */
export const HELD_BY_GUARD =
  'held by the guard until an operator decides or the approval expires: see scim-bridge approvals list';
/**
 * Reasons of entries that no sync writes, by cause. `isOfDecision` and `becomesPending` recognise an entry by these texts and those
 * of MEMBERSHIP_WAITS: with a new text, look at both.
 */
export const UNWRITTEN_REASONS = {
  rejected: 'rejected by an operator, so it is not written: see scim-bridge exceptions',
  held: HELD_BY_GUARD,
  keptMember:
    'a person rejected the removal of a member, which the deletion would carry out: see scim-bridge exceptions',
  afterHeld:
    'the account is deleted after its deactivation, which the guard holds: see scim-bridge approvals list',
  afterRejected:
    'the account is deleted after its deactivation, which an operator rejected: see scim-bridge exceptions',
  kept: 'the present settings leave this membership, and the next sync of the group ends the removal without a write',
  protected: 'the person is listed in users.protected, so it is not written',
};
/** Text after the reason of a pending membership that waits. An addition of a leaver needs none: it is in no plan. */
export const MEMBERSHIP_WAITS: Record<Exclude<MembershipWait, 'leaver'>, string> = {
  held: '; waits for the held account: see scim-bridge approvals list',
  heldRemoval:
    '; waits for the held removal of the person from another group: see scim-bridge approvals list',
  refusedRemoval:
    '; waits for the removal of the person from another group, which needs a person: scim-bridge explain of this person names the group',
  refused: `${WAITS_FOR_USER}, and for the held removal of the person from another group: see scim-bridge approvals list`,
  rejected: '; waits for the account, whose change an operator rejected: see scim-bridge exceptions',
};
/** Text after the reason of an attribute value of a person whose deactivation is held. */
export const BEHIND_CLOSING =
  '; waits for the held deactivation of the person: see scim-bridge approvals list';
/** Text after the reason of a change that waits until another resource, whose own change is held, gives up its name or account. */
export const BEHIND_NAME =
  '; waits for a held change of the user or group that has the name or account now: see scim-bridge approvals list';

/** Text after the reason of an activation: the sync ends before it while the guard holds the emptying of a value (sync-user.ts). */
export const BEHIND_EMPTYING =
  '; waits for the held emptying of an attribute of the person: see scim-bridge approvals list';

/**
 * Returns whether the reason names a held or rejected change, or a change that waits for the decision about another one. All texts
 * above that are about a decision name one of these commands, and no other reason does.
 */
export const isOfDecision = (reason: string): boolean => /scim-bridge (approvals|exceptions)/.test(reason);

/**
 * Returns whether a run makes the reported addition or change of a person pending, so that it is written after the decision for
 * which it waits. Without a pending sign or a mark only a later comparison would find the difference again.
 */
export const becomesPending = (entry: PlanEntry): boolean =>
  (entry.action === 'addMember' || entry.kind === 'User') &&
  entry.effect === 'report' &&
  [...Object.values(MEMBERSHIP_WAITS), BEHIND_EMPTYING].some((text) => entry.reason.endsWith(text)) &&
  needsMark({ ...entry, effect: 'apply' });
