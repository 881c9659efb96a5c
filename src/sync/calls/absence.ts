// Proves that a resource is absent at the platform. A 404 alone is no proof: a proxy may send it too (an ingress without its
// backend, a gateway without its route). A sync that took such a 404 for an absence would leave a leaver's account open.
// Flags of the link: directory/outbox/link.ts.
import type { Link } from '../../directory/outbox/link.ts';
import type { Kind } from '../../directory/records.ts';
import type { PlatformError } from '../../platform/errors.ts';
import type { SyncContext } from '../context.ts';
import { resetGate } from '../gate.ts';
import { isGone } from './failures.ts';

type Asking = Pick<SyncContext, 'target' | 'call'>;

/** Thrown while the list that may prove an absence is not read yet: the sync is tried again, and nothing has failed. */
export class ListAwaited extends Error {
  override name = 'ListAwaited';
}

/**
 * Returns whether the platform has lost a linked resource: a read by id answers 404, and a whole list that began after the 404 does
 * not show the id. A proxy cannot imitate a list. A list filtered by name proves no absence, because the resource may have been
 * renamed by hand. False also if the list cannot be read whole.
 * @throws errors of the platform client when the filtered list fails, or the read by id with another error than 404
 * @throws ListAwaited when the whole list is not read yet
 */
export async function isAbsent(asking: Asking, kind: Kind, link: Link): Promise<boolean> {
  return !(await isFound(asking, kind, link)) && (await isMissing(asking, kind, link));
}

/**
 * Returns whether the platform shows a linked resource by its name or its id. False proves no absence.
 * @throws errors of the platform client when the filtered list fails, or the read by id with another error than 404
 */
export async function isFound(
  { target, call }: Asking,
  kind: Kind,
  { id = '', core }: Link,
): Promise<boolean> {
  const { users, groups } = target.client;
  const found =
    kind === 'User'
      ? await users.findBy('userName', String(core?.userName ?? ''), call)
      : await groups.findByDisplayName(String(core?.displayName ?? ''), call);
  if (found.some((shown) => shown.id === id)) return true;
  try {
    await (kind === 'User' ? users.get(id, call) : groups.get(id, { members: false }, call));
    return true;
  } catch (error) {
    if (!isGone(error)) throw error;
    return false;
  }
}

/**
 * Returns whether a whole list lacks the resource. To be called after isFound returned false; concurrent calls share one list.
 * @throws ListAwaited when the whole list is not read yet
 */
export async function isMissing({ target, call }: Asking, kind: Kind, { id = '' }: Link): Promise<boolean> {
  const shown = await target.missing[kind === 'User' ? 'users' : 'groups'].look(id, call.signal);
  if (shown === 'awaited') throw new ListAwaited(`the list that may show ${id} is not read yet`);
  return shown === 'missing';
}

/**
 * Removes an account or group from its link if the sync failed with a 404 and the absence is proven, so that the sync can look
 * for another one.
 * @throws `error` if it is no 404 of a linked resource, or the absence is not proven; otherwise as `isAbsent`
 */
export async function unlinkAbsent(context: SyncContext, error: unknown): Promise<void> {
  const { link, logger, work } = context;
  if (!isGone(error) || link.id === undefined || !(await isAbsent(context, work.kind, link))) throw error;
  const what = work.kind === 'User' ? 'account' : 'group';
  logger.warn({ ref: work.ref }, `${what} is gone at the platform, looking for it anew`);
  // Changes that wait for a decision or were rejected end with the account or group.
  resetGate(context);
  // The refusals of members concern the group that is gone.
  delete context.refusedMembers;
  delete context.goneMembers;
  delete context.shownAccount;
  // All fields of the link that describe the lost account or group are deleted; fields about the resource and the attempts of its
  // sync stay.
  delete link.id;
  delete link.account;
  delete link.renamedAt;
  delete link.isAdministrator;
  delete link.core;
  delete link.emptied;
  delete link.attributes;
  delete link.observedGeneration;
  delete link.origin;
  delete link.adopting;
  delete link.departed;
  delete link.leavers;
  delete link.rejoining;
  delete link.leftOpen;
  delete link.closedAt;
  delete link.hasFormerName;
  delete link.unsure;
}

/**
 * Returns whether the platform answers a list request to the API of the refused call (SCIM or REST) with success. If so, the
 * refusal concerns the resource; if not, the refusal may come from a proxy.
 */
export async function answersOtherwise(
  { target, call }: Asking,
  { route }: Pick<PlatformError, 'route'>,
): Promise<boolean> {
  const { users, attributes } = target.client;
  const asked: Promise<unknown> = route.startsWith('/api/scim/')
    ? users.list({ count: 1 }, call)
    : attributes.list(call);
  return asked.then(
    () => true,
    () => false,
  );
}
