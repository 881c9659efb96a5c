// Finds people whose protection has changed with the settings or the platform key since their last sync.
import type { Condition } from '../../directory/outbox/link-condition.ts';
import { fold, parseRef, refOf, type Ref } from '../../directory/records.ts';
import { PlatformError } from '../../platform/errors.ts';
import type { Resource } from '../../scim/index.ts';
import { LISTED_AS_PROTECTED, OWNER_OF_KEY } from '../../sync/target.ts';
import type { ReconcileScope } from '../scope.ts';

/** Largest number of protected people that one run reads. */
const MOST_READ = 10_000;

/**
 * Returns the users who left `users.protected` or came into it since their last sync, and former owners of the platform key. No
 * list of the platform shows that, because a protected account may be equal, so a run marks them.
 */
export async function changedProtection(scope: ReconcileScope, signal: AbortSignal): Promise<Ref[]> {
  const { directory, links, outbox, target } = scope;
  const listed = new Set(target.policy.users.protected.map(fold));
  const known = await outbox.exceptions({ limit: MOST_READ, reasons: ['Protected'] });
  const found = await Promise.all(
    [...listed].map(async (name) => (await directory.lookup('User', 'username', name)) ?? []),
  );
  const named = found.flat().map((id) => refOf('User', id));
  const refs = new Set([...known.flatMap(({ ref }) => (ref?.startsWith('User:') ? [ref] : [])), ...named]);
  const changed: Ref[] = [];
  for (const ref of refs) {
    const { condition, core } = await links.get(target.name, ref);
    const isProtected = condition?.reason === 'Protected';
    const record = await directory.get('User', parseRef(ref).id);
    // The mapping cannot read a damaged record, so the name is not known.
    if (record?.damaged) continue;
    const name = record ? await mappedName(scope, record) : String(core?.userName ?? '');
    // The owner of the platform key is protected by no setting.
    const isByKey = isProtected && !condition.message.startsWith(LISTED_AS_PROTECTED);
    const hasChanged = isByKey
      ? await ownsKeyNoMore(target, condition, name, signal)
      : listed.has(fold(name)) !== isProtected;
    if (hasChanged) changed.push(ref);
  }
  return changed;
}

/**
 * Returns whether the last sync protected the user as the owner of the platform key, and the key has another owner now. False also if
 * the owner cannot be read: the key may still be this user's.
 * @param name userName at the target
 */
export async function ownsKeyNoMore(
  { catalogue }: Pick<ReconcileScope['target'], 'catalogue'>,
  condition: Pick<Condition, 'reason' | 'message'> | undefined,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (condition?.reason !== 'Protected' || !condition.message.startsWith(OWNER_OF_KEY)) return false;
  const owner = await catalogue.keyOwner(signal).catch((error: unknown) => {
    if (error instanceof PlatformError) return undefined;
    throw error;
  });
  return owner !== undefined && owner !== fold(name);
}

/** Returns the userName that a user is to have at the target. */
async function mappedName(
  { directory, target }: ReconcileScope,
  { id, text }: { id: string; text: string },
): Promise<string> {
  const [joined = []] = await directory.groupsOf([id]);
  const { core } = await target.mapping.user(JSON.parse(text) as Resource, id, joined);
  return String(core.userName);
}
