// Gives the reasons for which the account of a user differs from the desired one, as words of verify-access (`becauseOf`). They are
// causes in the account or the target (`causesInAccount`), and causes in the groups of the user (`differingGroups`). Pure.
import { deletionText } from '../directory/outbox/condition-text.ts';
import {
  missingGroups,
  otherwiseCalled,
  stillIn,
  unwrittenGroups,
  waitingText,
} from './access-differences.ts';
import type { LeavingGroup } from './desired-access.ts';
import type { Facts } from './facts.ts';
import { isChangeWaiting } from './waiting-change.ts';

/** Returns the rest of a sentence about an account that the bridge does not manage; '' for a managed one. */
export const unmanagedText = ({ unlinked }: Facts): string =>
  unlinked?.kind === 'found' ? `; the bridge does not manage this account: ${unlinked.why}` : '';

/**
 * Returns why the account differs, as the rest of a sentence that begins with `: ` or `; `. Without a known cause the text names
 * the command that tells more.
 */
export function becauseOf(facts: Facts): string {
  const { unlinked, stop } = facts;
  if (unlinked?.kind === 'found') return `${unmanagedText(facts)}${stop === undefined ? '' : `; ${stop}`}`;
  const groups = differingGroups(facts);
  const ofAccount = causesInAccount(facts, groups);
  const ofGroups = [...groups.renaming.map(renamingText), ...groups.unwritten];
  const command = `scim-bridge explain ${facts.person.ref}`;
  // A cause in a group does not explain why values are not written.
  const isPartlyTold = ofAccount.length === 0 && ofGroups.length > 0 && hasWaitingValues(facts);
  const causes = [
    ...ofAccount,
    ...ofGroups,
    ...(isPartlyTold ? [`${command} tells what the other changes wait for`] : []),
  ];
  if (causes.length > 0) return `: ${causes.join('; ')}`;
  return isChangeWaiting(facts)
    ? `: ${command} tells what the change waits for`
    : `: no reason is stored, and ${command} tells more`;
}

/** Returns whether the platform shows the account, and it is active. */
const isOpen = ({ reading }: Facts): boolean => reading?.view.active === true;

/**
 * Returns the groups because of which the account differs. `leaving`: it has to leave them. `renaming`: they have another name at
 * the platform. `unwritten`: sentences about those whose sync was refused or waits. A closed account gives no access by a group.
 */
function differingGroups(facts: Facts) {
  const { wanted, reading, differences } = facts;
  const compared = wanted.kind === 'open' || isOpen(facts) ? reading : undefined;
  const hasGroups = differences.some(({ name }) => name === 'groups');
  return {
    leaving: compared ? stillIn(wanted.leaving, compared) : [],
    renaming: compared ? otherwiseCalled(wanted, compared) : [],
    unwritten: hasGroups ? unwrittenGroups(wanted, reading) : [],
  };
}

/**
 * Returns the causes in the account or the target: the condition of the user, attribute definitions of another type, the former
 * account of a re-hired person, a waiting or rejected deactivation, unwritten removals from groups, the policy of the target, a
 * stop of all writes, a missing worker.
 */
function causesInAccount(facts: Facts, { leaving, unwritten }: ReturnType<typeof differingGroups>): string[] {
  const { wanted, reading, unlinked, stop } = facts;
  const ofCondition = conditionText(facts);
  // If there is a condition, it already names the state of the deactivation.
  const closing = wanted.kind === 'closed' && ofCondition === undefined ? wanted.closing : undefined;
  const isPending = leaving.some(({ state }) => state === 'pending') || unwritten.length > 0;
  const isWaiting = isChangeWaiting(facts) || isPending;
  return [
    ofCondition,
    // A condition may have the reason already.
    ...facts.typeConflicts.filter((reason) => ofCondition?.includes(reason) !== true),
    unlinked?.kind === 'former' ? unlinked.why : undefined,
    closing && CLOSING_WORDS[closing],
    waitingText(wanted, reading),
    ...leaving.map(leavingText),
    leftByPolicyText(facts),
    stop,
    facts.lacksWorker && stop === undefined && isWaiting ? NO_WORKER : undefined,
  ].filter((text) => text !== undefined);
}

/** Returns the cause that the condition of the user names; undefined: there is none, or it does not concern a closed account. */
function conditionText(facts: Facts): string | undefined {
  const { condition } = facts.link;
  if (!condition) return undefined;
  // A value that cannot be mapped stops the opening of an account, never its closing. At an open account the value may differ.
  const isAboutValues = condition.reason === 'AttributesNotWritten';
  if (isAboutValues && facts.wanted.kind === 'closed' && !isOpen(facts)) return undefined;
  const introduction = IN_PLATFORM_WORDS.has(condition.reason)
    ? 'the platform refused the last change: '
    : '';
  return `${introduction}${condition.message}${deletionText(condition, facts.deletesLeavers)}`;
}

/** Cause of a pending change that waits for a worker. */
const NO_WORKER = 'no worker runs: start scim-bridge serve --role worker, or all';

/** Returns whether a value or the state of the account differs, and a sync is to come. */
const hasWaitingValues = (facts: Facts): boolean =>
  isChangeWaiting(facts) && facts.differences.some(({ name }) => name !== 'groups');

/**
 * Returns the words for a difference that the policy of the target forbids to write; undefined: the policy allows it, or is not the
 * cause, because a change waits, there is a condition, or the account or a group is incomplete.
 */
function leftByPolicyText({
  differences,
  isMarked,
  link,
  policy,
  wanted,
  reading,
}: Facts): string | undefined {
  if (isMarked || link.id === undefined || link.isIncomplete || link.condition) return undefined;
  const hasGroups = differences.some(({ name }) => name === 'groups');
  const missing = hasGroups ? missingGroups(wanted, reading) : [];
  if (policy === 'create-only' && missing.every(({ isComplete }) => isComplete))
    return 'the policy create-only changes no account or group that exists';
  const isOnlyOpen = differences.every(({ name, desired }) => name === 'active' && desired === false);
  return policy === 'upsert-only' && isOnlyOpen ? 'the policy upsert-only closes no account' : undefined;
}

/** Reasons of conditions whose message is only the answer of the platform. */
const IN_PLATFORM_WORDS: ReadonlySet<string> = new Set(['Refused', 'Forbidden']);

/** The next step of a change whose approval has expired. */
const JUDGED = 'the guard judges it anew with the next sync';

const CLOSING_WORDS = {
  rejected: 'a person rejected the deactivation',
  held: 'the guard holds the deactivation',
  expired: `the approval of the deactivation has expired, and ${JUDGED}`,
};

const LEAVING_WORDS: Record<Exclude<LeavingGroup['state'], 'surplus'>, string> = {
  rejected: 'a person rejected the removal from',
  held: 'the guard holds the removal from',
  expired: `the approval has expired, and ${JUDGED}: the removal from`,
  pending: 'a removal waits to be applied, from',
  withHeldAccount: 'the removal is written with the held deactivation, from',
  withAccount: 'the membership stays with the account, in',
  unconfirmed: 'the platform answered success to the removal and still has the person, in',
};

const leavingText = ({ name, state, reason = '', refused }: LeavingGroup): string => {
  if (refused !== undefined) return `the removal from ${name} is not written: ${refused}`;
  return state === 'surplus' ? `the group ${name}: ${reason}` : `${LEAVING_WORDS[state]} ${name}`;
};

const renamingText = ({ name, actual }: { name: string; actual: string }): string =>
  `the group ${name} is still called ${actual} at the platform, so the account has the access of ${actual}`;
