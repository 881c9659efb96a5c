// Formats what an operator has to do about groups of a person that the platform refused, or that have a conflict: no sync writes
// the person's membership in such a group before that.
import type { Ref } from '../directory/records.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { MembershipState } from './explanation.ts';
import { MOST_NAMED } from '../support/sentence-parts.ts';
import { conditionOf } from './stored-fields.ts';
import { needsPerson } from './membership-reasons.ts';

/**
 * Returns a sentence for each of the first MOST_NAMED pending memberships whose group needs a person first: why, and the commands
 * in the order that works. No sync of the user writes such a membership.
 */
export async function refusedGroupReasons(
  scope: ReconcileScope,
  memberships: readonly MembershipState[],
): Promise<string[]> {
  const refused = memberships.filter(
    (each) => (each.state === 'toAdd' || each.state === 'toRemove') && needsPerson(each),
  );
  const reasons = refused.slice(0, MOST_NAMED).map(async ({ name, ref }) => {
    const group = ref as Ref;
    const condition = await conditionOf(scope, group, await scope.links.get(scope.target.name, group));
    if (!condition) return [];
    const { reason, message, advice } = condition;
    // An advice that names the group ends with the command that tries it again.
    const retry = advice.includes(ref) ? '' : ` Then scim-bridge sync ${ref} tries it again.`;
    return [
      `The group ${name} needs a person before this membership is written: ${reason}: ${message.replace(/\.$/, '')}. ${advice}${retry}`,
    ];
  });
  return (await Promise.all(reasons)).flat();
}
