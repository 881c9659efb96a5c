// Syncs one user at one target in a fixed order: deactivate, remove memberships, set attributes, add memberships, activate.
// Each step waits for the one before it, so a user never has more access in between than in the end.
import type { Link } from '../directory/outbox/links.ts';
import { fold, refOf } from '../directory/records.ts';
import type { WireUser } from '../platform/wire.ts';
import type { Resource } from '../scim/index.ts';
import { isAbsent } from './absence.ts';
import { deactivate, mayBe, setActive } from './account-state.ts';
import { writeAttributes } from './attributes.ts';
import { condition, isRecordLost, recordDamaged, recordLost } from './condition.ts';
import type { SyncContext } from './context.ts';
import { deleteThere, noteDeleted } from './deletion.ts';
import { attributeChanges, coreOperations } from './diff.ts';
import {
  createMissingAccount,
  findUser,
  isUnlisted,
  observeLinked,
  type Exists,
  type FoundAccount,
} from './find-user.ts';
import { isGone, isStatus } from './failures.ts';
import { ended, permitOne, resetGate } from './gate.ts';
import type { DesiredUser } from './mapping.ts';
import { isProtectedName } from './members.ts';
import type { SyncOutcome } from './outcome.ts';
import { LISTED_AS_PROTECTED } from './target.ts';
import { removal } from './succession.ts';
import { waitForName } from './taken-name.ts';
import { rememberRefusal } from './combined-patch.ts';

/** Number of restarts within one sync after the platform lost the account. */
const RESTARTS = 2;
const DAY_MS = 86_400_000;
/** Interval of attempts while the guard holds the awaited change. */
const HELD_RETRY_MS = 600_000;

/** Returns the outcome. An account that is gone at the platform is looked up or created anew. @throws PlatformError */
export async function syncUser(context: SyncContext, exists: Exists): Promise<SyncOutcome> {
  const { work, link, target } = context;
  const { record } = work;
  if (!record) {
    if (isRecordLost(work)) return recordLost(context);
    const untouchable = whyUntouchable(context, String(link.core?.userName ?? ''));
    if (untouchable) return leaveAlone(context, untouchable, 'is deleted at the source');
    endProtection(link);
    return depart(context, exists);
  }
  if (record.damaged) return recordDamaged(context);
  const resource = JSON.parse(record.text) as Resource;
  const desired = await target.mapping.user(resource, work.id, work.groups);
  // The key's owner must be known before an account is adopted or created; for a leaver the gate asks.
  if (link.id === undefined) await target.catalogue.keyOwner(context.call.signal);
  const untouchable = whyUntouchable(context, String(desired.core.userName));
  if (untouchable) return leaveAlone(context, untouchable, whyInactive(desired));
  endProtection(link);
  if (!desired.inScope) return depart(context, exists);
  for (let restart = 0; ; restart++) {
    try {
      return await syncInScope(context, desired, exists);
    } catch (error) {
      if (!isGone(error) || link.id === undefined || restart >= RESTARTS) throw error;
      if (!(await isAbsent(context, 'User', link))) throw error;
      context.logger.warn({ ref: work.ref }, 'account is gone at the platform, looking for it anew');
      unlink(context);
    }
  }
}

/** Syncs a user in scope: account, deactivation, attributes, core attributes, activation. */
async function syncInScope(context: SyncContext, desired: DesiredUser, exists: Exists): Promise<SyncOutcome> {
  const { work, link, target } = context;
  const { policy } = target;
  delete link.deleting;
  if (link.id === undefined) {
    let found: FoundAccount = (await isUnlisted(context, desired))
      ? { kind: 'absent' }
      : await findUser(context, desired, exists);
    if (found.kind === 'absent') found = await createMissingAccount(context, desired, exists);
    if (found.kind === 'blocked')
      return { kind: 'blocked', writes: context.writes, condition: found.condition };
    if (found.kind === 'later') return { ...found, writes: context.writes };
  }
  if (link.core === undefined) await observeLinked(context, desired);
  noteLeftOpen(context, desired.active);
  await resumeRemovals(context);
  if (policy.policy === 'create-only' && !link.making) {
    if (link.observedGeneration !== work.generation) {
      link.observedGeneration = work.generation;
      await context.save({ requeueGroups: true });
    }
    return { kind: 'synced', writes: context.writes };
  }
  if (link.departed) {
    delete link.departed;
    await context.save({ rewriteMemberships: true });
  }

  if (!desired.active && mayBe(link, true) && policy.policy === 'sync') {
    // While a deactivation is held, only core attributes are written: the user must not gain access.
    if ((await deactivate(context)) === 'held') {
      context.gate.unasked = ['clearAttributes'];
      return (await writeCore(context, desired)) ?? ended(context);
    }
  }

  const pendingSigns = [...work.pendingGroups.values()];
  const mayGainAccess =
    desired.active && attributeChanges(desired.attributes, link.attributes ?? {}, link.unsure).length > 0;
  if (mayGainAccess && mayBe(link, true) && pendingSigns.includes('-')) return waitForRemovals(context);
  const attributes = await writeAttributes(context, desired);
  if (attributes.kind === 'later') return { ...attributes, writes: context.writes };
  if (attributes.kind === 'done' && link.observedGeneration !== work.generation) {
    link.observedGeneration = work.generation;
    // Memberships may have been added since the sync began, so the script checks the pending ones again.
    await context.save({ requeueGroups: true });
  }

  const unfinished = await writeCore(context, desired);
  if (unfinished) return unfinished;
  // The platform accepted every single write, so it refused the combined form and not a value.
  if (context.isCombinedPatchRefused && attributes.kind === 'done') rememberRefusal(context);
  if (attributes.kind === 'blocked') return { ...attributes, writes: context.writes };
  if (attributes.kind === 'held') return ended(context);

  if (desired.active && mayBe(link, false)) {
    if (policy.users.activation === 'safe') {
      if (pendingSigns.includes('-')) return waitForRemovals(context);
      if (await hasPendingGrants(context))
        return { kind: 'waiting', writes: context.writes, for: 'memberships' };
    }
    // Checks for a newer change, so that a user who was deactivated meanwhile is never activated.
    if (!(await context.outbox.isCurrent(work))) return { kind: 'later', writes: context.writes, afterMs: 0 };
    await setActive(context, true);
  }
  delete link.making;
  delete link.observedGeneration;
  // A user whose protected name was changed has lost the protection only now, with the write of the new name.
  await resumeRemovals(context);
  return ended(context);
}

