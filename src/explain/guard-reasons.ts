// Formats the changes of a resource that the guard judged as sentences: how many are held, expired, approved and rejected, and
// what else waits because a deactivation is held or was rejected. Pure.
import { membershipIn, waitsText } from '../reconcile/unwritten/behind-closing.ts';
import { capital, someOf } from '../support/sentence-parts.ts';
import type { ExplainedFacts } from './explanation.ts';
import { afterHold, guardCounts } from './guard-words.ts';

/** Returns a sentence for each state, with the numbers of its changes. */
export const guardReasons = ({ guard, kind }: ExplainedFacts): string[] =>
  (['held', 'expired', 'approved', 'rejected'] as const).flatMap((state) => {
    const words = guardCounts(
      guard.filter((each) => each.state === state),
      kind,
    );
    return words.length === 0 ? [] : [`${capital(state)}, of what the guard judged: ${words.join(', ')}.`];
  });

/**
 * Returns a sentence about the deletion of a leaver's account after its deactivation, which is held or was rejected; undefined: no
 * such deactivation, or the settings delete no account.
 */
export function deletionReason({ guard, inScope, policy, stored }: ExplainedFacts): string | undefined {
  const isLeaver = stored === null || inScope === false;
  const closing = undecidedClosing(guard);
  // Only the policy `sync` deletes accounts.
  if (!closing || !isLeaver || policy.deprovision !== 'delete' || policy.policy !== 'sync') return undefined;
  if (closing.state === 'rejected')
    return 'The account is not deleted either, although users.deprovision is delete.';
  return 'The account is deleted after its deactivation, because users.deprovision is delete: an approval of the deactivation does not cover the deletion, which guard.delete limits.';
}

/**
 * Returns a sentence about a held or rejected deactivation; undefined: nothing waits for it. Of a held one: which values and
 * memberships of the person wait for the decision. Of a rejected one: which memberships are not added.
 */
export function waitingReason({ guard, inScope, memberships, values }: ExplainedFacts): string | undefined {
  const closing = undecidedClosing(guard);
  // A person out of scope gets no values and memberships that could wait.
  if (!inScope || !closing) return undefined;
  const differing = values.filter(({ name, state }) => state === 'differs' && name.startsWith('attributes.'));
  // A membership with a condition does not wait for the deactivation.
  const joined = memberships
    .filter(({ state, condition }) => state === 'toAdd' && condition === undefined)
    .map(({ name }) => membershipIn(name));
  if (closing.state === 'rejected')
    return joined.length === 0
      ? undefined
      : `Not added while the source wants the account inactive and the rejection stands: ${someOf(joined)}.`;
  const names = [...differing.map(({ name }) => name.slice('attributes.'.length)), ...joined];
  return names.length === 0 ? undefined : `${capital(waitsText(names))}.`;
}

/** Returns a sentence about a held or rejected deactivation that source and settings no longer ask for; undefined: none. */
export function noLongerWanted(facts: ExplainedFacts): string | undefined {
  const { guard, inScope, kind, mark, ref, stored } = facts;
  if (kind !== 'User' || !undecidedClosing(guard) || !stored || stored.active === false || !inScope)
    return undefined;
  const run = mark ? 'the pending sync' : `the next reconcile that repairs, or scim-bridge sync ${ref},`;
  return `By the source and the present settings the account stays active: ${afterHold(facts)}${run} ends what waits for a decision.`;
}

/** Returns the deactivation of the account that is held, or was held or rejected; undefined: there is none. */
const undecidedClosing = (guard: ExplainedFacts['guard']): ExplainedFacts['guard'][number] | undefined =>
  guard.find(({ kind, state }) => kind === 'deactivate' && state !== 'approved');
