// Ends the sync of a resource that left if a create whose answer was lost may have made an account or group, and it cannot be told
// from those of others.
import type { WireUser } from '../../platform/wire.ts';
import type { SyncContext } from '../context.ts';
import type { SyncOutcome } from '../outcome.ts';
import { isLinkedToOther, unprovenLeft } from './left-there.ts';
import { mayBeOfTime } from './lost-create.ts';

/**
 * Returns the outcome (unprovenLeft) about those of the accounts or groups that the create may have made: they are linked to nothing
 * else, and were not made at another time. Undefined: there is none.
 * @param doByHand what an operator does with it at the platform
 */
export async function unprovenMade(
  context: SyncContext,
  shown: readonly Pick<WireUser, 'id' | 'meta'>[],
  doByHand: string,
): Promise<SyncOutcome | undefined> {
  const { link, work } = context;
  const what = work.kind === 'User' ? 'account' : 'group';
  const left: string[] = [];
  for (const each of shown)
    if (link.tried && mayBeOfTime(link.tried, each) && !(await isLinkedToOther(context, each.id)))
      left.push(each.id);
  if (left.length === 0) return undefined;
  return unprovenLeft(
    context,
    `the answer to the create of its ${what} was lost: look whether it made the ${what} with SCIM id ${left.join(' or ')}`,
    doByHand,
  );
}
