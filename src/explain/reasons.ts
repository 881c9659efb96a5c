// Converts the facts about a resource to the sentences below the summary: reasons and advice. Pure.
import type { AttributeState, ExplainedFacts, MembershipState, PlatformDifference } from './explanation.ts';
import { holdAdvice } from '../directory/guard/operator-hold.ts';
import { answerWords, breakerWords, newKeyAdvice } from '../reconcile/breaker-words.ts';
import { EXCEPTION_WORDS, withoutGuardName } from '../reconcile/exception-words.ts';
import { UNMAPPED, unmappedAdvice } from '../reconcile/applied-attributes.ts';
import type { FleetFinding, FleetFindingKind } from '../ops/fleet.ts';
import { isUnderFormerName } from './memberships.ts';
import { counted } from '../support/counted.ts';
import {
  approvalReason,
  deletionReason,
  capital,
  firstApprovalReasons,
  guardReasons,
  isDoneByHand,
  leftReason,
  MOST_NAMED,
  noLongerWanted,
  partlyDone,
  rejectionReasons,
  someOf,
  waitingReason,
} from './guard-reasons.ts';

/** Returns the sentences that the summary does not contain already. */
export function reasonsOf(facts: ExplainedFacts, summary: string): string[] {
  const { condition, mark, hold, breaker, pause, link, guard, suspectedDrift, members, policy, lookAgainAt } =
    facts;
  const reasons: string[] = [];
  const say = (sentence: string | false | null | undefined): void => {
    if (sentence) reasons.push(sentence);
  };
  const { exception } = facts;
  // The next run ends the condition, so no person has to decide about it.
  const isDone = isDoneByHand(facts);
  say(
    exception &&
      !isDone &&
      `It is an exception since ${exception.since}, ${EXCEPTION_WORDS[exception.reason]}${noLongerWanted(facts) ? '' : ': no run changes it'}.`,
  );
  say(
    condition &&
      !isDone &&
      (summary.includes(condition.message)
        ? adviceOf(facts) && `${condition.reason}. ${adviceOf(facts)}`
        : `${condition.reason}: ${withoutGuardName(condition.message.replace(/\.$/, ''))}. ${adviceOf(facts)}`.trim()),
  );
  say(
    hold &&
      `On hold since ${hold.since} by ${hold.by}${hold.note ? ` (${hold.note})` : ''}: ${holdAdvice(facts.target, hold)}.`,
  );
  say(breaker && breakerReason(facts.target, breaker, summary));
  // A condition already names its kind of change, so the changes are counted only if there are several kinds.
  const kinds = new Set(guard.map(({ kind, state }) => `${state} ${kind}`));
  if (!isDone && (!condition || kinds.size > 1)) for (const sentence of guardReasons(facts)) say(sentence);
  say(mark && waitingFor(facts));
  for (const { message, advice } of delays(facts)) say(`${capital(message)}. ${advice}`);
  // While all calls to the target stop, another sentence says so. Without a mark no attempt follows.
  say(
    link.attempts > 0 &&
      mark !== null &&
      !breaker &&
      !pause &&
      `The platform has failed ${counted(link.attempts, 'time')} in a row; it is tried again.`,
  );
  say(
    link.waitsForName &&
      mark !== null &&
      !condition &&
      `Another ${facts.kind === 'User' ? 'person still has the userName or the account' : 'group still has the name'} at the platform and is to give it up; it is tried again.`,
  );
  say(
    link.creating &&
      (mark?.state === 'running'
        ? 'An account was asked for and no answer has come yet.'
        : 'An account was asked for and the answer was lost: it is looked for before another one is made.'),
  );
  say(membershipReason(facts));
  say(failingReason(facts, summary));
  if (!isDone) {
    say(approvalReason(facts));
    say(deletionReason(facts));
    say(waitingReason(facts));
    for (const sentence of firstApprovalReasons(facts)) say(sentence);
    for (const sentence of rejectionReasons(facts)) say(sentence);
  }
  say(noLongerWanted(facts));
  say(partlyDone(facts));
  say(leftReason(facts));
  for (const sentence of valueReasons(facts, summary)) say(sentence);
  for (const sentence of differenceReasons(facts)) say(sentence);
  for (const sentence of facts.platform?.defaults ?? []) say(`${sentence}.`);
  say(addedReason(facts));
  say(leftOutReason(facts));
  say(leftByPolicyReason(facts));
  say(leftAloneReason(facts));
  say(
    suspectedDrift.length > 0 &&
      `A comparison saw these to differ at the platform: ${someOf(suspectedDrift)}.`,
  );
  if (members && members.unknown.length > 0)
    say(
      `The identity provider has not pushed ${counted(members.unknown.length, 'member')} yet: ${someOf(members.unknown)}.`,
    );
  say(nestedReason(facts));
  // The other policies leave differences.
  say(policy.policy !== 'sync' && `The policy of this target is ${policy.policy}.`);
  // A rejection does not end by itself, so the sync at `lookAgainAt` changes nothing.
  say(
    lookAgainAt &&
      condition?.reason !== 'Rejected' &&
      exception?.reason !== 'Rejected' &&
      `It is looked at again by itself at ${lookAgainAt}.`,
  );
  return reasons;
}

