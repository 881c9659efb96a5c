// Converts the facts about a resource to the sentences below the summary: reasons and advice. Pure.
import type { ExplainedFacts } from './explanation.ts';
import { breakerWords, newKeyAdvice } from '../reconcile/breaker-words.ts';
import { doneText } from '../reconcile/done-changes.ts';
import { EXCEPTION_WORDS } from '../reconcile/exception-words.ts';
import { UNMAPPED, unmappedAdvice } from '../reconcile/applied-attributes.ts';
import type { DestructiveKind } from '../guard/judge.ts';
import type { FleetFinding, FleetFindingKind } from '../ops/fleet.ts';
import { counted } from '../support/counted.ts';

/** Returns the sentences that the summary does not contain already. */
export function reasonsOf(facts: ExplainedFacts, summary: string): string[] {
  const { condition, mark, hold, breaker, pause, link, guard, suspectedDrift, members, policy, lookAgainAt } =
    facts;
  const reasons: string[] = [];
  const say = (sentence: string | false | null | undefined): void => {
    if (sentence) reasons.push(sentence);
  };
  const { exception } = facts;
  say(
    exception &&
      `It is an exception since ${exception.since}, ${EXCEPTION_WORDS[exception.reason]}: no run changes it.`,
  );
  say(
    condition &&
      (summary.includes(condition.message)
        ? `${condition.reason}. ${adviceOf(facts)}`.trim()
        : `${condition.reason}: ${condition.message.replace(/\.$/, '')}. ${adviceOf(facts)}`.trim()),
  );
  say(
    hold &&
      `On hold since ${hold.since} by ${hold.by}${hold.note ? ` (${hold.note})` : ''}: scim-bridge release --target ${facts.target} ends it.`,
  );
  say(breaker && breakerReason(facts.target, breaker, summary));
  // A condition names the only kind of change that it is about.
  const kinds = new Set(guard.map(({ kind, state }) => `${state} ${kind}`));
  if (!condition || kinds.size > 1) for (const sentence of guardReasons(facts)) say(sentence);
  say(mark && waitingFor(facts));
  for (const { message, advice } of delays(facts)) say(`${capital(message)}. ${advice}`);
  say(
    link.attempts > 0 &&
      mark !== null &&
      !breaker &&
      !pause &&
      `The platform has failed ${counted(link.attempts, 'time')} in a row; it is tried again.`,
  );
  say(
    link.creating &&
      (mark?.state === 'running'
        ? 'An account was asked for and no answer has come yet.'
        : 'An account was asked for and the answer was lost: it is looked for before another one is made.'),
  );
  say(membershipReason(facts));
  say(approvalReason(facts));
  say(noLongerWanted(facts));
  const done = facts.platform?.done ?? 0;
  say(done > 0 && `${doneText(done)}.`);
  for (const sentence of valueReasons(facts, summary)) say(sentence);
  for (const sentence of differenceReasons(facts)) say(sentence);
  say(addedReason(facts));
  say(leftOutReason(facts));
  say(
    suspectedDrift.length > 0 &&
      `A comparison saw these to differ at the platform: ${someOf(suspectedDrift)}.`,
  );
  if (members && members.unknown.length > 0)
    say(
      `The identity provider has not pushed ${counted(members.unknown.length, 'member')} yet: ${someOf(members.unknown)}.`,
    );
  say(policy.policy !== 'sync' && `The policy of this target is ${policy.policy}.`);
  // A rejection has no end, so the look at that time changes nothing.
  say(
    lookAgainAt &&
      condition?.reason !== 'Rejected' &&
      exception?.reason !== 'Rejected' &&
      `It is looked at again by itself at ${lookAgainAt}.`,
  );
  return reasons;
}

function breakerReason(
  target: string,
  { open, since, status, only }: NonNullable<ExplainedFacts['breaker']>,
  summary: string,
): string {
  const refusal = `${target} ${breakerWords({ status, only })} since ${since}: ${newKeyAdvice(target, only)}`;
  if (!open) return summary.includes(refusal) ? '' : `The target ${refusal}.`;
  const answer = status === 0 ? 'no answer' : `status ${status}`;
  return `Calls to the target have failed in a row since ${since} (${answer}): only probes go out until one succeeds.`;
}

