// Finds people whose protection has changed with the settings or the API key since their last sync.
import type { Link } from '../../directory/outbox/link.ts';
import { fold, parseRef, refOf, type Ref } from '../../directory/records.ts';
import { PlatformError } from '../../platform/errors.ts';
import type { Resource } from '../../scim/index.ts';
import { LISTED_AS_PROTECTED, OWNER_OF_KEY } from '../../sync/target.ts';
import { isNamed } from '../../sync/user/protected-user.ts';
import { MOST_PROTECTED } from '../compare/protected.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Returns the users who left `users.protected` or came into it since their last sync, and former owners of the API key. A run
 * marks them, because no list of the platform shows the change: the account may have no difference.
 */
export async function changedProtection(scope: ReconcileScope, signal: AbortSignal): Promise<Ref[]> {
  const { directory, links, outbox, target } = scope;
  const listed = new Set(target.policy.users.protected.map(fold));
  const known = await outbox.exceptions({ limit: MOST_PROTECTED, reasons: ['Protected'] });
  const found = await Promise.all(
    [...listed].map(async (name) => (await directory.lookup('User', 'username', name)) ?? []),
  );
  const named = found.flat().map((id) => refOf('User', id));
  const refs = new Set([...known.flatMap(({ ref }) => (ref?.startsWith('User:') ? [ref] : [])), ...named]);
  const changed: Ref[] = [];
  for (const ref of refs) {
    const link = await links.get(target.name, ref);
    const { condition } = link;
    const isProtected = condition?.reason === 'Protected';
    const name = await judgedName(scope, ref, link);
    if (name === undefined) continue;
    // The owner of the API key is protected by no setting.
    const isByKey = isProtected && !condition.message.startsWith(LISTED_AS_PROTECTED);
    const hasChanged = isByKey
      ? await ownsKeyNoMore(scope, ref, link, signal)
      : listed.has(fold(name)) !== isProtected;
    if (hasChanged) changed.push(ref);
  }
  return changed;
}

/**
 * Returns whether the last sync protected the user as the owner of the API key, and the key has another owner now. False also if
 * the owner cannot be read, the key has no owner, or the record of the user is damaged: the key may still be this user's.
 * @param ref of a user, or of a group, which is never protected
 */
export async function ownsKeyNoMore(
  scope: ReconcileScope,
  ref: Ref,
  link: Pick<Link, 'condition' | 'core' | 'id'>,
  signal: AbortSignal,
): Promise<boolean> {
  const { condition } = link;
  if (condition?.reason !== 'Protected' || !condition.message.startsWith(OWNER_OF_KEY)) return false;
  const name = await judgedName(scope, ref, link);
  if (name === undefined) return false;
  const owner = await scope.target.catalogue.keyOwner(signal).catch((error: unknown) => {
    if (error instanceof PlatformError) return undefined;
    throw error;
  });
  return owner !== undefined && !isNamed(link, name, owner);
}

/**
 * Returns the userName by which a sync judges the protection of a user: the desired userName at the target, also out of scope; of a
 * deleted user the last userName there. Undefined: the record is damaged, so no name is known.
 */
async function judgedName(
  { directory, target }: ReconcileScope,
  ref: Ref,
  link: Pick<Link, 'core'>,
): Promise<string | undefined> {
  const { id } = parseRef(ref);
  const record = await directory.get('User', id);
  if (!record) return String(link.core?.userName ?? '');
  if (record.damaged) return undefined;
  const [joined = []] = await directory.groupsOf([id]);
  const { core } = await target.mapping.user(JSON.parse(record.text) as Resource, id, joined);
  return String(core.userName);
}
