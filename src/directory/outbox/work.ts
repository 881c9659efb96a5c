// Stores the steps of one sync for src/sync (create-context.ts, sync-resource.ts). `begin` takes the lease of the resource and
// reads all that the sync needs. `save` stores the link after each step that must not be forgotten, and renews the lease.
// `sendAdditions`, `refuseAdditions` and `ackMembers` store what becomes of the memberships of a group. `ack` ends the sync: it
// stores the outcome and clears the mark, unless the resource was marked again.
//
// Scripts called by `runFor` store the collected log entries, then check the lease, and store nothing else after a lost one.
// `requeueMembers`, `sendAdditions` and `refuseAdditions` do not check it: they only note what may have been sent, or let members
// be synced once more.
import type { WrittenSign } from './pending-memberships.ts';
import { exceptionReasonOf } from './exceptions.ts';
import { toLinkText, type Link } from './link.ts';
import type { LogEntry, ProvisioningLog } from '../logs/provisioning-log.ts';
import { PRIORITIES, parseRef, type Priority, type Ref } from '../records.ts';
import { inPortions, scanned } from '../redis/portions.ts';
import type { ScriptReply, StoreDeps } from '../redis/scripts.ts';
import { type DueWork, toDueWork } from './due-work.ts';

/** `clean`: the ref has no mark. `busy`: another sync of the ref is running, or the target is stopped. */
export type Begin = { kind: 'begun'; work: DueWork } | { kind: 'clean' } | { kind: 'busy' };

/** Thrown when a worker lost its lease: another one syncs the ref, so this one must stop without writing. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

export interface SaveOptions {
  /** The platform id is new, so its reverse link is stored. */
  linked?: boolean;
  /** With `linked`: log entries about the new link, written only if it is saved. */
  linkEntries?: readonly LogEntry[];
  /** With `linked`: the former resource that was linked to the platform id; its link is deleted in the same script. */
  takenFrom?: Ref | undefined;
  /** The account or group was created again, so all memberships become pending. */
  rewriteMemberships?: boolean;
  /** With `rewriteMemberships`: the account or group was created just now, so it has no memberships. Removals of a user end. */
  isNew?: boolean;
  /** Users to remove from the group, except those whom the source has as members; at most MEMBERS_PORTION. */
  surplus?: string[];
  /** Groups with a pending addition of this user become due. */
  requeueGroups?: boolean;
  /** Groups whose kept removal of this user is pending again. */
  resumed?: string[];
}

/** How a sync ended. */
type AckOutcome =
  | {
      /** `held`: the guard holds a change. `blocked`: the resource is a dead letter. */
      kind: 'synced' | 'held' | 'blocked';
      /** The link is deleted; that of a stored resource stays without platform id. */
      forget?: boolean;
      /** Pending additions of this user to groups end. */
      dropGrants?: boolean;
      /**
       * This sync has settled what groups wait for before they remove the user: the deactivation was written, held by the guard or
       * rejected, or is no longer desired. The removals from these groups become due.
       */
      decided?: boolean;
      /** Time of the next sync, Unix milliseconds; undefined: only a mark starts one. */
      alarmAt?: number;
    }
  | {
      /** The mark stays, and the sync continues after this time. */
      kind: 'later';
      afterMs: number;
      /**
       * Set if the resource waits for a held change of another one: the ids of the groups whose stopped removals of this user are
       * awaited; empty: it waits for another held change.
       */
      behindHeld?: readonly string[] | undefined;
      /** No removal of `behindHeld` is held: syncs of the groups were refused. */
      isRefused?: boolean | undefined;
    };

/** How a name or an account passes from one resource to another (docs/convergence.md). */
export interface NameWait {
  /** The resource whose name or account this one waits for. */
  holder?: Ref | undefined;
  /** The wait ends when the mark of the holder is cleared. */
  awaitsMark?: boolean | undefined;
  /** This resource may have given up its name or account: resources that wait for it become due. */
  mayBeFree?: boolean;
}

/**
 * Reply to the end of a sync. `cleared`: the mark is gone; `lagMs`: time since its oldest change was accepted. `kept`: the sync
 * continues later. `changed`: the resource was marked again during the sync. `fenced`: the lease was lost.
 */
type Ack = { kind: 'cleared'; lagMs: number } | { kind: 'kept' } | { kind: 'changed' } | { kind: 'fenced' };

/** Time for which a group collects members that become ready, milliseconds. */
const COALESCE_MS = 250;

/** Largest number of members of a group that one script handles. */
export const MEMBERS_PORTION = 1000;