/** Returns a sentence about failing calls or a refused key; '' if the summary says it. */
function breakerReason(
  target: string,
  { open, since, ...told }: NonNullable<ExplainedFacts['breaker']>,
  summary: string,
): string {
  const refusal = `${target} ${breakerWords(told)} since ${since}: ${newKeyAdvice(target, told)}`;
  if (!open) return summary.includes(refusal) ? '' : `The target ${refusal}.`;
  return `Calls to the target have failed in a row since ${since} (${answerWords(told.status)}): only probes go out until one succeeds.`;
}

/**
 * Returns the advice of the condition. A dropped dead letter gets its own advice, because it cannot be retried as a dead
 * letter. A held change gets none, because the sentence about the approval says what to do.
 */
function adviceOf({ condition, exception, ref, approval }: ExplainedFacts): string {
  if (exception?.reason === 'Dropped') return `Correct the cause, then scim-bridge sync ${ref}.`;
  return condition?.reason === 'Held' && approval !== null ? '' : (condition?.advice ?? '');
}

/** Returns a sentence with the numbers of memberships that wait; '' if there are none. Their names are listed elsewhere. */
function membershipReason({ kind, memberships, members }: ExplainedFacts): string {
  const renamed = memberships.filter(isUnderFormerName).length;
  const waiting = (state: string): number =>
    memberships.filter((each) => each.state === state && !isUnderFormerName(each)).length;
  const noun = kind === 'User' ? 'group' : 'member';
  const parts = [
    [renamed, 'to get its new name'],
    [members?.toAdd ?? waiting('toAdd'), kind === 'User' ? 'to be joined' : 'to be added'],
    [members?.toRemove ?? waiting('toRemove'), kind === 'User' ? 'to be left' : 'to be removed'],
  ] as const;
  const said = parts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${counted(count, noun)} still ${word}`)
    .join(', ');
  return said && `${capital(said)}.`;
}

/** Returns the first membership that the syncs try to write in vain. */
export const failingMembership = ({
  memberships,
}: Pick<ExplainedFacts, 'memberships'>): MembershipState | undefined =>
  memberships.find(({ triedSince }) => triedSince !== undefined);

export const TRIED_AGAIN = 'It is tried again; if it stays, ask the operator of the platform.';

/** Returns the other side of a membership, with the cause why it waits. */
export const sideText = (kind: ExplainedFacts['kind'], { name, because }: MembershipState): string =>
  `${kind === 'User' ? 'group' : 'member'} ${name}: ${because ?? ''}`;

/** A summary about other differences does not tell that a membership fails. */
function failingReason({ kind, memberships }: ExplainedFacts, summary: string): string {
  const failing = failingMembership({ memberships });
  if (!failing || summary.includes(sideText(kind, failing))) return '';
  return `A membership has failed since ${failing.triedSince ?? ''}: ${sideText(kind, failing)}. ${TRIED_AGAIN}`;
}

/** Returns sentences about values that differ, cannot be mapped, or stay against the source. */
function valueReasons(
  { values, inScope, link, target, deadLetterSince }: ExplainedFacts,
  summary: string,
): string[] {
  const namesOf = (state: string): string[] =>
    values.filter((each) => each.state === state).map(({ name }) => name);
  // Without an account every value differs, which the summary tells. Out of scope no value is desired.
  const differing = inScope && link.platformId !== null ? namesOf('differs').length : 0;
  const unsure = namesOf('unsure').length;
  const unmappable = values.filter(
    ({ state, reason }) => state === 'unmappable' && !summary.includes(String(reason)),
  );
  // Values of one source have the same fault, which is told once.
  const faults = [...new Set(unmappable.map(({ reason }) => reason))];
  const sentences = faults.slice(0, MOST_NAMED).map((fault) => {
    const names = unmappable.filter(({ reason }) => reason === fault).map(({ name }) => name);
    const left = names.length - MOST_NAMED;
    return `${names.slice(0, MOST_NAMED).join(', ')}${left > 0 ? ` and ${left} more` : ''} cannot be mapped: ${fault ?? 'no value'}.`;
  });
  if (faults.length > MOST_NAMED)
    sentences.push(`Values with ${counted(faults.length - MOST_NAMED, 'other fault')} cannot be mapped.`);
  if (differing > 0)
    sentences.push(
      `${counted(differing, 'value')} ${differing === 1 ? 'differs' : 'differ'} from what was last applied.`,
    );
  for (const name of namesOf('unmapped').slice(0, MOST_NAMED)) {
    const attribute = name.slice('attributes.'.length);
    sentences.push(`${name} ${UNMAPPED}. ${unmappedAdvice(target, attribute)}`);
  }
  const kept = namesOf('kept');
  if (kept.length > 0)
    sentences.push(
      `Kept at the platform though the source has no value, because onEmpty is keep: ${someOf(kept)}.`,
    );
  // The values of a dead letter are not written again by themselves.
  if (unsure > 0)
    sentences.push(
      `${counted(unsure, 'value')} sent and not confirmed, or seen to differ${deadLetterSince === null ? ': written again' : ''}.`,
    );
  return sentences;
}

/** Returns sentences about the differences at the platform. */
function differenceReasons({ platform }: ExplainedFacts): string[] {
  const all = platform?.differences ?? [];
  const defined = new Set(all.filter(isDefinition).map(({ subject }) => subject));
  // The missing definition is the reason why the value is missing too.
  const found = all.filter((each) => isDefinition(each) || !defined.has(each.subject));
  const sentences = found
    .slice(0, MOST_NAMED)
    .map(({ subject, reason }) => `At the platform${subject === null ? '' : `, ${subject}`}: ${reason}.`);
  const left = found.length - MOST_NAMED;
  return left > 0 ? [...sentences, `${counted(left, 'difference')} more at the platform.`] : sentences;
}

/** Returns whether the platform has no definition of a mapped attribute. */
const isDefinition = ({ action }: PlatformDifference): boolean => action === 'defineAttribute';

/**
 * Returns a sentence about memberships that the bridge does not manage: they give access too. The bridge may have written
 * them before a link was dropped.
 */
function addedReason({ platform, kind, restored, condition }: ExplainedFacts): string | undefined {
  const added = platform?.addedByOthers ?? [];
  if (added.length === 0) return undefined;
  if (condition?.reason === 'Protected')
    return `At the platform it is in ${counted(added.length, 'group')}, which the bridge leaves because the person is protected: ${someOf(added)}.`;
  const more = counted(added.length, kind === 'User' ? 'group' : 'member');
  const author = restored
    ? `others, or the bridge between ${restored.backup} and the restore, wrote, and which the bridge leaves`
    : 'the bridge does not manage now and leaves';
  return kind === 'User'
    ? `At the platform it is in ${more} more, which ${author}: ${someOf(added)}.`
    : `At the platform it has ${more} more, which ${author}: ${someOf(added)}.`;
}

/**
 * Returns a sentence about memberships in groups that the settings leave out: they give access too, and no push ends them.
 */
function leftOutReason({ platform }: ExplainedFacts): string | undefined {
  const groups = platform?.leftOutGroups ?? [];
  if (groups.length === 0) return undefined;
  return `At the platform it is also in ${counted(groups.length, 'group')} that the settings leave out (groups.include, groups.exclude): ${someOf(groups)}. ${groups.length === 1 ? 'This membership stays' : 'These memberships stay'} until somebody ends ${groups.length === 1 ? 'it' : 'them'} at the platform, or the source deletes the group.`;
}

/** Returns whether no sync writes the value: it is equal, its attribute left the settings, or it is kept by `onEmpty: keep`. */
export const isSettledValue = (state: AttributeState['state']): boolean =>
  state === 'equal' || state === 'unmapped' || state === 'kept';

/** Returns a sentence about memberships that stay because of the policy of the target: they give access too. */
function leftByPolicyReason({ platform, kind, policy }: ExplainedFacts): string | undefined {
  const stays = platform?.leftByPolicy ?? [];
  if (stays.length === 0) return undefined;
  return kind === 'User'
    ? `At the platform it is still in ${counted(stays.length, 'group')} against the source, which the policy ${policy.policy} leaves: ${someOf(stays)}.`
    : `At the platform it still has ${counted(stays.length, 'member')} against the source, whom the policy ${policy.policy} leaves: ${someOf(stays)}.`;
}

/** Returns a sentence about members of a group that the bridge leaves out of it. */
function leftAloneReason({ members }: ExplainedFacts): string | undefined {
  if (!members || members.leftAlone === 0) return undefined;
  return `The source has ${counted(members.leftAlone, 'member')} more, whose memberships the bridge does not write: protected, or outside users.scope.`;
}

/** Returns a sentence about nested groups: their members get no access by them, because they are not written. */
function nestedReason({ members }: ExplainedFacts): string | undefined {
  const groups = members?.nestedGroups ?? [];
  if (groups.length === 0) return undefined;
  return `${counted(groups.length, 'member')} ${groups.length === 1 ? 'is a group' : 'are groups'}, and groups in groups are not written: ${someOf(groups)}.`;
}

/** Findings about the fleet that delay a change: in any case, before its sync, and before the next reconcile. */
const DELAYS: readonly FleetFindingKind[] = ['noProcess', 'versionsDiffer', 'settingsDiffer'];
const DELAYS_SYNC: readonly FleetFindingKind[] = [...DELAYS, 'noWorker'];
const DELAYS_RECONCILE: readonly FleetFindingKind[] = [...DELAYS, 'noScheduler'];

/**
 * Returns the findings about the fleet that delay a marked change, or the next reconcile of a resource that differs. A Redis
 * that takes no writes delays both, and the read of the platform.
 */
function delays({ mark, values, fleet }: ExplainedFacts): FleetFinding[] {
  const refusal = redisRefusalOf(fleet);
  if (refusal) return [refusal];
  if (mark) return fleet.filter(({ finding }) => DELAYS_SYNC.includes(finding));
  if (values.every(({ state }) => isSettledValue(state))) return [];
  return fleet.filter(({ finding }) => DELAYS_RECONCILE.includes(finding));
}

/** Returns sentences about what a marked change waits for; '' if other sentences say it. */
function waitingFor(facts: ExplainedFacts): string {
  const { mark, link, memberships, pause } = facts;
  // While the target is on hold, the due time of the change has no effect.
  if (!mark || facts.hold) return '';
  // A running sync waits for the end of a pause too, and the summary names the pause.
  if (mark.state === 'running' && pause) return '';
  if (mark.state === 'running') return 'A worker is at it right now.';
  // The findings about the fleet say that no worker applies it.
  if (noWorkerOf(facts)) return '';
  if (mark.state === 'queued') return 'It waits in the queue for a free worker.';
  const removals = memberships
    .filter(({ state, condition }) => state === 'toRemove' && condition !== 'Rejected')
    .map(({ name }) => name);
  // The sync of a person with an account waits for the removals from groups; a group waits for none of its members.
  const waits =
    facts.kind === 'User' && removals.length > 0 && link.platformId !== null
      ? ` It waits until ${someOf(removals)} ${removals.length === 1 ? 'is' : 'are'} left.`
      : '';
  return `It is due at ${mark.nextTry ?? 'once'}, in the priority ${mark.priority ?? 'edit'}.${waits}`;
}

/** Returns the finding that no worker applies changes: none runs, or Redis takes no writes. */
export const noWorkerOf = ({ fleet }: ExplainedFacts): FleetFinding | undefined =>
  redisRefusalOf(fleet) ?? fleet.find(({ finding }) => finding === 'noWorker' || finding === 'noProcess');

/** Returns the finding that Redis takes no writes; undefined: it takes them. */
export const redisRefusalOf = (fleet: readonly FleetFinding[]): FleetFinding | undefined =>
  fleet.find(({ finding }) => finding === 'redisRefuses');
