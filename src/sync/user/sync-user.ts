// Syncs one user at one target so that the user never has more access in between than at the end. Steps of a user in scope (of
// others: depart-user.ts), in this order:
// 1. Find, adopt or create the account.
// 2. Deactivate an account that should be inactive. While the guard holds this, only step 5 follows.
// 3. If values would be added for an active account: wait until each group that is to remove the user has done so.
// 4. Write the attribute values. Then groups may add the user (`observedGeneration`).
// 5. Write the core attributes.
// 6. Activate an account that should be active; with `users.activation: safe` after all groups have removed and added the user.
// 7. After a return (`rejoining`): wait until no group has to add the user any more.
// The syncs of the groups, not this sync, remove and add the user. Flags of the link: directory/outbox/link.ts.
// `gate`: context.ts.
import { MEMBERSHIP_SIGN, withSign } from '../../directory/outbox/pending-memberships.ts';
import { platformIdOf } from '../../directory/outbox/link.ts';
import type { Resource } from '../../scim/index.ts';
import { unlinkAbsent } from '../calls/absence.ts';
import { deactivate, mayBeActive, mayBeInactive, noteLeftOpen, setActive } from './account-state.ts';
import { writeAttributes } from './attributes.ts';
import { isRecordLost, recordDamaged, recordLost } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { attributeChanges, coreOperations, noteWrittenCore } from '../diff.ts';
import { findUser, type Linking, observeLinked } from './find-user.ts';
import { createMissingAccount, isUnlisted, rememberRefusal } from './write-account.ts';
import { isStatus } from '../calls/failures.ts';
import { ended, isRefused } from '../gate.ts';
import type { DesiredUser } from '../mapping/mapping.ts';
import type { SyncOutcome } from '../outcome.ts';
import { waitForName } from '../names/taken-name.ts';
import { depart } from './depart-user.ts';
import { endIfProtected, resumeRemovals } from './protected-user.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { refOf } from '../../directory/records.ts';
import { removal } from '../names/succession.ts';

/** Number of restarts within one sync after the platform lost the account. */
const RESTARTS = 2;

/** Syncs a user. An account that is gone at the platform is looked up or created anew. @throws PlatformError */
export async function syncUser(context: SyncContext): Promise<SyncOutcome> {
  const { work, link, target } = context;
  const { record } = work;
  if (record?.damaged) return recordDamaged(context);
  // The key's owner must be known before an account is adopted or created. A linked account waits for it only shortly
  // (`seeKeyOwner`): the person may have left.
  if (record && link.id === undefined) await target.catalogue.keyOwner(context.call.signal);
  else await target.catalogue.seeKeyOwner();
  if (!record) {
    if (isRecordLost(work)) return recordLost(context);
    const userName = String(link.core?.userName ?? '');
    return endIfProtected(context, userName, 'is deleted at the source') ?? depart(context);
  }
  const resource = JSON.parse(record.text) as Resource;
  const desired = await target.mapping.user(resource, work.id, work.groups);
  const ending = endIfProtected(context, String(desired.core.userName), whyInactive(desired));
  if (ending) return ending;
  if (!desired.inScope) return depart(context);
  for (let restart = 0; ; restart++) {
    try {
      return await syncInScope(context, desired);
    } catch (error) {
      if (restart >= RESTARTS) throw error;
      await unlinkAbsent(context, error);
    }
  }
}

/** Syncs a user in scope, in the steps of the header. */
async function syncInScope(context: SyncContext, desired: DesiredUser): Promise<SyncOutcome> {
  const { link, target } = context;
  // The user is wanted, so an earlier deletion no longer explains an absence.
  delete link.deleting;
  delete link.hasFormerName;
  // Step 1.
  if (link.id === undefined) {
    const unlinked = await linkAccount(context, desired);
    if (unlinked) return unlinked;
  }
  // A link that a repair restored contains only the id.
  if (link.core === undefined) await observeLinked(context, desired);
  noteLeftOpen(context, desired.active);
  await resumeRemovals(context);
  // `create-only` writes nothing more to a completed account. Its groups may add the user.
  if (target.policy.policy === 'create-only' && !link.isIncomplete) {
    await letGroupsAdd(context);
    return { kind: 'synced' };
  }
  // The user comes back: the memberships of a departed user were dropped.
  if (link.departed) {
    delete link.departed;
    link.rejoining = true;
    await context.save({ rewriteMemberships: true });
  }
  return writeDifferences(context, desired);
}

