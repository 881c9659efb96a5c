// Gives one sentence of advice for each reason why a resource is not as desired; the runbook has more.
import type { LogStatus } from '../directory/logs/provisioning-log.ts';
import type { Condition } from '../directory/outbox/link-condition.ts';
import type { Ref } from '../directory/records.ts';
import { TYPE_ADVICE } from '../sync/mapping/catalogue.ts';
import { LINKED_TWICE } from '../sync/names/taken-by-connection.ts';
import { HOLDER_REFUSED } from '../sync/names/taken-name.ts';
import { OWNER_OF_KEY } from '../sync/target.ts';
import type { ApprovalIds } from './approvals/approval-ids.ts';

/** Facts that the commands of an advice contain, so that an operator can copy the commands. */
export interface AdviceFacts {
  ref: Ref;
  /** Undefined: not read, so the advice names the command that lists approvals. */
  approvals?: ApprovalIds | undefined;
  /** Advice of `expiredFor` (approvals/approval-ids.ts); undefined: an operator can decide about the held changes. */
  expired?: string | undefined;
  status?: LogStatus;
  /** Undefined: the advice has `<name>` in its place. */
  target?: string | undefined;
  /** Message of the condition, which tells why an account is protected or an attribute is not written. */
  message?: string | undefined;
  /** The refused write, if no value at the identity provider mends it. */
  write?: Condition['write'];
}

/**
 * Returns the advice for a reason.
 * @param reason reason of a condition or of a log entry
 */
export function adviceFor(reason: string, facts: AdviceFacts): string {
  return (
    ADVICE[reason]?.(facts) ?? (facts.status === 'retry' ? 'Nothing: it is tried again.' : 'See the runbook.')
  );
}

/** Advice for each reason. */
const ADVICE: Record<string, (facts: AdviceFacts) => string> = {
  // A definition of another type is mended by the settings (TYPE_ADVICE), never by a value of the identity provider.
  AttributesNotWritten: (facts) =>
    facts.message?.startsWith('attribute ') && facts.message.endsWith(TYPE_ADVICE)
      ? `Restart with the corrected settings, ${thenRetry(facts)}`
      : `Correct the value at the identity provider or the mapping, ${thenRetry(facts)}`,
  AmbiguousAccount: (facts) => `Leave one account with this userName at the platform, ${thenRetry(facts)}`,
  AccountNotFound: () => 'Check that the platform key may read users.',
  Conflict: conflictAdvice,
  NotAdopted: (facts) =>
    `Set targets.${targetIn(facts)}.adopt to exact and restart, to take it over; or rename or delete one of the two. In both cases ${thenRetry(facts)}`,
  TemporaryName: (facts) =>
    `Rename the group at the platform to the name that it is to have, or ${facts.message?.includes('deleted at the source') ? 'delete it there' : `take it back into targets.${targetIn(facts)}.groups and restart`}, ${thenRetry(facts)}`,
  TakenByConnection: takenAdvice,
  Forbidden: (facts) =>
    `Check the rights of the platform key and whether this is the last administrator, ${thenRetry(facts)}`,
  Refused: (facts) =>
    facts.write
      ? refusedWriteAdvice(facts.write, facts)
      : 'Correct the value at the identity provider: the platform does not accept it.',
  Held: ({ approvals, expired }) =>
    expired ??
    (approvals?.held === undefined
      ? 'See scim-bridge approvals list, then approve or reject.'
      : `See scim-bridge approvals show ${approvals.held}, then approve or reject.`),
  LastAdministrator: ({ ref, approvals, expired }) => {
    if (expired !== undefined) return expired;
    const approve =
      approvals?.held === undefined
        ? 'approve the deactivation: see scim-bridge approvals list.'
        : `scim-bridge approvals approve ${approvals.held} --ref ${ref}.`;
    return `Make somebody else an administrator at the platform, then ${approve}`;
  },
  Rejected: (facts) => `Nothing, unless the decision was wrong: ${withdrawAdvice(facts)}.`,
  Protected: (facts) =>
    facts.message?.startsWith(OWNER_OF_KEY)
      ? `Nothing, if it is meant so; else give the target a platform key of another account. If the new key has no owner, order scim-bridge sync ${facts.ref} after that.`
      : `Nothing, if it is meant so; else take the name out of targets.${targetIn(facts)}.users.protected and restart.`,
  LeftByPolicy: (facts) =>
    `Nothing, if the policy is meant so; else set targets.${targetIn(facts)}.policy to sync and restart.`,
  MadeByOthers: () => 'Nothing: the platform is as the source wants it.',
  OutOfScope: () => 'Nothing, if the scope is meant so; else correct users.scope or the group names.',
  RecordDamaged: () =>
    'Push it again at the identity provider, as a whole: its stored record cannot be read.',
  RecordLost: () => 'Push it again at the identity provider: nothing is taken away for want of its record.',
  NameTaken: () => 'Nothing: the change follows as soon as the name is free.',
  NotApplied: () => 'It is tried again; if it stays, ask the operator of the platform.',
  PlatformFailed: () => 'Nothing: it is tried again until the platform answers.',
};

/** Words of conflicts whose message names the holder and what to do about that account (find-user.ts, taken-name.ts). */
const HOLDER_TOLD = [
  'userName is already taken by the account of',
  'is already taken by the group of',
  'the account is still that of',
];

function conflictAdvice(facts: AdviceFacts): string {
  const { message = '', write } = facts;
  if (write) return refusedWriteAdvice(write, facts);
  if (message.includes(HOLDER_REFUSED))
    return 'Correct the dead letter that the message names last: this change follows by itself.';
  if (HOLDER_TOLD.some((words) => message.includes(words)))
    return `Do what the message says, ${thenRetry(facts)}`;
  return `Decide which account or group is meant, rename or delete the other, ${thenRetry(facts)}`;
}

/** Returns the advice for an account or group that another connection of the target has. */
function takenAdvice(facts: AdviceFacts): string {
  if (facts.message?.includes(LINKED_TWICE))
    return `Decide which of the two is to have it, order what the message says, ${thenRetry(facts)}`;
  if (facts.ref.startsWith('Group:'))
    return `Rename one of the two; or delete it at the identity provider of the other connection, which is more than to unassign it, ${thenRetry(facts)}`;
  return `If they are two people, correct at its identity provider what the message names. If they are one, delete the person (to unassign is not enough) at the identity provider of the other connection, and take the further steps of the message. In both cases ${thenRetry(facts)}`;
}

/** Returns the advice for a refused deactivation, deletion or change of members. Nothing at the identity provider can mend it. */
const refusedWriteAdvice = (write: NonNullable<Condition['write']>, facts: AdviceFacts): string =>
  write === 'members'
    ? `Ask the operator of the platform why this change of the group's members is refused, ${thenRetry(facts)}`
    : `Ask the operator of the platform why it is refused, or ${write === 'delete' ? 'delete it' : 'deactivate the account'} there by hand, ${thenRetry(facts)}`;

/** Returns a sentence part, without a full stop, that tells how to take the rejection of a resource back. */
export function withdrawAdvice({ ref, approvals }: AdviceFacts): string {
  const id = approvals?.rejectionOf(ref);
  return id === undefined
    ? 'scim-bridge approvals list --all names the rejection to withdraw'
    : `scim-bridge approvals withdraw ${id} --ref ${ref} takes it back`;
}

/** Returns the end of an advice: the command that syncs the resource again, also after its dead letter was dropped. */
const thenRetry = ({ ref }: AdviceFacts): string => `then scim-bridge sync ${ref}.`;

const targetIn = ({ target }: AdviceFacts): string => target ?? '<name>';