export function createWork(
  deps: StoreDeps & { log: ProvisioningLog },
  options: { target: string; leaseMs: number; rulesReadGroups: boolean; address: string },
) {
  const { scripts, keys, log } = deps;
  const { target, leaseMs, rulesReadGroups, address } = options;
  const targets = [target];
  const run = (name: string, args: object, ...texts: string[]): Promise<ScriptReply> =>
    scripts.run(name, keys.base, { target, targets, leaseMs, ...args }, ...texts);

  /** Takes the lease of a ref and reads all data of its sync. */
  async function begin(ref: Ref, priority: Priority): Promise<Begin> {
    const { kind, id } = parseRef(ref);
    const reply = await run('begin_sync', {
      ref,
      kind,
      id,
      priority: PRIORITIES.indexOf(priority),
      rulesReadGroups,
      address,
    });
    const [tag] = reply;
    return tag === 'begun'
      ? { kind: 'begun', work: toDueWork(ref, priority, reply) }
      : { kind: tag as 'clean' | 'busy' };
  }

  /**
   * Saves the link and renews the lease.
   * @throws LeaseLost, also when another resource was linked to the account or group meanwhile: the next sync looks it up again
   */
  async function save(work: DueWork, link: Link, options: SaveOptions = {}): Promise<void> {
    if (options.rewriteMemberships && work.kind === 'Group')
      await rewriteMembers(work, options.isNew === true);
    const args = {
      suspectedDrift: work.suspectedDrift || undefined,
      // Names the fingerprint to remove; groups have none.
      platformKey: link.id === undefined || work.kind === 'Group' ? undefined : `User:${link.id}`,
      coalesceMs: COALESCE_MS,
      platformId: options.linked ? link.id : undefined,
      takenFrom: options.takenFrom,
      formerId: formerId(work, link),
      rewriteMemberships: work.kind === 'User' && options.rewriteMemberships,
      isNew: options.isNew,
      surplus: options.surplus,
      requeueGroups: options.requeueGroups,
      resumed: options.resumed,
      linkLog: log.toArgs(options.linkEntries ?? []),
    };
    const [tag] = await runFor(work, 'save_link', args, toLinkText(link));
    if (tag === 'taken') throw new LeaseLost(`another resource is linked to what ${work.ref} was to get`);
    if (tag === 'fenced') throw new LeaseLost(`lost the lease of ${work.ref}`);
    work.storedId = link.id;
  }

  /** Makes all members of a group pending in portions, and renews the lease. @throws LeaseLost */
  async function rewriteMembers(work: DueWork, isNew: boolean): Promise<void> {
    const steps = scanned(async (cursor) => {
      const args = { cursor, count: MEMBERS_PORTION, isNew };
      const [tag, next] = await runFor(work, 'rewrite_members', args);
      return [next, tag];
    });
    for await (const tag of steps) if (tag === 'fenced') throw new LeaseLost(`lost the lease of ${work.ref}`);
  }

  /**
   * Notes that the additions of these members to the group are about to be sent. From then on a removal at the source is written,
   * even if no answer arrives.
   * @returns the members whose addition is still pending; `first`: those of them whose addition was never sent before
   */
  async function sendAdditions<M extends { user: string }>(
    { id }: DueWork,
    members: M[],
  ): Promise<{ members: M[]; first: string[] }> {
    if (members.length === 0) return { members, first: [] };
    const users = members.map(({ user }) => user);
    const [_tag, pending, first] = await run('send_additions', { group: id, users });
    const wanted = new Set(pending as string[]);
    return { members: members.filter(({ user }) => wanted.has(user)), first: first as string[] };
  }

  /**
   * Notes that the platform refused the first additions of these users to the group and changed nothing. If the source takes them
   * back, nothing is written.
   */
  async function refuseAdditions({ id }: DueWork, users: string[]): Promise<void> {
    if (users.length > 0) await run('refuse_additions', { group: id, users });
  }

  /**
   * Clears pending memberships of a group, in portions.
   * @param ending absent: they were written and shown by the platform, or are given up
   *   - `kept`: removals that were rejected, or are of protected users, get the sign `r` and are not cleared
   *   - `unseen`: the answer does not show the write, so removals get the sign `u`, and the next reconcile reads the members
   *   - `moot`: removals end with the guard's decisions about them, because there is nothing to remove
   *   - `left`: the policy leaves these memberships out; additions that were never sent stay known as such (`unsentMembers`)
   *   - `sought`: the accounts of the users are still to be found, so removals get the sign `u`; those of users who are linked by
   *     now or have a mark stay pending
   * @returns number of pending memberships that ended or got another sign
   * @throws LeaseLost
   */
  async function ackMembers(
    work: DueWork,
    sign: WrittenSign,
    users: string[],
    ending?: 'kept' | 'unseen' | 'moot' | 'left' | 'sought',
  ): Promise<number> {
    let total = 0;
    for (const portion of inPortions(users, MEMBERS_PORTION)) {
      const args = { group: work.id, sign, users: portion, ending };
      const [tag, count] = await runFor(work, 'ack_members', args);
      if (tag === 'fenced') throw new LeaseLost(`lost the lease of ${work.ref}`);
      total += Number(count);
    }
    return total;
  }

  /**
   * Ends the sync: stores the link and the outcome, and clears the mark unless the resource was marked again meanwhile.
   * @param waiting name or account that it waits for, or gives up
   */
  async function ack(work: DueWork, link: Link, outcome: AckOutcome, waiting: NameWait = {}): Promise<Ack> {
    const args = { ...ackArgs(work, link, outcome, waiting), rulesReadGroups };
    const [tag, lag] = await runFor(work, 'ack_dirty', args, toLinkText(linkToStore(link, work, outcome)));
    if (tag !== 'cleared') return { kind: tag as 'kept' | 'changed' | 'fenced' };
    if (outcome.kind === 'blocked' && work.kind === 'Group') await requeueMembers(work);
    return { kind: 'cleared', lagMs: Number(lag) };
  }

  /** Requeues, in portions, the users that wait for a group. If this fails, their alarms start their syncs later. */
  async function requeueMembers({ id, request }: DueWork): Promise<void> {
    let cursor = '0';
    do {
      const [_tag, next] = await run('requeue_members', { id, request, cursor, count: MEMBERS_PORTION });
      cursor = String(next);
    } while (cursor !== '0');
  }

  /**
   * Runs a script for the resource of a sync, under its lease, together with the collected log entries; after a failure the entries
   * go with the next script.
   */
  async function runFor(work: DueWork, name: string, args: object, ...texts: string[]): Promise<ScriptReply> {
    const { ref, kind, id, fence, request } = work;
    const entries = work.logEntries.splice(0);
    try {
      return await run(name, { ref, kind, id, fence, request, ...args, log: log.toArgs(entries) }, ...texts);
    } catch (error) {
      work.logEntries.unshift(...entries);
      throw error;
    }
  }

  return { begin, save, ack, ackMembers, sendAdditions, refuseAdditions };
}

