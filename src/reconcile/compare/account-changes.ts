// Converts the differences of an account that exists to plan entries. Pure.
import type { WireUser } from '../../platform/wire.ts';
import { isEmpty } from '../../sync/diff.ts';
import { sameValue } from '../../sync/mapping/values.ts';
import { desiredFromLink, desiredValue, type DesiredAccount, type Difference } from './compare.ts';
import { leftBy, type Cause, type PlanEntry, type Values } from '../entry.ts';
import { sharedFields, masked, type TargetRules, type UserCase } from './user-case.ts';

/** Returns the entries of the differences: one for each attribute, and one for all core values of the same cause. */
export function accountChanges(
  user: UserCase,
  wanted: DesiredAccount,
  observed: WireUser,
  found: Difference[],
  rules: TargetRules,
): PlanEntry[] {
  const applied = desiredFromLink(user.link);
  const ours: Cause = user.marked ? 'source changed' : 'mapping changed';
  const causeOf = ({ name }: Difference): Cause =>
    sameValue(desiredValue(applied, name) ?? null, desiredValue(wanted, name) ?? null)
      ? 'platform changed'
      : ours;
  // `create-only` writes nothing more to a completed account.
  const frozen = rules.policy.policy === 'create-only' && user.link.making !== true;
  const entries: PlanEntry[] = [];
  const add = (
    action: PlanEntry['action'],
    difference: Difference,
    before: Values,
    after: Values,
    reason: string,
  ): void => {
    const isReported = frozen || (action === 'deactivate' && rules.policy.policy !== 'sync');
    entries.push({
      ...sharedFields(user, causeOf(difference)),
      action,
      before,
      after,
      effect: isReported ? 'report' : 'apply',
      reason: isReported ? `${reason}${leftBy(rules.policy)}` : reason,
    });
  };
  for (const difference of found) {
    const { name, before, after } = difference;
    if (name === 'active') {
      const action = after === true ? 'reactivate' : 'deactivate';
      add(action, difference, { active: before }, { active: after }, activeReason(user, wanted, observed));
    } else if (name.startsWith('attributes.')) {
      const attribute = name.slice('attributes.'.length);
      // The guard counts an emptied list or text as a cleared value too.
      const isCleared = after === null || (isEmpty(after) && !isEmpty(before));
      const action = isCleared ? 'clearAttribute' : 'setAttribute';
      add(
        action,
        difference,
        { [attribute]: masked(attribute, before) },
        { [attribute]: masked(attribute, after) },
        'the attribute has another value',
      );
      const added = entries.at(-1);
      if (added) added.attribute = attribute;
    }
  }
  for (const cause of ['platform changed', ours] as const) {
    const core = found.filter((each) => isCore(each.name) && causeOf(each) === cause);
    const [first] = core;
    if (!first) continue;
    const before = Object.fromEntries(core.map((each) => [each.name, each.before]));
    const after = Object.fromEntries(core.map((each) => [each.name, each.after]));
    add(
      'update',
      first,
      before,
      after,
      `${core.map(({ name }) => name).join(', ')} ${core.length === 1 ? 'differs' : 'differ'}`,
    );
  }
  return entries;
}

/** Returns whether the name of a difference is the path of a core attribute. */
const isCore = (name: string): boolean => name !== 'active' && !name.startsWith('attributes.');

/** Returns why `active` differs. */
function activeReason(
  { wanted: mapped, link }: UserCase,
  wanted: DesiredAccount,
  observed: WireUser,
): string {
  if (wanted.active) return 'active at the source, inactive at the platform';
  if (mapped === undefined) return 'deleted at the source, active at the platform';
  if (!mapped.inScope) return 'out of scope, active at the platform';
  return link.core?.active === false && observed.active !== false
    ? 'inactive at the source, active again at the platform'
    : 'inactive at the source, active at the platform';
}
