// Stores the steps of one sync: takes the lease, saves the link on the way, and stores the outcome. Each step is one script
// that first checks the lease.
import type { Keyspace } from '../keys.ts';
import { exceptionReasonOf } from './exceptions.ts';
import { parseLink, toLinkText, type Link } from './links.ts';
import type { LogEntry, ProvisioningLog } from '../logs/provisioning-log.ts';
import {
  PRIORITIES,
  parseRef,
  parseStored,
  type Kind,
  type Priority,
  type Ref,
  type StoredRecord,
} from '../records.ts';
import { pairsOf, scanned } from '../redis/portions.ts';
import type { ScriptReply, Scripts } from '../redis/scripts.ts';
import type { GroupName } from '../resources/changes.ts';
import { isUnconfirmed } from './pending-memberships.ts';

/** The lease on one ref, and the data that was read together with it. */
export interface DueWork {
  ref: Ref;
  kind: Kind;
  id: string;
  /** Priority of the job, with which a sync that continues later is scheduled again. */
  priority: Priority;
  /** Number of the lease. */
  fence: string;
  /** Number of the mark that this sync began with; a newer mark stays after the sync. */
  generation: string;
  /** Time when the oldest unapplied change was accepted, Unix milliseconds. */
  since: number;
  /** Correlation id of the newest push. */
  request: string;
  /** Undefined when the resource was deleted. */
  record: StoredRecord | undefined;
  link: Link;
  /** Platform id of the link as it is stored. */
  storedId: string | undefined;
  /** A user's groups. */
  groups: GroupName[];
  /** Pending memberships of a user, without unconfirmed removals: group id → sign (PendingSign). */
  pendingGroups: Map<string, string>;
  /** Whether the guard holds a change of this resource, or an operator approved or rejected one. */
  held: boolean;
  /** Unix milliseconds; set when the resource was deleted. */
  deletedAt: number | undefined;
  /** Version of the resource when it was deleted; undefined: it is stored. */
  deletedVersion: number | undefined;
  /** Names with suspected drift as JSON; '' when there are none. */
  suspectedDrift: string;
  /** Values of these names that the comparison saw at the platform, as JSON; '' when there are none. */
  observedDrift: string;
  /** State that this sync decides on; the link stores it at the end (lua/basis.lua). */
  basis: string;
  /** Entries of the provisioning log, written with the next step of this sync. */
  logEntries: LogEntry[];
}

/** `clean`: the ref has no mark. `busy`: another sync of the ref is running, or the target is stopped. */
export type Begin = { kind: 'begun'; work: DueWork } | { kind: 'clean' } | { kind: 'busy' };
/**
 * Reply to the end of a sync. `cleared`: the mark is gone; `lagMs`: time since its oldest change was accepted. `kept`: the sync
 * continues later. `changed`: the resource was marked again during the sync. `fenced`: the lease was lost.
 */
export type Ack =
  { kind: 'cleared'; lagMs: number } | { kind: 'kept' } | { kind: 'changed' } | { kind: 'fenced' };

/** Thrown when a worker lost its lease: another one syncs the ref, so this one must stop without writing. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

export interface SaveOptions {
  /** The platform id is new, so its reverse link is stored. */
  linked?: boolean;
  /** With `linked`: the former resource that was linked to the platform id; its link is deleted in the same script. */
  takenFrom?: Ref | undefined;
  /** The account or group was created again, so all memberships become pending. */
  rewriteMemberships?: boolean;
  /** With `rewriteMemberships`: the account or group was created just now, so it has no memberships. Removals of a user end. */
  isNew?: boolean;
  /** Users to remove from the group, except those whom the source has as members. */
  surplus?: string[];
  /** Groups with a pending membership of this user become due. */
  requeueGroups?: boolean;
  /** Groups whose kept removal of this user is pending again. */
  resumed?: string[];
}

/** Time for which a group collects members that become ready. */
const COALESCE_MS = 250;
/** Members of a group that one script handles. */
const MEMBERS_PORTION = 1000;

