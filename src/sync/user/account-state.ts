// Activates and deactivates the account of a user. Flags of the link: directory/outbox/link.ts.
import type { Permission } from '../../directory/guard/guard-store.ts';
import { forgetObserved, type Link, platformIdOf } from '../../directory/outbox/link.ts';
import { isAwaitingDecision } from '../../directory/outbox/link-condition.ts';
import { PlatformResponse } from '../../platform/errors.ts';
import type { PlatformPatchOperation, WireUser } from '../../platform/wire.ts';
import type { SyncContext } from '../context.ts';
import { isGone } from '../calls/failures.ts';
import { permitClosing } from '../gate.ts';
import type { Why } from '../provisioning-writer.ts';

/** Returns whether the account may have this state: the link has it, does not know it, or is unsure about it. */
const mayBe = ({ core, unsure }: Link, active: boolean): boolean =>
  core?.active === active || core?.active === undefined || (unsure ?? []).includes('active');

/** Returns whether the account may be active at the platform. */
export const mayBeActive = (link: Link): boolean => mayBe(link, true);

/** Returns whether the account may be inactive at the platform. */
export const mayBeInactive = (link: Link): boolean => mayBe(link, false);

/**
 * Deactivates the account if the guard allows it. An account that somebody else closed at the platform needs no permission.
 * @returns the decision of the guard; `allowed`: the account is closed now
 */
export async function deactivate(context: SyncContext): Promise<Permission> {
  if (await isClosedByOthers(context)) {
    context.gate.closed = true;
    await context.save();
    return 'allowed';
  }
  const permission = await permitClosing(context);
  if (permission === 'allowed') {
    await setActive(context, false, context.gate.remark);
    context.gate.closed = true;
    await context.save();
  }
  return permission;
}

/**
 * Returns whether somebody else closed the account. Reads the account, and notes its state in the link, only if a comparison saw it
 * closed or a change of the person awaits a decision.
 * @throws PlatformError, a 404 when the account is gone
 */
async function isClosedByOthers({ clock, link, target, call }: SyncContext): Promise<boolean> {
  const mayBeClosed = link.observed?.active === false || isAwaitingDecision(link.condition);
  if (!mayBeActive(link) || !mayBeClosed) return false;
  const { active } = await target.client.users.get(platformIdOf(link), call);
  if (active === undefined) return false;
  forgetObserved(link, 'active');
  // An open state is noted too: if somebody opened the account after the bridge closed it, later syncs have to ask for its closing.
  link.core = { ...link.core, active };
  if (active) delete link.closedAt;
  else link.closedAt = clock.now();
  return !active;
}

/**
 * Activates or deactivates the account. The link is changed but not saved: the caller saves it, or ends the sync. If neither the
 * answer nor a read shows the state, `active` stays unsure.
 * @throws WriteIgnored when the platform answers success and the account keeps its state
 */
export async function setActive(context: SyncContext, active: boolean, why?: Why): Promise<void> {
  const { link, target } = context;
  const change: PlatformPatchOperation[] = [{ op: 'replace', path: 'active', value: active }];
  const run = () => target.client.users.patch(platformIdOf(link), change, context.call);
  let shown: boolean | undefined;
  await context.attempt(['active'], active ? 'activate user' : 'deactivate user', run, {
    why,
    ignoredText: async (account) => {
      shown = await stateAfter(context, account, active);
      return shown === !active
        ? `the platform answered success and left the account ${active ? 'inactive' : 'active'}`
        : undefined;
    },
  });
  if (shown === undefined) link.unsure = [...(link.unsure ?? []), 'active'];
  link.core = { ...link.core, active };
  if (active) delete link.closedAt;
  else link.closedAt = context.clock.now();
}

/**
 * Returns the state of the account after the write; undefined: the platform does not show it. The answer may show an old state or
 * none, so the account is read before the write counts as ignored or unproven. An answer without body confirms the write.
 */
async function stateAfter(
  { link, target, call }: SyncContext,
  answer: WireUser | undefined,
  active: boolean,
): Promise<boolean | undefined> {
  if (answer === undefined || answer.active === active) return active;
  try {
    return (await target.client.users.get(platformIdOf(link), call)).active;
  } catch (error) {
    // The platform answered the write with success. A refused read leaves the write unproven, and must not repeat it without end.
    if (answer.active === undefined && error instanceof PlatformResponse && !isGone(error)) return undefined;
    throw error;
  }
}

/**
 * Notes in the link whether the policy leaves an account open that should be closed. Each reconcile compares such an account.
 */
export function noteLeftOpen({ link, target }: SyncContext, shouldBeActive: boolean): void {
  if (target.policy.policy !== 'sync' && !shouldBeActive && mayBeActive(link)) link.leftOpen = true;
  else delete link.leftOpen;
}
