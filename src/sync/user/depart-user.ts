// Handles a user who was deleted at the source or is out of scope. Steps, in this order:
// 1. Without a link: link the account that a create without answer made or a lost link led to. If there is none, end.
// 2. Make kept removals pending again, unless the deactivation of a deleted user is rejected.
// 3. Under the policy `sync`: close the account. If the guard does not allow it, the account stays open, and the sync ends.
// 4. Make kept removals pending again, also after a rejected deactivation: the account is closed, or the policy closes none.
// 5. Delete the account if that is due and waits for no handover. Else free its name for others, and set an alarm for the deletion.
// Flags of the link: directory/outbox/link.ts. `gate`: context.ts.
import { platformIdOf, type TriedCreate } from '../../directory/outbox/link.ts';
import type { WireUser } from '../../platform/wire.ts';
import { isAbsent } from '../calls/absence.ts';
import { deactivate, mayBeActive, noteLeftOpen } from './account-state.ts';
import { condition } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { deleteThere, noteDeleted } from '../deletion.ts';
import { deletionDue, deletionTime } from './deletion-due.ts';
import { findUser } from './find-user.ts';
import { accountsMatching } from './matching-accounts.ts';
import { isGone } from '../calls/failures.ts';
import { ended, permitOne } from '../gate.ts';
import type { SyncOutcome } from '../outcome.ts';
import { linkLeftAccount } from './left-account.ts';
import { resumeRemovals } from './protected-user.ts';
import { unprovenMade } from '../names/left-there.ts';
import { untilShown } from '../names/lost-create.ts';
import { giveUpFormerName, noteFormerName } from '../names/former-name.ts';
import { withTemporaryName } from '../names/temporary-name.ts';

/**
 * Syncs a user who was deleted at the source or is out of scope. Kept removals of memberships become pending ones again
 * (`resumeRemovals`), except while the deactivation of a deleted user is rejected.
 */
export async function depart(context: SyncContext): Promise<SyncOutcome> {
  const { clock, handovers, link, outbox, target, work } = context;
  const unfinished = await findUnlinkedAccount(context);
  if (unfinished) return unfinished;
  if (link.id === undefined) {
    // No account is found, so `departed` of an earlier sync ends. That sync found an account that it left as it is: one that may be
    // another person's, under a policy that closes none (`unprovenLeft` in names/left-there.ts), or a protected one (`leaveAlone`).
    delete link.departed;
    await resumeRemovals(context);
    return FORGOTTEN;
  }
  noteLeftOpen(context, false);
  noteFormerName(context);
  // The account of a deleted person whose deactivation was rejected keeps its memberships (guard_leavers.lua).
  const closing = { kind: 'deactivate', ref: work.ref } as const;
  const [isKept] = work.record ? [] : await outbox.guardStore.areRejected([closing]);
  if (!isKept) await resumeRemovals(context);
  if (target.policy.policy === 'sync' && mayBeActive(link)) {
    const ending = await closeAccount(context);
    if (ending) return ending;
  }
  // The account is closed, or the policy closes none, so a rejected deactivation keeps no removal any more.
  await resumeRemovals(context);
  link.departed = true;
  const { ref, deletedAt } = work;
  const account = { ref, deletedAt, closedAt: link.closedAt };
  const now = clock.now();
  const deleteAt = await deletionTime(target.policy, handovers, account, now);
  if (deleteAt !== undefined && deleteAt <= now) return deleteAccount(context);
  // The deletion waits for the handover only, so a decision about it is kept.
  if ((deletionDue(target.policy, deletedAt) ?? Infinity) <= now) context.gate.postponed.push('delete');
  await giveUpFormerName(context);
  return ended(context, { dropGrants: true, ...(deleteAt === undefined ? {} : { alarmAt: deleteAt }) });
}

/** Outcome of a user without an account at the platform: nothing is left to sync. */
const FORGOTTEN: SyncOutcome = { kind: 'synced', forget: true, dropGrants: true };

/**
 * Links the account that a create with a lost answer may have made, or that a dropped or lost link led to, so that it is closed.
 * @returns an outcome that ends the sync: the search goes on later, a person has to act, or the account stays as it is (it is
 *   protected, or unproven under a policy that closes none); undefined: the search has ended, with or without an account
 */