export function createWork(
  deps: { scripts: Scripts; keys: Keyspace; log: ProvisioningLog },
  options: { target: string; leaseMs: number; rulesReadGroups: boolean; address: string },
) {
  const { scripts, keys, log } = deps;
  const { target, leaseMs, rulesReadGroups, address } = options;
  const targets = [target];
  const run = (name: string, args: object, ...texts: string[]): Promise<ScriptReply> =>
    scripts.run(name, keys.base, { target, targets, leaseMs, ...args }, ...texts);

  /** Runs a script together with the collected log entries; after a failure the entries go with the next script. */
  async function runFor(work: DueWork, name: string, args: object, ...texts: string[]): Promise<ScriptReply> {
    const entries = work.logEntries.splice(0);
    try {
      return await run(name, { ...args, log: log.toArgs(entries) }, ...texts);
    } catch (error) {
      work.logEntries.unshift(...entries);
      throw error;
    }
  }

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

  /** Makes all members of a group pending in portions, and renews the lease. @throws LeaseLost */
  async function rewriteMembers(work: DueWork, isNew: boolean): Promise<void> {
    const { ref, id, fence, request } = work;
    const steps = scanned(async (cursor) => {
      const args = { ref, id, fence, request, cursor, count: MEMBERS_PORTION, isNew };
      const [tag, next] = await runFor(work, 'rewrite_members', args);
      return [next, tag];
    });
    for await (const tag of steps) if (tag === 'fenced') throw new LeaseLost(`lost the lease of ${ref}`);
  }

  /** Requeues, in portions, the users that wait for a group. If this fails, their alarms start their syncs later. */
  async function requeueMembers({ id, request }: DueWork): Promise<void> {
    let cursor = '0';
    do {
      const [_tag, next] = await run('requeue_members', { id, request, cursor, count: MEMBERS_PORTION });
      cursor = String(next);
    } while (cursor !== '0');
  }

  /** Saves the link and renews the lease. @throws LeaseLost */
  async function save(work: DueWork, link: Link, options: SaveOptions = {}): Promise<void> {
    if (options.rewriteMemberships && work.kind === 'Group')
      await rewriteMembers(work, options.isNew === true);
    const args = {
      ref: work.ref,
      kind: work.kind,
      id: work.id,
      fence: work.fence,
      request: work.request,
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
    };
    const [tag] = await runFor(work, 'save_link', args, toLinkText(link));
    if (tag === 'fenced') throw new LeaseLost(`lost the lease of ${work.ref}`);
    work.storedId = link.id;
  }

  /**
   * Ends the sync. `forget`: the link is deleted. `dropGrants`: pending memberships of the user are dropped. `decided`:
   * groups that remove this user may continue. `alarmAt`: time of the next sync. `behindHeld`: set if the resource waits for a
   * held change of another one; the ids of the groups whose stopped removals of this user are awaited. `isRefused`: none of these
   * removals is held, so the user waits for groups whose syncs were refused. `holder`: the resource whose name or account this one
   * waits for; `awaitsMark`: until the mark of that one is cleared. `mayBeFree`: it may have given up its own.
   */
  async function ack(
    work: DueWork,
    link: Link,
    outcome:
      | {
          kind: 'synced' | 'held' | 'blocked';
          forget?: boolean;
          dropGrants?: boolean;
          decided?: boolean;
          alarmAt?: number;
        }
      | {
          kind: 'later';
          afterMs: number;
          behindHeld?: readonly string[] | undefined;
          isRefused?: boolean | undefined;
        },
    names: { holder?: Ref | undefined; awaitsMark?: boolean | undefined; mayBeFree?: boolean } = {},
  ): Promise<Ack> {
    const args = {
      ref: work.ref,
      kind: work.kind,
      id: work.id,
      fence: work.fence,
      generation: work.generation,
      suspectedDrift: work.suspectedDrift || undefined,
      platformKey: link.id === undefined ? undefined : `${work.kind}:${link.id}`,
      outcome: outcome.kind,
      delayMs: outcome.kind === 'later' ? outcome.afterMs : 0,
      behindHeld: outcome.kind === 'later' ? outcome.behindHeld : undefined,
      isRefused: outcome.kind === 'later' && outcome.isRefused ? true : undefined,
      holder: names.holder,
      awaitsMark: names.awaitsMark === true ? true : undefined,
      mayBeFree: names.mayBeFree === true ? true : undefined,
      priority: PRIORITIES.indexOf(work.priority),
      // '-' is no platform id, so no reverse link is removed.
      forget: outcome.kind !== 'later' && outcome.forget ? (link.id ?? '-') : undefined,
      formerId: formerId(work, link),
      dropGrants: outcome.kind !== 'later' && outcome.dropGrants ? true : undefined,
      decided: outcome.kind !== 'later' && outcome.decided ? true : undefined,
      coalesceMs: COALESCE_MS,
      alarm: outcome.kind === 'later' ? undefined : outcome.alarmAt,
      exception: 'forget' in outcome && outcome.forget ? undefined : exceptionReasonOf(link.condition),
      exceptionSince: link.condition?.since,
      rulesReadGroups,
      request: work.request,
    };
    const [tag, lag] = await runFor(work, 'ack_dirty', args, toLinkText(linkToStore(link, work, outcome)));
    if (tag === 'cleared' && outcome.kind === 'blocked' && work.kind === 'Group') await requeueMembers(work);
    return tag === 'cleared'
      ? { kind: 'cleared', lagMs: Number(lag) }
      : { kind: tag as 'kept' | 'changed' | 'fenced' };
  }

  /**
   * Clears pending memberships of a group.
   * @param ending `kept`: removals that were rejected or are of protected users get the sign `r` and are not cleared. `unseen`:
   *   the answer does not show the write, so removals get the sign `u`, and the next reconcile reads the members. `moot`:
   *   removals end with the guard's decisions about them, because there is nothing to remove. `left`: the policy leaves these
   *   additions out, and those that were never sent stay known as such (`unsentMembers`)
   * @throws LeaseLost
   */
  async function ackMembers(
    work: DueWork,
    sign: '+' | '-',
    users: string[],
    ending?: 'kept' | 'unseen' | 'moot' | 'left',
  ): Promise<void> {
    const args = { ref: work.ref, group: work.id, fence: work.fence, request: work.request, sign, users };
    const [tag] = await runFor(work, 'ack_members', { ...args, ending });
    if (tag === 'fenced') throw new LeaseLost(`lost the lease of ${work.ref}`);
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

  return { begin, save, ack, ackMembers, sendAdditions, refuseAdditions };
}

/** Returns the stored platform id if the link has another one, or none, since its account or group is gone. */
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

/** Reply of begin_sync.lua for a sync that begins. `record`, `link`, `tombstone` and both drifts: '' where there is none. */
type BegunReply = [
  tag: string,
  fence: string,
  generation: string,
  since: string,
  request: string,
  record: string,
  link: string,
  /** Id, displayName, id, and so on. */
  groups: string[],
  /** Group id, sign, group id, and so on. */
  pendingGroups: string[],
  /** 0 or 1. */
  held: number,
  tombstone: string,
  suspectedDrift: string,
  basis: string,
  observedDrift: string,
];

function deletionOf(tombstone: string): Pick<DueWork, 'deletedAt' | 'deletedVersion'> {
  if (tombstone === '') return { deletedAt: undefined, deletedVersion: undefined };
  const { deletedAt, version } = JSON.parse(tombstone) as { deletedAt: number; version: number };
  return { deletedAt, deletedVersion: version };
}

/** Converts the reply for a sync that begins. @param priority of the job */
function toDueWork(ref: Ref, priority: Priority, reply: ScriptReply): DueWork {
  const { kind, id } = parseRef(ref);
  const [_tag, fence, generation, since, request, record, linkText, groups, ...rest] = reply as BegunReply;
  const [pendingGroups, held, tombstone, suspectedDrift, basis, observedDrift] = rest;
  const link = parseLink(linkText);
  return {
    ref,
    kind,
    id,
    priority,
    fence,
    generation,
    since: Number(since),
    request,
    record: record === '' ? undefined : parseStored(id, record),
    link,
    storedId: link.id,
    groups: pairsOf(groups).map(([group, displayName]) => ({ id: group, displayName })),
    pendingGroups: new Map(pairsOf(pendingGroups).filter(([, sign]) => !isUnconfirmed(sign))),
    held: held === 1,
    ...deletionOf(tombstone),
    suspectedDrift,
    observedDrift,
    basis,
    logEntries: [],
  };
}
