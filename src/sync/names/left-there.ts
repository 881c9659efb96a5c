// Handles a resource that was deleted at the source, or left the scope, while its link has no platform id: an account or group of
// it may exist at the platform (`mayExist` and `tried` of the link). One that is proven to be its own is linked. An operator
// decides about one that may be somebody else's. Flags of the link: directory/outbox/link.ts.
import type { Link } from '../../directory/outbox/link.ts';
import type { Kind } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import { isAbsent } from '../calls/absence.ts';
import { isGone } from '../calls/failures.ts';
import { blockedBy } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import type { SyncOutcome } from '../outcome.ts';
import { mayBeOfTime } from './lost-create.ts';
import { claim } from './taken-by-connection.ts';

/** Returns whether another resource, also one of another connection, is linked to the account or group. */
export async function isLinkedToOther({ links, target, work }: SyncContext, id: string): Promise<boolean> {
  const holder = await links.holderOf(target.name, work.kind, id);
  if (holder !== undefined && holder !== work.ref) return true;
  return (await links.elsewhere.holderOf(target.name, work.kind, id)) !== undefined;
}

/**
 * Returns what `read` returns; undefined when the absence of the id is proven.
 * @throws the 404 when the absence is not proven
 */
export async function readLeft<T>(
  context: SyncContext,
  kind: Kind,
  id: string,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const sought: Link = { id, ...(context.link.core && { core: context.link.core }) };
    if (isGone(error) && (await isAbsent(context, kind, sought))) return undefined;
    throw error;
  }
}

/**
 * Links the account or group to the resource that was deleted.
 * @returns an outcome when another connection has it or is linking it (`claim`); else undefined
 */
export async function linkLeft(
  context: SyncContext,
  id: string,
  core: NonNullable<Link['core']>,
): Promise<SyncOutcome | undefined> {
  const { link } = context;
  const notOurs = await claim(context, id, { isNew: false });
  if (notOurs) return notOurs;
  link.id = id;
  delete link.tried;
  // The bridge must not delete an account or group that it has not made.
  link.origin ??= 'adopted';
  link.core = core;
  await context.save({ linked: true });
  return undefined;
}

/**
 * Returns the dead letter about an account or group that is not proven to be that of the resource that left. Under another policy
 * than `sync`, which closes nothing, returns the outcome `synced` and sets `departed`: the link keeps `mayExist` and `tried`, in
 * case the policy changes.
 * @param what why it may be that of the resource, in words that follow "… was deleted at the source, and" or "… is out of the scope
 *   of the target, and"
 * @param doByHand how an operator takes the access of such an account or group away at the platform
 */
export function unprovenLeft(context: SyncContext, what: string, doByHand: string): SyncOutcome {
  const { link, target, work } = context;
  if (target.policy.policy !== 'sync') {
    link.departed = true;
    return { kind: 'synced', dropGrants: true };
  }
  const reason = work.record ? 'is out of the scope of the target' : 'was deleted at the source';
  return blockedBy(
    context,
    'Conflict',
    `${work.ref} ${reason}, and ${what}: if so, ${doByHand} at the platform, then retry; ` +
      `if not, order scim-bridge links forget ${work.ref} --target ${target.name} --leave-account`,
  );
}

/**
 * Returns the outcome if the create may have made one of the accounts or groups: a dead letter under the policy `sync`, else
 * `synced` with `departed` set (unprovenLeft). The create has not made those that another resource is linked to, or that were made
 * at another time. Undefined: it has made none.
 * @param shown accounts that match the values of the create, without closed ones, or groups with its name
 * @param doByHand as for `unprovenLeft`
 */
export async function unprovenMade(
  context: SyncContext,
  shown: readonly Pick<WireUser, 'id' | 'meta'>[],
  doByHand: string,
): Promise<SyncOutcome | undefined> {
  const { link, work } = context;
  const what = work.kind === 'User' ? 'account' : 'group';
  const unproven: string[] = [];
  for (const each of shown)
    if (link.tried && mayBeOfTime(link.tried, each) && !(await isLinkedToOther(context, each.id)))
      unproven.push(each.id);
  if (unproven.length === 0) return undefined;
  return unprovenLeft(
    context,
    `the answer to the create of its ${what} was lost: look whether it made the ${what} with SCIM id ${unproven.join(' or ')}`,
    doByHand,
  );
}
