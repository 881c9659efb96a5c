// Activates and deactivates the account of a user.
import type { Permission } from '../directory/guard/guard-store.ts';
import type { Link } from '../directory/outbox/links.ts';
import type { PlatformPatchOperation, WireUser } from '../platform/wire.ts';
import type { SyncContext } from './context.ts';
import { permitClosing } from './gate.ts';
import { forgetObserved } from './observed.ts';
import type { Why } from './provisioning-writer.ts';

/** Returns whether the account may have this `active` state, by the link. */
export const mayBe = ({ core, unsure }: Link, active: boolean): boolean =>
  core?.active === active || core?.active === undefined || (unsure ?? []).includes('active');

/** Deactivates the account if the guard allows it. An account that others have closed already needs no permission. */
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
 * Reads the account if a comparison saw it closed while its deactivation waits, and notes the state that it has.
 * @throws PlatformResponse 404 when the account is gone
 */
async function isClosedByOthers({ clock, link, target, call }: SyncContext): Promise<boolean> {
  if (!mayBe(link, true) || link.observed?.active !== false) return false;
  const { active } = await target.client.users.get(link.id ?? '', call);
  forgetObserved(link, 'active');
  if (active !== false) return false;
  link.core = { ...link.core, active };
  link.closedAt = clock.now();
  return true;
}

/** The caller saves the link, or ends the sync, which stores it. */
export async function setActive(context: SyncContext, active: boolean, why?: Why): Promise<void> {
  const { link, target } = context;
  const change: PlatformPatchOperation[] = [{ op: 'replace', path: 'active', value: active }];
  const run = () => target.client.users.patch(link.id ?? '', change, context.call);
  await context.attempt(['active'], active ? 'activate user' : 'deactivate user', run, {
    why,
    ignoredText: async (account) =>
      (await isLeftOut(context, account, active))
        ? `the platform answered success and left the account ${active ? 'inactive' : 'active'}`
        : undefined,
  });
  link.core = { ...link.core, active };
  if (active) delete link.closedAt;
  else link.closedAt = context.clock.now();
}

/** Returns whether the account has the other state. The answer of a write may show the account before it, so it is read. */
async function isLeftOut(
  { link, target, call }: SyncContext,
  answer: WireUser | undefined,
  active: boolean,
): Promise<boolean> {
  if (answer?.active === undefined || answer.active === active) return false;
  return (await target.client.users.get(link.id ?? '', call)).active !== active;
}
