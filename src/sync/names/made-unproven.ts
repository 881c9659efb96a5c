// Judges the accounts or groups that the unanswered create of a resource may have made, after the resource has left. An operator
// decides about those that somebody else may have made as well.
import type { WireUser } from '../../platform/wire.ts';
import type { SyncContext } from '../context.ts';
import type { SyncOutcome } from '../outcome.ts';
import { isLinkedToOther, unprovenLeft } from './left-there.ts';
import { mayBeOfTime } from './lost-create.ts';

/**
 * Returns the outcome if the create may have made one of the accounts or groups: a dead letter under the policy `sync`, else
 * `synced` with `departed` set (unprovenLeft). The create has not made those that another resource is linked to, or that were made
 * at another time. Undefined: it has made none.
 * @param shown accounts that match the values of the create, without closed ones, or groups with its name
 * @param doByHand how an operator takes the access of such an account or group away at the platform
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