/** Does the steps 2 to 7 of the header: brings the linked account to the desired state. */
async function writeDifferences(context: SyncContext, desired: DesiredUser): Promise<SyncOutcome> {
  const { link, target, work } = context;
  const pendingSigns = [...work.pendingGroups.values()];
  const hasRemovals = pendingSigns.includes(MEMBERSHIP_SIGN.toRemove);
  if (!pendingSigns.includes(MEMBERSHIP_SIGN.toAdd)) delete link.rejoining;

  // Step 2.
  const isToBeClosed = !desired.active && mayBeActive(link) && target.policy.policy === 'sync';
  // While a deactivation is held, only core attributes are written: the user must not gain access.
  if (isToBeClosed && (await deactivate(context)) === 'held') {
    context.gate.postponed = ['clearAttributes'];
    return (await writeCore(context, desired)) ?? ended(context);
  }

  // Step 3.
  const hasNewValues = attributeChanges(desired.attributes, link.attributes ?? {}, link.unsure).length > 0;
  // Before the removals, new values would add to the access of the groups that the user is leaving.
  if (desired.active && hasNewValues && mayBeActive(link) && hasRemovals) return waitForRemovals(context);

  // Step 4.
  const attributes = await writeAttributes(context, desired);
  if (attributes.kind === 'later') return attributes;
  // A person whose deactivation was rejected joins no group. `observedGeneration` would let the groups add the person until this
  // sync stores the condition.
  const mayJoin = !isRefused(context.gate, 'deactivate');
  if (attributes.kind === 'done' && mayJoin) await letGroupsAdd(context);

  // Step 5.
  const unfinished = await writeCore(context, desired);
  if (unfinished) return unfinished;
  // The platform accepted every single write, so it refused the combined form and not a value.
  if (context.isCombinedPatchRefused && attributes.kind === 'done') rememberRefusal(context);
  if (attributes.kind === 'blocked') return attributes;
  if (attributes.kind === 'held') return ended(context);

  // Step 6.
  if (desired.active && mayBeInactive(link)) {
    const waiting = await activate(context, hasRemovals);
    if (waiting) return waiting;
  }
  delete link.isIncomplete;
  // A user whose protected name was changed has lost the protection only now, with the write of the new name.
  await resumeRemovals(context);

  // Step 7.
  // Groups that add a rejoining user read all their members first, so the mark stays until no group has to add the user. It does
  // not stay where another resource waits for the end of this sync: for a decision, a removal, or the state of a closed account.
  const isAwaited = !desired.active || work.hasGuardItem || hasRemovals;
  if (link.rejoining && !isAwaited && (await hasPendingAdditions(context)))
    return { kind: 'waiting', for: 'memberships' };
  // Without a mark the link is current, and nothing reads the generation (`outbox.readiness`).
  delete link.observedGeneration;
  return ended(context);
}

/** Lets the groups add the user (`observedGeneration`), and makes them due, unless an earlier sync of this change has done so. */
async function letGroupsAdd(context: SyncContext): Promise<void> {
  const { link, work } = context;
  if (link.observedGeneration === work.generation) return;
  link.observedGeneration = work.generation;
  // Memberships may have been added since the sync began, so the script checks the pending ones again.
  await context.save({ requeueGroups: true });
}

/** Finds, adopts or creates the account. @returns an outcome when the user has no account yet; undefined: the link has its id */
async function linkAccount(context: SyncContext, desired: DesiredUser): Promise<SyncOutcome | undefined> {
  const { link } = context;
  // If the person is deleted before the account is found, the account is looked up by these names. An account with a known id is
  // recognised by the names that it had.
  if (link.mayExist && link.mayExist.id === undefined) link.core = { ...link.core, ...desired.core };
  let found: Linking = (await isUnlisted(context, desired))
    ? { kind: 'absent' }
    : await findUser(context, desired);
  if (found.kind === 'absent') found = await createMissingAccount(context, desired);
  return found.kind === 'blocked' || found.kind === 'later' ? found : undefined;
}

/**
 * Activates the account, with `users.activation: safe` only when no change of a membership is pending.
 * @param hasRemovals whether groups are still to remove the user
 * @returns an outcome when the activation waits; undefined: the account is active
 */
