// From facts to plain sentences. Pure; the first rule that fits decides.
import type { Explanation, ExplanationVerdict } from './explanation.ts';
import { EXCEPTION_WORDS } from '../reconcile/exception-words.ts';
import type { FleetFinding, FleetFindingKind } from '../ops/fleet.ts';
import { counted } from '../support/counted.ts';

type Facts = Omit<Explanation, 'verdict' | 'summary' | 'reasons' | 'timeline'>;

export function toVerdict(facts: Facts): Pick<Explanation, 'verdict' | 'summary' | 'reasons'> {
  const verdict = judge(facts);
  return { verdict, summary: summaryOf(verdict, facts), reasons: reasonsOf(facts) };
}

function judge(facts: Facts): ExplanationVerdict {
  const { condition, deadLetterSince, mark, hold, breaker, guard, stored, inScope, link } = facts;
  const noWorker = noWorkerOf(facts);
  if (deadLetterSince !== null) return 'needsPerson';
  if (condition?.reason === 'Protected') return 'leftAlone';
  if (guard.some(({ state }) => state === 'held') || condition?.reason === 'Held') return 'held';
  if (mark && (hold ?? breaker ?? noWorker)) return 'stopped';
  if (mark) return 'onItsWay';
  // Without a mark and a dead letter nothing is tried again by itself: rejected, or a dropped dead letter.
  if (condition) return 'leftAlone';
  if (!stored) return 'gone';
  if (inScope === false) return 'notForTarget';
  if (link.platformId === null || facts.values.some(({ state }) => state !== 'equal')) {
    return isKeptByPolicy(facts) ? 'leftAlone' : 'differs';
  }
  if (facts.memberships.some(({ state }) => state === 'toAdd' || state === 'toRemove')) return 'onItsWay';
  return 'asDesired';
}

/** Policies below `sync` leave differences on purpose: create-only all of them, upsert-only an account that stays open. */
function isKeptByPolicy({ policy, link, values }: Facts): boolean {
  if (link.platformId === null) return false;
  if (policy.policy === 'create-only') return true;
  const differing = values.filter(({ state }) => state !== 'equal');
  return (
    policy.policy === 'upsert-only' &&
    differing.every(({ name, desired }) => name === 'active' && desired === false)
  );
}

function summaryOf(verdict: ExplanationVerdict, facts: Facts): string {
  const { name, target, condition, mark, link, kind } = facts;
  const what = kind === 'User' ? 'account' : 'group';
  switch (verdict) {
    case 'asDesired':
      return `${name} is at ${target} as desired${activityOf(facts)}.`;
    case 'onItsWay':
      return `A change of ${name} is on its way to ${target}, accepted ${mark?.since ?? 'a moment ago'}; nobody has to do anything.`;
    case 'held':
      return `The guard holds a part of what shall happen to ${name} at ${target}: a person has to approve or reject it.`;
    case 'stopped':
      return `A change of ${name} waits because ${
        facts.hold
          ? `an operator has stopped all writes to ${target}`
          : facts.breaker
            ? `${target} does not answer; it is applied as soon as it does`
            : 'no worker runs: start one'
      }.`;
    case 'needsPerson':
      return `${name} is not at ${target} as desired and needs a person: ${condition?.message ?? 'see the log'}.`;
    case 'leftAlone':
      return `${name} is left alone at ${target}: ${condition?.message ?? `the policy is ${facts.policy.policy}`}.`;
    case 'notForTarget':
      return `${name} is not meant for ${target}: ${
        kind === 'User' ? 'outside users.scope' : 'left out by groups.include or groups.exclude'
      }${link.platformId === null ? '' : `; the ${what} that exists there is ${kind === 'User' ? 'closed' : 'kept as it is'}`}.`;
    case 'differs':
      return link.platformId === null
        ? `${name} has no ${what} at ${target} and nothing is on its way: see reasons.`
        : `${name} differs at ${target} from what the settings now ask for: the next reconcile, or scim-bridge sync, brings it.`;
    case 'gone':
      return `${name} was deleted at the source${facts.deletedAt ? ` on ${facts.deletedAt}` : ''}; ${
        link.platformId === null
          ? `nothing of it is managed at ${target}`
          : condition
            ? `the ${what} at ${target} stays: see reasons`
            : `the ${what} at ${target} is closed`
      }.`;
  }
}

function activityOf({ kind, stored, memberships, members }: Facts): string {
  if (kind === 'Group') return `, with ${counted(members?.desired ?? 0, 'member')}`;
  const groups = memberships.filter(({ state }) => state === 'applied').length;
  const active = stored?.active === false ? 'inactive, as the identity provider wants it' : 'active';
  return `: ${active}, in ${groups} ${groups === 1 ? 'group' : 'groups'}`;
}

