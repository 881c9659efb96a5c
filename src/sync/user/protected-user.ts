// Judges whether a user is protected, ends the sync of such a user without a write, and resumes removals after the protection.
// Flags of the link: directory/outbox/link.ts.
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { fold } from '../../directory/records.ts';
import { condition } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { isProtectedName } from '../group/leavers.ts';
import type { SyncOutcome } from '../outcome.ts';
import { LISTED_AS_PROTECTED, OWNER_OF_KEY } from '../target.ts';
import { removal } from '../names/succession.ts';

/** Wait of a sync for the owner of a new key. */
const OWNER_TOLD_MS = 5000;

/**
 * Makes the kept removals pending: groups did not write them while the user was protected, or while the deactivation of a deleted
 * user was rejected. Does nothing while the account still has a protected name. A removal that an operator rejected alone stays.
 */
export async function resumeRemovals(context: SyncContext): Promise<void> {
  const { link, outbox, work } = context;
  const kept = [...work.pendingGroups].flatMap(([group, sign]) =>
    sign === MEMBERSHIP_SIGN.keptRemoval ? [group] : [],
  );
  if (kept.length === 0 || isProtectedName(context, String(link.core?.userName ?? ''))) return;
  const rejected = await outbox.guardStore.areRejected(kept.map((group) => removal(group, work.id)));
  const resumed = kept.filter((_, index) => !rejected[index]);
  if (resumed.length === 0) return;
  await context.save({ resumed });
  for (const group of resumed) work.pendingGroups.set(group, MEMBERSHIP_SIGN.toRemove);
}

/**
 * Ends the sync of a protected user without a write. The condition tells whether the account stays active against the source. Until
 * the owner of a new key is told, the sync of the former owner waits.
 * @param why why the account is protected, as `whyUntouchable` returns it
 * @param whyNotActive why the source wants the account inactive, as the end of "the person ..."; undefined: it does not
 */
export function leaveAlone(context: SyncContext, why: string, whyNotActive: string | undefined): SyncOutcome {
  const { link, target } = context;
  // With a new key the person may own none, and nothing would mark a leaver again.
  if (why.startsWith(OWNER_OF_KEY) && target.catalogue.isOwnerOfFormerKey())
    return { kind: 'later', afterMs: OWNER_TOLD_MS };
  link.departed = true;
  delete link.leftOpen;
  const staysActive = whyNotActive !== undefined && link.id !== undefined && link.core?.active === true;
  const message = staysActive ? `${why}, so it stays active although the person ${whyNotActive}` : why;
  const protectedFrom = condition(context, 'Protected', message);
  return { kind: 'synced', dropGrants: true, condition: protectedFrom };
}

/** Removes the condition `Protected` of a user who is no longer protected. A sync that waits or fails would leave it as it is. */
export function endProtection(link: Link): void {
  if (link.condition?.reason === 'Protected') delete link.condition;
}

/** Returns why the bridge never changes the account with this userName; undefined: it may. */
export function whyUntouchable({ target }: SyncContext, userName: string): string | undefined {
  const name = fold(userName);
  if (target.policy.users.protected.some((protectedName) => fold(protectedName) === name)) {
    return LISTED_AS_PROTECTED;
  }
  if (target.catalogue.knownKeyOwner() === name) {
    return `${OWNER_OF_KEY}: a bridge that changed its own key's account could lock itself out`;
  }
  return undefined;
}