/** Writes changed core attributes in one PATCH. @returns an outcome when the sync cannot continue */
async function writeCore(context: SyncContext, desired: DesiredUser): Promise<SyncOutcome | undefined> {
  const { link, target } = context;
  const operations = coreOperations(desired.core, link.core ?? {}, link.unsure);
  if (operations.length === 0) return undefined;
  try {
    const paths = operations.flatMap(({ path }) => path ?? []);
    const { externalId } = desired.core;
    if (typeof externalId === 'string' && paths.includes('externalId'))
      await target.recentExternalIds.note(externalId);
    await context.attempt(paths, 'update user', () =>
      target.client.users.patch(link.id ?? '', operations, context.call),
    );
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
    const waiting = await waitForName(context, String(desired.core.userName));
    if (waiting === undefined) throw error;
    return { ...waiting, writes: context.writes };
  }
  link.core = { ...link.core, ...desired.core };
  await context.save();
  return undefined;
}

/** Handles a user who was deleted at the source or is out of scope. */
async function depart(context: SyncContext, exists: Exists): Promise<SyncOutcome> {
  const { gate, link, target, work } = context;
  if (link.creating && link.core) {
    // A create with a lost answer may have created an account, which has to be found and closed.
    const left = { inScope: false, active: false, core: link.core, attributes: {}, faults: [] };
    await findUser(context, left, exists);
  }
  if (link.id === undefined) {
    return { kind: 'synced', writes: context.writes, forget: true, dropGrants: true };
  }
  noteLeftOpen(context, false);
  await resumeRemovals(context);
  if (target.policy.policy === 'sync' && mayBe(link, true)) {
    try {
      const isOpen = (await deactivate(context)) !== 'allowed';
      gate.isLeaver = isOpen;
      // A user out of scope may come back, so held removals of attributes are kept.
      if (isOpen && work.record) gate.unasked = ['clearAttributes'];
      if (isOpen) return ended(context, { dropGrants: true });
    } catch (error) {
      if (!isGone(error) || !(await isAbsent(context, 'User', link))) throw error;
      noteDeleted(context, 'delete user');
      return { kind: 'synced', writes: context.writes, forget: true, dropGrants: true };
    }
  }
  link.departed = true;
  const deleteAt = target.policy.policy === 'sync' ? deletionDue(context) : undefined;
  if (deleteAt !== undefined && deleteAt <= context.clock.now()) return deleteAccount(context);
  return ended(context, { dropGrants: true, ...(deleteAt === undefined ? {} : { alarmAt: deleteAt }) });
}

/**
 * Makes the removals pending that groups did not write while the user was protected. Does nothing while the account still
 * has a protected name. A removal that an operator rejected stays rejected.
 */
async function resumeRemovals(context: SyncContext): Promise<void> {
  const { link, outbox, work } = context;
  const kept = [...work.pendingGroups].flatMap(([group, sign]) => (sign === 'r' ? [group] : []));
  if (kept.length === 0 || isProtectedName(context, String(link.core?.userName ?? ''))) return;
  const rejected = await outbox.guardStore.areRejected(kept.map((group) => removal(group, work.id)));
  const resumed = kept.filter((_, index) => !rejected[index]);
  if (resumed.length === 0) return;
  await context.save({ resumed });
  for (const group of resumed) work.pendingGroups.set(group, '-');
}

/**
 * Notes in the link whether the policy leaves an account open that should be closed. Every reconcile compares such accounts.
 */
function noteLeftOpen({ link, target }: SyncContext, shouldBeActive: boolean): void {
  if (target.policy.policy !== 'sync' && !shouldBeActive && mayBe(link, true)) link.leftOpen = true;
  else delete link.leftOpen;
}