/** Returns sentences with the held changes and the id of the approval that covers them. */
function approvalReason({
  approval,
  condition,
  guard,
  kind,
  memberships,
}: ExplainedFacts): string | undefined {
  const waiting = memberships.filter((each) => each.condition === 'Held').map(({ name }) => name);
  if (approval === null)
    return !condition && waiting.length > 0
      ? 'The guard holds changes of a group: see scim-bridge approvals list, then approve or reject.'
      : undefined;
  const own = guard.filter(({ state }) => state === 'held').map((each) => each.kind);
  const removed = own.filter((each) => each === 'removeMembers').length;
  const others = new Set(own.filter((each) => each !== 'removeMembers').map((each) => GUARD_WORDS[each]));
  const related = `${kind === 'User' ? 'group' : 'member'}${waiting.length === 1 ? '' : 's'}`;
  const parts = [
    ...(others.size > 0 ? [`its ${[...others].join(' and ')}`] : []),
    ...(removed > 0
      ? [
          kind === 'User'
            ? `its removal from ${counted(removed, 'group')}`
            : `the removal of ${counted(removed, 'member')}`,
        ]
      : []),
    ...(waiting.length > 0 ? [`changes of its ${related} ${someOf(waiting)}`] : []),
  ];
  return `The approval ${approval} holds ${parts.join(' and ')}: scim-bridge approvals show ${approval}, then approve or reject.`;
}

/** After a change of the settings a held or rejected removal may not be asked for any more. */
function noLongerWanted({ guard, inScope, kind, mark, ref, stored }: ExplainedFacts): string | undefined {
  const isKept = guard.some((each) => each.kind === 'deactivate' && each.state !== 'approved');
  if (kind !== 'User' || !isKept || mark || !stored || stored.active === false || !inScope) return undefined;
  return `By the source and the present settings the account stays active: the next reconcile, or scim-bridge sync ${ref}, ends what waits for a decision.`;
}

/** A dropped dead letter cannot be retried as one. The sentence about the approval is the advice of a held change. */
function adviceOf({ condition, exception, ref, approval }: ExplainedFacts): string {
  if (exception?.reason === 'Dropped') return `Correct the cause, then scim-bridge sync ${ref}.`;
  return condition?.reason === 'Held' && approval !== null ? '' : (condition?.advice ?? '');
}

/** Number of names in a sentence. */
const MOST_NAMED = 5;

const someOf = (names: readonly string[]): string =>
  names.slice(0, MOST_NAMED).join(', ') +
  (names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '');

const GUARD_WORDS: Record<Exclude<DestructiveKind, 'removeMembers'>, string> = {
  deactivate: 'deactivation',
  delete: 'deletion',
  clearAttributes: 'cleared attribute',
};

function guardText(count: number, change: DestructiveKind, kind: ExplainedFacts['kind']): string {
  if (change !== 'removeMembers') return counted(count, GUARD_WORDS[change]);
  return kind === 'User'
    ? counted(count, 'removal from a group', 'removals from groups')
    : counted(count, 'removal of a member', 'removals of members');
}

/** One sentence for all changes of a kind in the same state. */
function guardReasons({ guard, kind: resource }: ExplainedFacts): string[] {
  const counts = new Map<string, number>();
  for (const { kind, state } of guard) {
    const key = `${state} ${kind}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return (['held', 'approved', 'rejected'] as const).flatMap((state) => {
    const kinds = [...counts].filter(([key]) => key.startsWith(state));
    if (kinds.length === 0) return [];
    const words = kinds.map(([key, count]) =>
      guardText(count, key.slice(state.length + 1) as DestructiveKind, resource),
    );
    return [`${capital(state)}, of what the guard judged: ${words.join(', ')}.`];
  });
}

/** The memberships are listed by name; a sentence tells how many wait. */
function membershipReason({ kind, memberships, members }: ExplainedFacts): string {
  const waiting = (state: string): number => memberships.filter((each) => each.state === state).length;
  const noun = kind === 'User' ? 'group' : 'member';
  const parts = [
    [members?.toAdd ?? waiting('toAdd'), kind === 'User' ? 'to be joined' : 'to be added'],
    [members?.toRemove ?? waiting('toRemove'), kind === 'User' ? 'to be left' : 'to be removed'],
  ] as const;
  const said = parts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${counted(count, noun)} still ${word}`)
    .join(', ');
  return said && `${capital(said)}.`;
}