/** Returns the arguments of ack_dirty.lua about the resource, its link and the outcome of its sync. */
function ackArgs(work: DueWork, link: Link, outcome: AckOutcome, waiting: NameWait): object {
  const later = outcome.kind === 'later' ? outcome : undefined;
  const ended = outcome.kind === 'later' ? undefined : outcome;
  const isForgotten = ended?.forget === true;
  return {
    generation: work.generation,
    suspectedDrift: work.suspectedDrift || undefined,
    // The key is given for a group too, so that its reverse link is stored again if it was lost.
    platformKey: link.id === undefined ? undefined : `${work.kind}:${link.id}`,
    outcome: outcome.kind,
    delayMs: later?.afterMs ?? 0,
    behindHeld: later?.behindHeld,
    isRefused: later?.isRefused || undefined,
    holder: waiting.holder,
    awaitsMark: waiting.awaitsMark || undefined,
    mayBeFree: waiting.mayBeFree || undefined,
    priority: PRIORITIES.indexOf(work.priority),
    // '-' is no platform id, so no reverse link is removed.
    forget: isForgotten ? (link.id ?? '-') : undefined,
    formerId: formerId(work, link),
    dropGrants: ended?.dropGrants || undefined,
    decided: ended?.decided || undefined,
    coalesceMs: COALESCE_MS,
    alarm: ended?.alarmAt,
    exception: isForgotten ? undefined : exceptionReasonOf(link.condition),
    exceptionSince: link.condition?.since,
  };
}

/** Returns the stored platform id if the link has another one or none now: the account or group is gone. */
const formerId = ({ storedId }: DueWork, { id }: Link): string | undefined =>
  storedId === id ? undefined : storedId;

/**
 * Returns the link to store: with the basis of this sync, unless the sync continues later. Observed values of unsure names are
 * kept only if the sync has not written all values.
 */
function linkToStore(link: Link, { basis }: DueWork, outcome: { kind: string; forget?: boolean }): Link {
  if (outcome.kind === 'later') return link;
  if (outcome.forget) return { basis };
  const { observed, ...rest } = link;
  return outcome.kind === 'synced' || observed === undefined
    ? { ...rest, basis }
    : { ...rest, observed, basis };
}
