// Judges whether a user is protected, ends the sync of such a user without a write, and resumes removals after the protection.
// Flags of the link: directory/outbox/link.ts.
import { MEMBERSHIP_SIGN, withSign } from '../../directory/outbox/pending-memberships.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { fold } from '../../directory/records.ts';
import { condition } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import type { SyncOutcome } from '../outcome.ts';
import { LISTED_AS_PROTECTED, OWNER_OF_KEY, OWNER_UNTOLD } from '../target.ts';
import { removal } from '../names/succession.ts';

/** Time after which a sync is tried again that waits for the owner of a new key (`waitForKeyOwner`). */
const OWNER_TOLD_MS = 5000;

/**
 * Makes the kept removals pending: groups did not write them while the user was protected, or while the deactivation of a deleted
 * user was rejected. Does nothing while the account still has a protected name. A removal that an operator rejected alone stays.
 */
export async function resumeRemovals(context: SyncContext): Promise<void> {
  const { link, outbox, work } = context;
  const kept = withSign(work.pendingGroups, MEMBERSHIP_SIGN.keptRemoval);
  if (kept.length === 0 || isProtectedName(context, String(link.core?.userName ?? ''))) return;
  const rejected = await outbox.guardStore.areRejected(kept.map((group) => removal(group, work.id)));
  const resumed = kept.filter((_, index) => !rejected[index]);
  if (resumed.length === 0) return;
  await context.save({ resumed });
  for (const group of resumed) work.pendingGroups.set(group, MEMBERSHIP_SIGN.toRemove);
}

/**
 * Ends the sync of a protected user without a write. The condition tells whether the account stays active against the source.
 * @param why why the account is protected, as `whyUntouchable` returns it
 * @param whyNotActive why the source wants the account inactive, as the end of "the person ..."; undefined: it does not
 */
export function leaveAlone(context: SyncContext, why: string, whyNotActive: string | undefined): SyncOutcome {
  const { link } = context;
  link.departed = true;
  delete link.leftOpen;
  const staysActive = whyNotActive !== undefined && link.id !== undefined && link.core?.active === true;
  const message = staysActive ? `${why}, so it stays active although the person ${whyNotActive}` : why;
  return { kind: 'synced', dropGrants: true, condition: condition(context, 'Protected', message) };
}

/**
 * Returns the outcome of a user whose account the bridge does not change, or may not change until the platform tells whose key it
 * is. Undefined: the user is not protected; then a condition `Protected` ends, which a sync that waits or fails would leave as it
 * is.
 * @param userName as for `whyUntouchable`
 * @param whyNotActive as for `leaveAlone`
 */
export function endIfProtected(
  context: SyncContext,
  userName: string,
  whyNotActive: string | undefined,
): SyncOutcome | undefined {
  const { link } = context;
  const waiting = waitForKeyOwner(context, userName);
  if (waiting) return waiting;
  const untouchable = whyUntouchable(context, userName);
  if (untouchable) return leaveAlone(context, untouchable, whyNotActive);
  if (link.condition?.reason === 'Protected') delete link.condition;
  return undefined;
}

/**
 * Returns the outcome for a user who owned the key when its owner was told last, while the platform does not tell who owns the
 * present key: the sync is tried again. Until then the account is not changed, because the user may own this key too. It is not
 * left alone for good either: if the user does not own this key, a leaver would stay active, because nothing marks the user again.
 * @param userName as for `whyUntouchable`
 */
function waitForKeyOwner(context: SyncContext, userName: string): SyncOutcome | undefined {
  const { link, target } = context;
  if (target.catalogue.isKeyOwnerTold()) return undefined;
  const last = link.condition?.reason === 'Protected' ? link.condition.message : undefined;
  const why = whyUntouchable(context, userName) ?? last;
  if (!why?.startsWith(OWNER_OF_KEY)) return undefined;
  const untold = last && { condition: condition(context, 'Protected', OWNER_UNTOLD) };
  return { kind: 'later', afterMs: OWNER_TOLD_MS, ...untold };
}

/**
 * Returns why the bridge never changes the account of the link, or without link the account with this userName; undefined: it may.
 * @param userName the one that the account is to have
 */
export function whyUntouchable({ link, target }: SyncContext, userName: string): string | undefined {
  if (isProtectedName({ target }, userName)) return LISTED_AS_PROTECTED;
  const owner = target.catalogue.knownKeyOwner();
  if (owner !== undefined && isNamed(link, userName, owner)) {
    return `${OWNER_OF_KEY}: a bridge that changed its own key's account could lock itself out`;
  }
  return undefined;
}

/**
 * Returns whether the account of a user has a folded userName or is to get it. The account keeps its name at the platform while the
 * source has another one, so the owner of the key is recognised by both.
 * @param userName the one that the account is to have
 */
export const isNamed = ({ id, core }: Pick<Link, 'id' | 'core'>, userName: string, folded: string): boolean =>
  fold(userName) === folded || (id !== undefined && fold(String(core?.userName ?? '')) === folded);

/** Returns whether `users.protected` lists a userName. */
export const isProtectedName = ({ target }: Pick<SyncContext, 'target'>, userName: string): boolean =>
  target.policy.users.protected.some((each) => fold(each) === fold(userName));
