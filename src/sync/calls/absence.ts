// Proves that a resource is absent at the platform. A 404 alone is no proof: a proxy may send it too (an ingress without its
// backend, a gateway without its route). A sync that took such a 404 for an absence would leave a leaver's account open.
import type { Link } from '../../directory/outbox/links.ts';
import type { Kind } from '../../directory/records.ts';
import type { PlatformError } from '../../platform/errors.ts';
import type { SyncContext } from '../context.ts';
import { isGone } from './failures.ts';

type Asking = Pick<SyncContext, 'target' | 'call'>;

/**
 * Returns whether the platform has lost a linked resource: the list does not show it, and a read by id answers 404. A
 * proxy cannot imitate a list.
 * @throws errors of the platform client when the list fails
 */
export async function isAbsent(
  { target, call }: Asking,
  kind: Kind,
  { id = '', core }: Link,
): Promise<boolean> {
  const { users, groups } = target.client;
  const found =
    kind === 'User'
      ? await users.findBy('userName', String(core?.userName ?? ''), call)
      : await groups.findByDisplayName(String(core?.displayName ?? ''), call);
  if (found.some((shown) => shown.id === id)) return false;
  try {
    await (kind === 'User' ? users.get(id, call) : groups.get(id, { members: false }, call));
    return false;
  } catch (error) {
    if (isGone(error)) return true;
    throw error;
  }
}

/**
 * Sends a list request to the API of the refused call (SCIM or REST). Returns whether the platform answers it with success. If it
 * does, the refusal concerns the resource; if not, the refusal may come from a proxy.
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