function valueReasons({ values, inScope, link, target }: ExplainedFacts, summary: string): string[] {
  const namesOf = (state: string): string[] =>
    values.filter((each) => each.state === state).map(({ name }) => name);
  const differing = inScope && link.platformId !== null ? namesOf('differs').length : 0;
  const unsure = namesOf('unsure').length;
  const unmappable = values.filter(
    ({ state, reason }) => state === 'unmappable' && !summary.includes(String(reason)),
  );
  const sentences = unmappable
    .slice(0, MOST_NAMED)
    .map(({ name, reason }) => `${name} cannot be mapped: ${reason ?? 'no value'}.`);
  if (unmappable.length > MOST_NAMED)
    sentences.push(`${unmappable.length - MOST_NAMED} more values cannot be mapped.`);
  if (differing > 0)
    sentences.push(
      `${counted(differing, 'value')} ${differing === 1 ? 'differs' : 'differ'} from what was last applied.`,
    );
  for (const name of namesOf('unmapped').slice(0, MOST_NAMED)) {
    const attribute = name.slice('attributes.'.length);
    sentences.push(`${name} ${UNMAPPED}. ${unmappedAdvice(target, attribute)}`);
  }
  if (unsure > 0)
    sentences.push(`${counted(unsure, 'value')} sent and not confirmed, or seen to differ: written again.`);
  return sentences;
}

function differenceReasons({ platform }: ExplainedFacts): string[] {
  const found = platform?.differences ?? [];
  const sentences = found
    .slice(0, MOST_NAMED)
    .map(({ subject, reason }) => `At the platform${subject === null ? '' : `, ${subject}`}: ${reason}.`);
  const left = found.length - MOST_NAMED;
  return left > 0 ? [...sentences, `${counted(left, 'difference')} more at the platform.`] : sentences;
}

/** Memberships that the bridge did not write count for what a person sees too. */
function addedReason({ platform, kind, restored }: ExplainedFacts): string | undefined {
  const added = platform?.addedByOthers ?? [];
  if (added.length === 0) return undefined;
  const orBridge = restored ? `, or the bridge between ${restored.backup} and the restore,` : '';
  return kind === 'User'
    ? `At the platform it is in ${counted(added.length, 'group')} more, which ${
        restored
          ? `others${orBridge} wrote, and which the bridge leaves`
          : 'the bridge did not write and leaves'
      }: ${someOf(added)}.`
    : `At the platform others${orBridge} added ${counted(added.length, 'member')}, which the bridge leaves: ${someOf(added)}.`;
}

/** A membership in a group that the settings leave out counts for what a person sees too, and no push ends it. */
function leftOutReason({ platform }: ExplainedFacts): string | undefined {
  const groups = platform?.leftOutGroups ?? [];
  if (groups.length === 0) return undefined;
  return `At the platform it is also in ${counted(groups.length, 'group')} that the settings leave out (groups.include, groups.exclude): ${someOf(groups)}. ${groups.length === 1 ? 'This membership stays' : 'These memberships stay'} until somebody ends ${groups.length === 1 ? 'it' : 'them'} at the platform.`;
}

const DELAYS_SYNC: readonly FleetFindingKind[] = ['noProcess', 'noWorker', 'versionsDiffer'];
const DELAYS_RECONCILE: readonly FleetFindingKind[] = ['noProcess', 'noScheduler', 'versionsDiffer'];

/** Findings about the fleet that delay a marked change, or the next reconcile of a resource that differs. */
function delays({ mark, values, fleet }: ExplainedFacts): FleetFinding[] {
  if (mark) return fleet.filter(({ finding }) => DELAYS_SYNC.includes(finding));
  if (values.every(({ state }) => state === 'equal' || state === 'unmapped')) return [];
  return fleet.filter(({ finding }) => DELAYS_RECONCILE.includes(finding));
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

function waitingFor(facts: ExplainedFacts): string {
  const { mark, link, memberships, pause } = facts;
  // While the target is on hold, no time at which the change is due counts.
  if (!mark || facts.hold) return '';
  // A sync that runs waits too.
  if (mark.state === 'running' && pause) return '';
  if (mark.state === 'running') return 'A worker is at it right now.';
  if (noWorkerOf(facts)) return '';
  if (mark.state === 'queued') return 'It waits in the queue for a free worker.';
  const removals = memberships
    .filter(({ state, condition }) => state === 'toRemove' && condition !== 'Rejected')
    .map(({ name }) => name);
  const waits =
    removals.length > 0 && link.platformId !== null
      ? ` It waits until ${someOf(removals)} ${removals.length === 1 ? 'is' : 'are'} left.`
      : '';
  return `It is due at ${mark.nextTry ?? 'once'}, in the priority ${mark.priority ?? 'edit'}.${waits}`;
}

export const noWorkerOf = ({ fleet }: ExplainedFacts): FleetFinding | undefined =>
  fleet.find(({ finding }) => finding === 'noWorker' || finding === 'noProcess');