async function activate(context: SyncContext, hasRemovals: boolean): Promise<SyncOutcome | undefined> {
  const { outbox, target, work } = context;
  if (target.policy.users.activation === 'safe') {
    if (hasRemovals) return waitForRemovals(context);
    if (await hasPendingAdditions(context)) return { kind: 'waiting', for: 'memberships' };
  }
  // A newer change is synced first (`afterMs: 0`), so that a user who was deactivated meanwhile is never activated.
  if (!(await outbox.isCurrent(work))) return { kind: 'later', afterMs: 0 };
  await setActive(context, true);
  return undefined;
}

/** Writes changed core attributes in one PATCH. @returns an outcome when the sync cannot continue */
async function writeCore(context: SyncContext, desired: DesiredUser): Promise<SyncOutcome | undefined> {
  const { link, target } = context;
  const operations = coreOperations(desired.core, link.core ?? {}, link.unsure);
  if (operations.length === 0) return undefined;
  try {
    const paths = operations.flatMap(({ path }) => path ?? []);
    const { externalId } = desired.core;
    // Noted before the write, so that no process creates another account with this externalId without a look-up.
    if (typeof externalId === 'string' && paths.includes('externalId'))
      await target.recentExternalIds.note(externalId);
    await context.attempt(paths, 'update user', () =>
      target.client.users.patch(platformIdOf(link), operations, context.call),
    );
  } catch (error) {
    // 409: another account has the userName, whose holder may be about to give it up.
    if (!isStatus(error, 409)) throw error;
    const waiting = await waitForName(context, String(desired.core.userName));
    if (waiting === undefined) throw error;
    return waiting;
  }
  noteWrittenCore(link, desired.core);
  await context.save();
  return undefined;
}

/** Returns why the account should be inactive, as the end of "the person ..."; undefined: it should be active. */
function whyInactive({ inScope, active }: DesiredUser): string | undefined {
  if (!inScope) return 'is out of the scope of the target';
  return active ? undefined : 'is inactive at the source';
}

/** Interval of attempts while the awaited removals are held or refused, in case the notification at their end was lost. */
const STOPPED_REMOVAL_RETRY_MS = 600_000;

/**
 * Returns the outcome for a user who waits until groups have removed the user; each group marks the user afterwards. A group
 * without a pending sync is marked: its last sync may have left the removal until the guard decides about the user's deactivation,
 * which it has done now. If each removal is held, or its group was refused, the next attempt follows after
 * STOPPED_REMOVAL_RETRY_MS, and `status` does not count the user under 'not applied yet'.
 */
export async function waitForRemovals({ links, outbox, target, work }: SyncContext): Promise<SyncOutcome> {
  const groups = withSign(work.pendingGroups, MEMBERSHIP_SIGN.toRemove);
  const refs = groups.map((group) => refOf('Group', group));
  const held = await outbox.guardStore.areHeld(groups.map((group) => removal(group, work.id)));
  const found = await links.getMany(target.name, refs);
  let isStopped = groups.length > 0;
  for (const [index, ref] of refs.entries()) {
    // A held removal waits for its decision. If the last sync of the group was refused, the removal waits for an operator: a new
    // sync does not help. Under another policy than `sync`, the sync of the group drops the pending removal, so the group is marked
    // even after a refusal.
    const isRefused =
      target.policy.policy === 'sync' && refusalOf(found[index] ?? {}, await outbox.isMarked(ref));
    if (held[index] || isRefused) continue;
    isStopped = false;
    if (await outbox.isAtRest(ref)) await outbox.mark([ref], 'edit', work.request);
  }
  const wait = isStopped
    ? { afterMs: STOPPED_REMOVAL_RETRY_MS, behindHeld: groups, isRefused: !held.includes(true) }
    : {};
  return { kind: 'waiting', for: 'removals', ...wait };
}

/**
 * Returns whether groups still have to add the user. A group with a condition is ignored, because a person may have to act first;
 * except with NameTaken, which ends when the name is free.
 */
export async function hasPendingAdditions(context: SyncContext): Promise<boolean> {
  const { work, links, target } = context;
  const groups = withSign(work.pendingGroups, MEMBERSHIP_SIGN.toAdd);
  const states = await links.getMany(
    target.name,
    groups.map((group) => `Group:${group}` as const),
  );
  return states.some(({ condition }) => condition === undefined || condition.reason === 'NameTaken');
}