async function findUnlinkedAccount(context: SyncContext): Promise<SyncOutcome | undefined> {
  const { link } = context;
  if (link.tried) {
    // Without attributes the adoption reads no values, because none is to be written.
    const desired = { inScope: false, active: false, core: link.tried.core, attributes: {}, faults: [] };
    const found = await findUser(context, desired);
    const waiting = found.kind === 'absent' ? untilShown(context) : found;
    if (waiting?.kind === 'later') return waiting;
    // `blocked`: no account is proven to be this person's. If none that the create may have made is open, nothing is to be closed.
    const unproven = found.kind === 'blocked' ? await unprovenOpen(context, link.tried) : undefined;
    if (unproven) return unproven;
    delete link.tried;
  }
  return link.id === undefined && link.mayExist ? linkLeftAccount(context, link.mayExist) : undefined;
}

/** Closes the account. @returns the outcome if the account stays open or is gone; undefined: it is closed */
async function closeAccount(context: SyncContext): Promise<SyncOutcome | undefined> {
  const { gate, link, work } = context;
  try {
    // Set before the write, for the condition if the platform refuses the closing.
    gate.isLeaver = true;
    const isOpen = (await deactivate(context)) !== 'allowed';
    if (!isOpen) {
      gate.isLeaver = false;
      return undefined;
    }
    // A user out of scope may come back, so the guard keeps its decisions about values that are to be emptied.
    if (work.record) gate.postponed = ['clearAttributes'];
    // The pending additions of such a user stay (no `dropGrants`), and no group writes them now: later, the closing of the account
    // drops them, or a return into scope lets the groups write them.
    return await withTemporaryName(context, ended(context, work.record ? {} : { dropGrants: true }));
  } catch (error) {
    if (!isGone(error) || !(await isAbsent(context, 'User', link))) throw error;
    await resumeRemovals(context);
    noteDeleted(context, 'delete user');
    return FORGOTTEN;
  }
}

/** Returns the outcome (`unprovenMade`) about open accounts that the create may have made; undefined: there are none. */
async function unprovenOpen(context: SyncContext, { core }: TriedCreate): Promise<SyncOutcome | undefined> {
  const open = (await accountsMatching(context, core)).filter(
    // Different externalIds mean different people.
    ({ active, externalId }) =>
      active !== false && (!externalId || !core.externalId || externalId === core.externalId),
  );
  return unprovenMade(context, open, 'deactivate or delete it');
}

/**
 * Deletes the account if the guard allows it. An account with another externalId than the link (contract 12.4), that may be active
 * again, or that another connection is linked to too, becomes a dead letter.
 */
async function deleteAccount(context: SyncContext): Promise<SyncOutcome> {
  const { link, target } = context;
  const { client } = target;
  const id = platformIdOf(link);
  try {
    const account = await client.users.get(id, context.call);
    const reason = whyNotDelete(context, account) ?? (await whyShared(context, id));
    if (reason !== undefined)
      return {
        kind: 'blocked',
        condition: { ...condition(context, 'Conflict', reason), write: 'delete' },
      };
    if ((await permitOne(context, { kind: 'delete' })) !== 'allowed')
      return ended(context, { dropGrants: true });
    await deleteThere(context, {
      operation: 'delete user',
      run: () => client.users.delete(id, context.call),
      read: () => client.users.get(id, context.call),
    });
  } catch (error) {
    if (!isGone(error) || !(await isAbsent(context, 'User', link))) throw error;
    noteDeleted(context, 'delete user');
  }
  return FORGOTTEN;
}

/** Returns why an account to which another connection is linked too must be deleted by hand; undefined: there is no such link. */
async function whyShared({ links, target }: SyncContext, id: string): Promise<string | undefined> {
  const other = await links.elsewhere.holderOf(target.name, 'User', id);
  return (
    other && `the account belongs to ${other.name} of connection ${other.connection} too: delete it by hand`
  );
}

/** Returns why the account must be deleted by hand; undefined: the bridge may delete it. */
function whyNotDelete({ gate, link }: SyncContext, account: WireUser): string | undefined {
  if ((account.externalId ?? null) !== (link.core?.externalId ?? null))
    return 'the account carries another externalId than the one that was provisioned: delete it by hand';
  // An account that was closed earlier and is active now is in use. Right after closing, a read may lag.
  if (account.active !== false && !gate.closed)
    return account.active === undefined
      ? 'the platform does not show whether the account is active: look there, and delete it by hand'
      : 'the account is active again at the platform: deactivate it there, or delete it by hand';
  return undefined;
}