function reasonsOf(facts: Facts): string[] {
  const { condition, mark, hold, breaker, link, guard, suspectedDrift, members, policy, lookAgainAt } = facts;
  const reasons: string[] = [];
  const say = (sentence: string | false | null | undefined): void => {
    if (sentence) reasons.push(sentence);
  };
  const { exception } = facts;
  say(
    exception &&
      `It is an exception since ${exception.since}, ${EXCEPTION_WORDS[exception.reason]}: no run changes it until a person acts.`,
  );
  say(condition && `${condition.reason}: ${condition.message}. ${condition.advice}`);
  say(
    hold &&
      `On hold since ${hold.since} by ${hold.by}${hold.note ? ` (${hold.note})` : ''}: scim-bridge release ends it.`,
  );
  say(
    breaker &&
      `Calls to the target have failed in a row since ${breaker.since} (${breaker.status === 0 ? 'no answer' : `status ${breaker.status}`}): only probes go out until one succeeds.`,
  );
  for (const { kind, subject, state } of guard)
    say(
      `The guard: ${kind}${subject === null ? '' : ` of ${subject}`} is ${state}${state === 'held' ? ': see scim-bridge approvals list' : ''}.`,
    );
  say(mark && waitingFor(facts));
  for (const { message, advice } of delays(facts)) say(`${capital(message)}. ${advice}`);
  say(link.attempts > 0 && `The platform has failed ${link.attempts} times in a row; it is tried again.`);
  say(
    link.creating &&
      'An account was asked for and the answer was lost: it is looked for before another one is made.',
  );
  for (const { name, state, because } of facts.memberships)
    if (state === 'toAdd' || state === 'toRemove')
      say(
        `${facts.kind === 'User' ? 'Group' : 'Member'} ${name}: still ${state === 'toAdd' ? 'to be added' : 'to be removed'}${because ? `, because ${because}` : ''}.`,
      );
  for (const { name, state, reason } of facts.values)
    if (state === 'unmappable') say(`${name} cannot be mapped: ${reason ?? 'no value'}.`);
    else if (state === 'differs' && facts.inScope) say(`${name} differs from what was last applied.`);
    else if (state === 'unsure')
      say(`${name} was sent and not confirmed, or was seen to differ: it is written again.`);
  say(
    suspectedDrift.length > 0 &&
      `A comparison saw these to differ at the platform: ${suspectedDrift.join(', ')}.`,
  );
  if (members && members.unknown.length > 0)
    say(
      `${members.unknown.length} members are nobody the identity provider has pushed yet: ${members.unknown.slice(0, 5).join(', ')}.`,
    );
  say(policy.policy !== 'sync' && `The policy of this target is ${policy.policy}.`);
  say(lookAgainAt && `It is looked at again by itself at ${lookAgainAt}.`);
  return reasons;
}

const DELAYS_SYNC: readonly FleetFindingKind[] = ['noProcess', 'noWorker', 'versionsDiffer'];
const DELAYS_RECONCILE: readonly FleetFindingKind[] = ['noProcess', 'noScheduler', 'versionsDiffer'];

/** Findings about the fleet that delay a marked change, or the next reconcile of a resource that differs. */
function delays({ mark, values, fleet }: Facts): FleetFinding[] {
  if (mark) return fleet.filter(({ finding }) => DELAYS_SYNC.includes(finding));
  if (values.every(({ state }) => state === 'equal')) return [];
  return fleet.filter(({ finding }) => DELAYS_RECONCILE.includes(finding));
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const noWorkerOf = ({ fleet }: Facts): FleetFinding | undefined =>
  fleet.find(({ finding }) => finding === 'noWorker' || finding === 'noProcess');

function waitingFor(facts: Facts): string {
  const { mark, link, memberships } = facts;
  if (!mark) return '';
  if (mark.state === 'running') return 'A worker is at it right now.';
  if (noWorkerOf(facts)) return 'It waits for a worker.';
  if (mark.state === 'queued') return 'It waits in the queue for a free worker.';
  const removals = memberships.filter(({ state }) => state === 'toRemove').map(({ name }) => name);
  const waits =
    removals.length > 0 && link.platformId !== null ? ` It waits until ${removals.join(', ')} is left.` : '';
  return `It is due at ${mark.nextTry ?? 'once'}, in the priority ${mark.priority ?? 'edit'}.${waits}`;
}
