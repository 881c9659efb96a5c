// Converts the differences of an account that exists to plan entries. Pure.
import type { WireUser } from '../../platform/wire.ts';
import { isEmpty } from '../../sync/diff.ts';
import { sameValue } from '../../sync/mapping/values.ts';
import { desiredFromLink, desiredValue, type DesiredAccount, type Difference } from './compare.ts';
import { leftBy, ownCause, type Cause, type PlanEntry } from '../entry.ts';
import { userFields, masked, type TargetRules, type UserCase } from './user-case.ts';

/**
 * Returns the entries of the differences: one for `active`, one for each attribute, and one for all core values of the same cause.
 * @param due the account as the next sync would write it; of a person who left: closed
 */
export function accountChanges(
  user: UserCase,
  due: DesiredAccount,
  observed: WireUser,
  found: Difference[],
  rules: TargetRules,
): PlanEntry[] {
  const applied = desiredFromLink(user.link);
  // `create-only` writes nothing more to a completed account.
  const frozen = rules.policy.policy === 'create-only' && user.link.isIncomplete !== true;
  const cause = frozen && !user.marked ? 'not applied' : ownCause(user);
  // If the link has the desired value as applied, somebody changed the value at the platform.
  const causeOf = ({ name }: Difference): Cause =>
    sameValue(desiredValue(applied, name) ?? null, desiredValue(due, name) ?? null)
      ? 'platform changed'
      : cause;
  const toEntry = (difference: Difference, change: Change): PlanEntry => {
    const isLeftByPolicy = frozen || (change.action === 'deactivate' && rules.policy.policy !== 'sync');
    return {
      ...userFields(user, causeOf(difference)),
      ...change,
      effect: isLeftByPolicy ? 'report' : 'apply',
      reason: isLeftByPolicy ? `${change.reason}${leftBy(rules.policy)}` : change.reason,
    };
  };
  const entries = found.flatMap((difference): PlanEntry[] => {
    const { name, before, after } = difference;
    if (isCore(name)) return [];
    if (name === 'active') {
      const action = after === true ? 'reactivate' : 'deactivate';
      const reason = activeReason(user, due, observed);
      return [toEntry(difference, { action, before: { active: before }, after: { active: after }, reason })];
    }
    const attribute = name.slice('attributes.'.length);
    // The guard counts an emptied list or text as a cleared value too.
    const isCleared = after === null || (isEmpty(after) && !isEmpty(before));
    const change: Change = {
      action: isCleared ? 'clearAttribute' : 'setAttribute',
      attribute,
      before: { [attribute]: masked(attribute, before) },
      after: { [attribute]: masked(attribute, after) },
      reason: `the attribute has ${foundText(user, attribute, before)}`,
    };
    return [toEntry(difference, change)];
  });
  for (const causeOfCore of new Set<Cause>(['platform changed', cause])) {
    const core = found.filter((each) => isCore(each.name) && causeOf(each) === causeOfCore);
    const [first] = core;
    if (!first) continue;
    const before = Object.fromEntries(core.map((each) => [each.name, each.before]));
    const after = Object.fromEntries(core.map((each) => [each.name, each.after]));
    const reason = `${core.map(({ name }) => name).join(', ')} ${core.length === 1 ? 'differs' : 'differ'}`;
    entries.push(toEntry(first, { action: 'update', before, after, reason }));
  }
  return entries;
}

/** Returns which value of an attribute was found. A value that the account does not show may only be unread. */
function foundText({ values, adoptable }: UserCase, attribute: string, before: unknown): string {
  if (before !== null) return 'another value';
  // The value list of an account is complete.
  const isRead = values !== undefined || adoptable?.values[attribute] === null;
  return isRead ? 'no value' : 'no known value';
}

type Change = Pick<PlanEntry, 'action' | 'attribute' | 'before' | 'after' | 'reason'>;

/** Returns whether a difference is neither in `active` nor in a user attribute. */
const isCore = (name: string): boolean => name !== 'active' && !name.startsWith('attributes.');

/** Returns why `active` differs. */
function activeReason({ wanted, link }: UserCase, due: DesiredAccount, observed: WireUser): string {
  if (due.active) return 'active at the source, inactive at the platform';
  if (wanted === undefined) return 'deleted at the source, active at the platform';
  if (!wanted.inScope) return 'out of scope, active at the platform';
  return link.core?.active === false && observed.active !== false
    ? 'inactive at the source, active again at the platform'
    : 'inactive at the source, active at the platform';
}