/** Returns the time at which the account is deleted, Unix milliseconds; undefined: never. */
function deletionDue({ target, work }: SyncContext): number | undefined {
  const { deprovision, deleteAfterDays } = target.policy.users;
  if (deprovision === 'delete') return 0;
  if (deleteAfterDays === null || work.deletedAt === undefined) return undefined;
  return work.deletedAt + deleteAfterDays * DAY_MS;
}

/** Deletes the account if the guard allows it, and the account still has the externalId of the link (contract 12.4). */
async function deleteAccount(context: SyncContext): Promise<SyncOutcome> {
  const { link, target } = context;
  const { client } = target;
  const id = link.id ?? '';
  try {
    const account = await client.users.get(id, context.call);
    const reason = whyNotDelete(context, account);
    if (reason !== undefined)
      return {
        kind: 'blocked',
        writes: context.writes,
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
  return { kind: 'synced', writes: context.writes, forget: true, dropGrants: true };
}

/** Returns why the account must be deleted by hand; undefined: the bridge may delete it. */
function whyNotDelete({ gate, link }: SyncContext, account: WireUser): string | undefined {
  if ((account.externalId ?? null) !== (link.core?.externalId ?? null))
    return 'the account carries another externalId than the one that was provisioned: delete it by hand';
  // An account that was closed earlier and is active now is in use. Right after closing, a read may lag.
  if (account.active !== false && !gate.closed)
    return 'the account is active again at the platform: deactivate it there, or delete it by hand';
  return undefined;
}

/**
 * Returns the outcome for a user who waits until groups have removed the user; each group marks the user afterwards. Groups
 * without a pending sync are marked, because they may wait for the decision about the account. If all removals are held, the
 * next attempt follows after HELD_RETRY_MS.
 */
async function waitForRemovals({ outbox, work, writes }: SyncContext): Promise<SyncOutcome> {
  const groups = [...work.pendingGroups].filter(([, sign]) => sign === '-').map(([group]) => group);
  const held = await outbox.guardStore.areHeld(groups.map((group) => removal(group, work.id)));
  for (const [index, group] of groups.entries()) {
    const ref = refOf('Group', group);
    if (held[index] !== true && (await outbox.isAtRest(ref))) await outbox.mark([ref], 'edit', work.request);
  }
  const afterMs = held.length > 0 && !held.includes(false) ? { afterMs: HELD_RETRY_MS } : {};
  return { kind: 'waiting', writes, for: 'removals', ...afterMs };
}

/** Returns whether memberships must be added before activation; blocked groups are ignored. */
async function hasPendingGrants(context: SyncContext): Promise<boolean> {
  const { work, links, target } = context;
  const groups = [...work.pendingGroups].filter(([, sign]) => sign === '+').map(([group]) => group);
  const states = await links.getMany(
    target.name,
    groups.map((group) => `Group:${group}` as const),
  );
  return states.some((group) => group.condition === undefined);
}

/** Returns the end of a sentence about a person whose account should be inactive; undefined: it should be active. */
function whyInactive({ inScope, active }: DesiredUser): string | undefined {
  if (!inScope) return 'is out of the scope of the target';
  return active ? undefined : 'is inactive at the source';
}

/**
 * Ends the sync of a protected user without a write. The condition tells whether the account stays active against the
 * source.
 * @param whyNotActive as `whyInactive` returns it
 */
function leaveAlone(context: SyncContext, why: string, whyNotActive: string | undefined): SyncOutcome {
  const { link } = context;
  link.departed = true;
  delete link.leftOpen;
  const staysActive = whyNotActive !== undefined && link.id !== undefined && link.core?.active === true;
  const message = staysActive ? `${why}, so it stays active although the person ${whyNotActive}` : why;
  const protectedFrom = condition(context, 'Protected', message);
  return { kind: 'synced', writes: context.writes, dropGrants: true, condition: protectedFrom };
}

/** Removes the condition of a former protection: a sync that waits or fails keeps every other condition. */
function endProtection(link: Link): void {
  if (link.condition?.reason === 'Protected') delete link.condition;
}

/** Returns why the bridge never changes the account with this userName; undefined: it may. */
function whyUntouchable({ target }: SyncContext, userName: string): string | undefined {
  const name = fold(userName);
  if (target.policy.users.protected.some((protectedName) => fold(protectedName) === name)) {
    return LISTED_AS_PROTECTED;
  }
  if (target.catalogue.knownKeyOwner() === name) {
    return "owner of the platform key: a bridge that changed its own key's account could lock itself out";
  }
  return undefined;
}

/** Removes from the link all that belongs to the account that is gone. */
function unlink(context: SyncContext): void {
  const { link } = context;
  resetGate(context);
  delete link.id;
  delete link.account;
  delete link.isAdministrator;
  delete link.core;
  delete link.attributes;
  delete link.observedGeneration;
  delete link.origin;
  delete link.departed;
  delete link.leftOpen;
  delete link.closedAt;
  delete link.unsure;
}
