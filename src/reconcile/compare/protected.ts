// Decides whether a user is protected: no run compares the account, because the bridge never changes it.
import type { Link } from '../../directory/outbox/link.ts';
import { fold } from '../../directory/records.ts';
import { PlatformError } from '../../platform/errors.ts';
import { LISTED_AS_PROTECTED, OWNER_OF_KEY, type Target } from '../../sync/target.ts';
import { isNamed } from '../../sync/user/protected-user.ts';
import type { ReconcileScope } from '../scope.ts';

/** Largest number of protected people that are read. */
export const MOST_PROTECTED = 10_000;

/** The facts that decide whether a person whom the last sync protected is still protected. */
export interface Protection {
  /** `users.protected` of the settings. */
  listed: readonly string[];
  /** Folded userName of the API key's owner; undefined: not known, or the key has none. */
  keyOwner: string | undefined;
}

/** Returns what protects users of the target, by the owner of the key as it was read last (`learnKeyOwner`). */
export const protectionAt = ({ policy, catalogue }: Pick<Target, 'policy' | 'catalogue'>): Protection => ({
  listed: policy.users.protected,
  keyOwner: catalogue.isKeyOwnerTold() ? catalogue.knownKeyOwner() : undefined,
});

/**
 * Returns whether the user is never changed: the last sync protected the user, who is still listed in `users.protected`, or still
 * owns the API key. While the owner of the key is not known, a user who owned it at the last sync counts as the owner.
 * @param name the desired userName, if it is known
 */
export function isProtected(link: Link, { listed, keyOwner }: Protection, name?: string): boolean {
  const { condition, core } = link;
  if (condition?.reason !== 'Protected') return false;
  const userName = name ?? String(core?.userName ?? '');
  if (listed.some((each) => fold(each) === fold(userName))) return true;
  return keyOwner === undefined
    ? !condition.message.startsWith(LISTED_AS_PROTECTED)
    : isNamed(link, userName, keyOwner);
}

/**
 * Reads the owner of the API key for `protectionAt`, if the last sync of a person protected the person as the owner: the key may
 * have another owner by now, and the next sync would write. An owner that cannot be read stays unknown.
 */
export async function learnKeyOwner(
  { outbox, target }: Pick<ReconcileScope, 'outbox' | 'target'>,
  signal: AbortSignal,
): Promise<void> {
  const known = await outbox.exceptions({ limit: MOST_PROTECTED, reasons: ['Protected'] });
  if (!known.some(({ message }) => message.startsWith(OWNER_OF_KEY))) return;
  await target.catalogue.keyOwner(signal).catch((error: unknown) => {
    if (!(error instanceof PlatformError)) throw error;
  });
}
