// What is not yet equal at a target. A mark says "look at this ref", never what happened to it; it is cleared only
// by the worker that looked, and only if nothing changed meanwhile.
import type { Redis } from 'ioredis';
import { readBacklog } from './backlog.ts';
import type { Keyspace } from './keys.ts';
import { parseLink, toLinkText, type Link } from './links.ts';
import {
  LANES,
  parseRef,
  parseStored,
  refOf,
  type Kind,
  type Lane,
  type Ref,
  type StoredRecord,
} from './records.ts';
import { createProvisioningLog, type LogLimits } from './provisioning-log.ts';
import type { Reply, Scripts } from './scripts.ts';
import { createStaging } from './staging.ts';
import { readWhereabouts } from './whereabouts.ts';
import type { GroupName } from './writes.ts';

/** A mark that was handed to the queue. The ticket makes handing it over twice harmless. */
export interface Claim {
  ref: Ref;
  ticket: string;
  lane: Lane;
}

/** A lease on one ref and everything that was read in the moment it was taken. */
export interface Work {
  ref: Ref;
  kind: Kind;
  id: string;
  lane: Lane;
  fence: string;
  generation: string;
  /** Unix milliseconds at which the oldest change that is not applied was accepted. */
  since: number;
  /** Correlation id of the newest push. */
  request: string;
  /** Undefined when the resource was deleted. */
  record: StoredRecord | undefined;
  link: Link;
  /** A user's groups. */
  groups: GroupName[];
  /** Memberships of a user that its groups still have to write: group id → + or -. */
  owed: Map<string, string>;
  /** The guard holds something of this resource, or did so until a person decided. */
  held: boolean;
  /** Unix milliseconds; set when the resource was deleted. */
  deletedAt: number | undefined;
  /** Names that the platform was seen to hold differently, as JSON; '' when nothing is doubted. */
  doubts: string;
  /** The link is written in its short form (ADR 0014). */
  isShort: boolean;
  /** Entries of the provisioning log, as text: they are written with the next step of this work that is kept. */
  journal: string[];
}

export type Begin = { kind: 'begun'; work: Work } | { kind: 'clean' } | { kind: 'busy' };
export type Ack =
  { kind: 'cleared'; lagMs: number } | { kind: 'kept' } | { kind: 'changed' } | { kind: 'fenced' };

/** Whether a user may be granted a membership now; `underWay` says that a sync of the user is still to come. */
export interface Readiness {
  user: string;
  link: Link;
  ready: boolean;
  underWay: boolean;
}

/** Thrown when a worker lost its lease: another one works on the ref, this one must stop without a trace. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

export interface SaveOptions {
  /** The platform id is new: remember the way back from it. */
  linked?: boolean;
  /** The platform has this resource anew: all its memberships have to be written there. */
  restate?: boolean;
  /** Users whom the platform has in this group and the source has not. */
  surplus?: string[];
  /** Groups that owe this user a membership may write it now. */
  wake?: boolean;
}

/** How long a group collects members who become ready one after the other. */
const GATHER_MS = 250;

export type Outbox = ReturnType<typeof createOutbox>;

export function createOutbox(
  deps: { redis: Redis; scripts: Scripts; keys: Keyspace },
  options: { target: string; leaseMs: number; log?: LogLimits | undefined },
) {
  const { redis, scripts, keys } = deps;
  const { target, leaseMs } = options;
  const targets = [target];
  const run = (name: string, args: object, ...texts: string[]): Promise<Reply> =>
    scripts.run(name, keys.base, { target, targets, leaseMs, ...args }, ...texts);

  const log = createProvisioningLog(deps, { target, ...(options.log ? { limits: options.log } : {}) });

  /** Takes what the journal of the work has to tell along; what could not be written is told next time. */
  async function runFor(work: Work, name: string, args: object, ...texts: string[]): Promise<Reply> {
    const entries = work.journal.splice(0);
    try {
      return await run(name, { ...args, log: log.toArgs(entries) }, ...texts);
    } catch (error) {
      work.journal.unshift(...entries);
      throw error;
    }
  }

  /** Takes up to `limit` due marks; beyond `room` refs in flight only deactivations are taken. */
  async function claim(limit: number, room: number): Promise<Claim[]> {
    const claims = (await run('claim_dirty', { limit, room })) as unknown as [Ref, string, number][];
    return claims.map(([ref, ticket, lane]) => ({ ref, ticket, lane: LANES[lane] ?? 'edit' }));
  }

  async function begin(ref: Ref, lane: Lane): Promise<Begin> {
    const { kind, id } = parseRef(ref);
    const reply = await run('begin_sync', { ref, kind, id, lane: LANES.indexOf(lane) });
    if (reply[0] !== 'begun') return { kind: reply[0] as 'clean' | 'busy' };
    const [fence, generation, since, request, record, link] = reply.slice(1, 7).map((value) => String(value));
    const [groups, owed, held, tombstone, doubts, short] = reply.slice(7) as [
      string[],
      string[],
      number,
      string,
      string,
      number,
    ];
    return {
      kind: 'begun',
      work: {
        ref,
        kind,
        id,
        lane,
        fence: fence ?? '',
        generation: generation ?? '',
        since: Number(since),
        request: request ?? '-',
        record: record ? parseStored(id, record) : undefined,
        link: parseLink(link ?? ''),
        groups: pairs(groups).map(([group, displayName]) => ({ id: group, displayName })),
        owed: new Map(pairs(owed)),
        held: held === 1,
        deletedAt: tombstone ? Number((JSON.parse(tombstone) as { deletedAt: number }).deletedAt) : undefined,
        doubts,
        isShort: short === 1,
        journal: [],
      },
    };
  }

  /** Keeps the link as it is now and renews the lease. @throws LeaseLost */
  async function save(work: Work, link: Link, options: SaveOptions = {}): Promise<void> {
    const args = {
      ref: work.ref,
      kind: work.kind,
      id: work.id,
      fence: work.fence,
      request: work.request,
      doubts: work.doubts || undefined,
      way: link.id === undefined || work.kind === 'Group' ? undefined : `User:${link.id}`,
      gatherMs: GATHER_MS,
      platformId: options.linked ? link.id : undefined,
      restate: options.restate,
      surplus: options.surplus,
      wake: options.wake,
    };
    const [tag] = await runFor(work, 'save_link', args, toLinkText(link, work.isShort));
    if (tag === 'fenced') throw new LeaseLost(`lost the lease of ${work.ref}`);
  }

  /**
   * Ends the work; with `forget` the counterpart is ours no more, with `dropOwed` nothing is granted to this user, with
   * `decided` groups that take this user out may go on, and at `alarmAt` it is looked at again.
   */
  async function ack(
    work: Work,
    link: Link,
    outcome:
      | {
          kind: 'synced' | 'held' | 'blocked';
          forget?: boolean;
          dropOwed?: boolean;
          decided?: boolean;
          alarmAt?: number;
        }
      | { kind: 'later'; afterMs: number },
  ): Promise<Ack> {
    const args = {
      ref: work.ref,
      kind: work.kind,
      id: work.id,
      fence: work.fence,
      generation: work.generation,
      doubts: work.doubts || undefined,
      way: link.id === undefined || work.kind === 'Group' ? undefined : `User:${link.id}`,
      outcome: outcome.kind,
      delayMs: outcome.kind === 'later' ? outcome.afterMs : 0,
      lane: LANES.indexOf(work.lane),
      forget: outcome.kind !== 'later' && outcome.forget ? (link.id ?? '-') : undefined,
      dropOwed: outcome.kind !== 'later' && outcome.dropOwed ? true : undefined,
      decided: outcome.kind !== 'later' && outcome.decided ? true : undefined,
      gatherMs: GATHER_MS,
      alarm: outcome.kind === 'later' ? undefined : outcome.alarmAt,
      request: work.request,
    };
    const [tag, lag] = await runFor(work, 'ack_dirty', args, toLinkText(link, work.isShort));
    return tag === 'cleared'
      ? { kind: 'cleared', lagMs: Number(lag) }
      : { kind: tag as 'kept' | 'changed' | 'fenced' };
  }

  /** Members of a group that the platform does not have (+) or still has (-). */
  async function memberMarks(group: string): Promise<Map<string, string>> {
    return new Map(Object.entries(await redis.hgetall(keys.key('memberMarks', `${target}:${group}`))));
  }

  /** @throws LeaseLost */
  async function ackMembers(work: Work, sign: '+' | '-', users: string[]): Promise<void> {
    const args = { ref: work.ref, group: work.id, fence: work.fence, request: work.request, sign, users };
    const [tag] = await runFor(work, 'ack_members', args);
    if (tag === 'fenced') throw new LeaseLost(`lost the lease of ${work.ref}`);
  }

  /** Whether users may be granted a membership now: linked, attributes in place, nothing left to take away. */
  async function readiness(users: string[]): Promise<Readiness[]> {
    if (users.length === 0) return [];
    const refs = users.map((user) => refOf('User', user));
    const [links, marks, ...owed] = await Promise.all([
      redis.hmget(keys.key('links', target), ...refs),
      redis.hmget(keys.key('marks', target), ...refs),
      ...users.map((user) => redis.hvals(keys.key('owed', `${target}:${user}`))),
    ]);
    return users.map((user, index) => {
      const link = parseLink(links[index] ?? '');
      const mark = marks[index];
      const settled = mark ? link.settled === mark.slice(0, mark.indexOf(' ')) : !link.condition;
      const linked = link.id !== undefined && link.departed !== true;
      const ready = linked && settled && !(owed[index] ?? []).includes('-');
      return { user, link, ready, underWay: typeof mark === 'string' };
    });
  }

  async function mark(refs: Ref[], lane: Lane, request = '-'): Promise<void> {
    if (refs.length > 0) await run('mark_dirty', { refs, lane: LANES.indexOf(lane), request });
  }

  /** Whether a ref is not yet equal at the target. */
  async function isMarked(ref: Ref): Promise<boolean> {
    return (await redis.hexists(keys.key('marks', target), ref)) === 1;
  }

  /** Whether nothing happens to a ref by itself, neither soon nor later: no mark, and no person has to help first. */
  async function isAtRest(ref: Ref): Promise<boolean> {
    const isBlocked = redis.zscore(keys.key('blocked', target), ref);
    return !(await isMarked(ref)) && (await isBlocked) === null;
  }

  /** Groups that still have to take this user out. */
  async function owedRemovals(user: string): Promise<string[]> {
    const owed = Object.entries(await redis.hgetall(keys.key('owed', `${target}:${user}`)));
    return owed.filter(([, sign]) => sign === '-').map(([group]) => group);
  }

  /** Whether nothing was marked since the work began. */
  async function isCurrent(work: Work): Promise<boolean> {
    const mark = await redis.hget(keys.key('marks', target), work.ref);
    return mark?.startsWith(`${work.generation} `) ?? false;
  }

  async function forgetLink(ref: Ref, platformId: string): Promise<void> {
    await run('forget_link', { ref, platformId });
  }

  /**
   * Links a resource by order of an operator; it is written anew. `taken`: the platform id belongs to another resource of
   * ours. `busy`: a worker is at it right now.
   */
  async function adoptLink(
    ref: Ref,
    link: Link & { id: string },
    request: string,
  ): Promise<'imported' | 'unchanged' | 'taken' | 'busy' | 'unknown'> {
    const args = { ref, ...parseRef(ref), platformId: link.id, request };
    const [tag] = await run('adopt_link', args, toLinkText(link, false));
    return tag as 'imported' | 'unchanged' | 'taken' | 'busy' | 'unknown';
  }

  /** How far the target is behind: refs not yet equal, those under way, those that need a person. */
  async function depth(): Promise<{ dirty: number; inflight: number; blocked: number }> {
    const [dirty, inflight, blocked] = await Promise.all([
      redis.hlen(keys.key('marks', target)),
      redis.zcard(keys.key('inflight', target)),
      redis.zcard(keys.key('blocked', target)),
    ]);
    return { dirty, inflight, blocked };
  }

  async function blocked(): Promise<{ ref: Ref; since: number }[]> {
    const found = await redis.zrange(keys.key('blocked', target), '0', '-1', 'WITHSCORES');
    return pairs(found).map(([ref, since]) => ({ ref: ref as Ref, since: Number(since) }));
  }

  /** Takes a ref off the list of those that need a person; its desired state stays. */
  async function dismiss(ref: Ref): Promise<boolean> {
    return (await redis.zrem(keys.key('blocked', target), ref)) === 1;
  }

  return {
    target,
    leaseMs,
    staging: createStaging(deps, { target }),
    log,
    claim,
    begin,
    save,
    ack,
    memberMarks,
    ackMembers,
    readiness,
    mark,
    isMarked,
    isAtRest,
    isCurrent,
    owedRemovals,
    forgetLink,
    adoptLink,
    depth,
    whereabouts: (ref: Ref) => readWhereabouts(deps, target, ref),
    backlog: () => readBacklog({ scripts, keys }, target),
    blocked,
    dismiss,
  };
}

function pairs(flat: string[]): [string, string][] {
  const result: [string, string][] = [];
  for (let index = 0; index + 1 < flat.length; index += 2)
    result.push([flat[index] ?? '', flat[index + 1] ?? '']);
  return result;
}
