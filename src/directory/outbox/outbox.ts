// Keeps the marks (docs/glossary.md) of resources that may differ from the desired state at a target. A mark names a resource
// and never a change. Only the worker that synced the resource clears the mark, and only if nothing changed meanwhile.
import { readBacklog } from './backlog.ts';
import type { Keyspace } from '../keys.ts';
import { createKnownDefinitions } from './known-definitions.ts';
import {
  readException,
  readExceptions,
  type ExceptionPage,
  type StandingException,
} from './exception-list.ts';
import { toLinkText, type Link } from './link.ts';
import {
  BEHIND_REFUSED_SCORE,
  NO_REQUEST,
  PRIORITIES,
  PRIORITY_SPAN,
  parseRef,
  type Priority,
  type Ref,
} from '../records.ts';
import type { StreamLimits } from '../logs/chained-stream.ts';
import { createProvisioningLog } from '../logs/provisioning-log.ts';
import { pairsOf, inPortions, scanned } from '../redis/portions.ts';
import type { ScriptReply, StoreDeps } from '../redis/scripts.ts';
import { createGuardStore } from '../guard/guard-store.ts';
import { createPendingMemberships } from './pending-memberships.ts';
import { readResourceStatus } from './resource-status.ts';
import { createRecognition } from './recognition.ts';
import { createUnmanagedNames } from './unmanaged-names.ts';
import { countWaiting, readWaiting, type WaitingPage } from './waiting.ts';
import { createWork } from './work.ts';
import type { DueWork } from './due-work.ts';

/** A mark that was handed to the queue. BullMQ adds one job for one delivery id, however often it is handed over. */
export interface Claim {
  ref: Ref;
  /** Number of this delivery, as text; part of the id of the job. */
  deliveryId: string;
  priority: Priority;
}

/** Reply of claim_dirty.lua, which has no tag. `priority`: position in PRIORITIES. */
type ClaimReply = [ref: Ref, deliveryId: string, priority: number][];

/** Marks that one script makes; a thousand take about 15 ms. */
const MARKS_PORTION = 1000;
/** Pending removals that one script copies. */
const INHERITED_PORTION = 200;

export type Outbox = ReturnType<typeof createOutbox>;

export function createOutbox(
  deps: StoreDeps,
  options: {
    target: string;
    /** Duration of the lease of a sync. */
    leaseMs: number;
    /** Whether the mapping of the target reads the groups of users. */
    rulesReadGroups: boolean;
    /** Address of the platform. */
    address: string;
    /** Print of the settings that decide how resources are synced. */
    settings?: string | undefined;
    /** Whether the settings delete the account of a leaver after its deactivation. */
    deletesLeavers?: boolean | undefined;
    /** Keys of the other connections of the target; absent: there are none. */
    others?: readonly Keyspace[];
    /** Limits of the provisioning log; absent: the default ones. */
    log?: StreamLimits | undefined;
  },
) {
  const { redis, scripts, keys } = deps;
  const { target, leaseMs, rulesReadGroups, address, settings = '', deletesLeavers = false } = options;
  const { others = [] } = options;
  const targets = [target];
  const run = (name: string, args: object, ...texts: string[]): Promise<ScriptReply> =>
    scripts.run(name, keys.base, { target, targets, leaseMs, address, ...args }, ...texts);

  const guardStore = createGuardStore(deps, { target, others });
  const log = createProvisioningLog(deps, { target, ...(options.log ? { limits: options.log } : {}) });

  /**
   * Takes up to `limit` due marks; beyond `room` refs in flight only deactivations are taken.
   * @param refs absent: marks of all resources; else of these alone
   */
  async function claim(limit: number, room: number, refs?: readonly Ref[]): Promise<Claim[]> {
    const isHeldElsewhere = (await guardStore.tenantHoldElsewhere()) !== undefined;
    const claims = (await run('claim_dirty', {
      limit,
      room,
      refs,
      isHeldElsewhere,
    })) as unknown as ClaimReply;
    return claims.map(([ref, deliveryId, priority]) => ({
      ref,
      deliveryId,
      priority: PRIORITIES[priority] ?? 'edit',
    }));
  }

  /** Marks resources for a sync without a change. @param request correlation id of the order */
  async function mark(refs: Ref[], priority: Priority, request = NO_REQUEST): Promise<void> {
    const order = { priority: PRIORITIES.indexOf(priority), request };
    for (const portion of inPortions(refs, MARKS_PORTION))
      await run('mark_dirty', { refs: portion, ...order });
  }

  async function isMarked(ref: Ref): Promise<boolean> {
    return (await redis.hexists(keys.key('marks', target), ref)) === 1;
  }

  /** Returns the earliest `since` of the marks of these resources, Unix milliseconds; undefined: none of them has a mark. */
  async function pendingSince(refs: readonly Ref[]): Promise<number | undefined> {
    const marks = refs.length === 0 ? [] : await redis.hmget(keys.key('marks', target), ...refs);
    const times = marks.flatMap((mark) => (mark ? [Number(mark.split(' ')[1])] : []));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Returns all resources with a mark. */
  async function marked(): Promise<Ref[]> {
    const refs = new Set<Ref>();
    const marks = keys.key('marks', target);
    for await (const found of scanned((cursor) => redis.hscan(marks, cursor, 'COUNT', MARKS_PORTION)))
      for (const [ref] of pairsOf(found)) refs.add(ref as Ref);
    return [...refs];
  }

  /** Returns the resources whose deactivation waits for delivery. */
  const deactivations = async (): Promise<Ref[]> =>
    (await redis.zrangebyscore(keys.key('dirty', target), 0, `(${PRIORITY_SPAN}`)) as Ref[];

  /** Returns the number of marks of new resources that wait for delivery. */
  const countNew = (): Promise<number> => {
    const priority = PRIORITIES.indexOf('new');
    return redis.zcount(
      keys.key('dirty', target),
      priority * PRIORITY_SPAN,
      `(${(priority + 1) * PRIORITY_SPAN}`,
    );
  };

  /** Returns whether a resource has neither a dirty mark nor a dead letter. */
  async function isAtRest(ref: Ref): Promise<boolean> {
    const [blockedSince, hasMark] = await Promise.all([
      redis.zscore(keys.key('blocked', target), ref),
      isMarked(ref),
    ]);
    return blockedSince === null && !hasMark;
  }

  /** Returns whether the resource was not marked again since the sync began. */
  async function isCurrent(work: DueWork): Promise<boolean> {
    const mark = await redis.hget(keys.key('marks', target), work.ref);
    // A mark begins with its generation.
    return mark?.startsWith(`${work.generation} `) ?? false;
  }

  /**
   * Deletes the link of a resource, so that the next sync looks it up again. `platformId`: the id that the link has; '': it has
   * none and may have an account (`mayExist`, `tried`). `keepsId`: the account or group may exist, so the link of a stored resource
   * keeps its id. `leaves`: the result of a create without answer is not looked for any more.
   */
  async function forgetLink(
    ref: Ref,
    platformId: string,
    { keepsId = false, leaves = false }: { keepsId?: boolean; leaves?: boolean } = {},
  ): Promise<void> {
    const kept = { keepsId: keepsId || undefined, leaves: leaves || undefined };
    await run('forget_link', { ref, platformId, ...kept });
  }

  /**
   * Notes that a restore may have lost the links of these resources (`mayExist`). A link stays as it is if it has a platform id,
   * such a note already, or a create without answer (`tried`).
   * @param names their names at the source, by the paths of `Link.core`
   */
  async function noteMayExist(names: readonly (readonly [Ref, NonNullable<Link['core']>])[]): Promise<void> {
    const items = names.map(([ref, core]) => [ref, (JSON.parse(toLinkText({ core })) as { c: object }).c]);
    if (items.length > 0) await run('note_may_exist', { items });
  }

  /**
   * Copies the pending, held and rejected removals of a group that was deleted at the source to the `heir`, which takes over its
   * group at the platform. Called before the former group loses its link.
   */
  async function inheritRemovals(former: string, heir: string): Promise<void> {
    let cursor = '0';
    do {
      const [_tag, next] = await run('inherit_removals', { former, heir, cursor, count: INHERITED_PORTION });
      cursor = String(next);
    } while (cursor !== '0');
  }

  /**
   * Links a resource by order of an operator and marks it, so that all its values are written (`imported`). `unchanged`: it is
   * linked so already. `taken`: the platform id is linked to another resource. `busy`: a sync of the resource is running.
   * `unknown`: the resource is not stored.
   */
  async function adoptLink(
    ref: Ref,
    link: Link & { id: string },
    request: string,
  ): Promise<'imported' | 'unchanged' | 'taken' | 'busy' | 'unknown'> {
    const args = { ref, ...parseRef(ref), platformId: link.id, request };
    const [tag] = await run('adopt_link', args, toLinkText(link));
    return tag as 'imported' | 'unchanged' | 'taken' | 'busy' | 'unknown';
  }

  /** Returns dead letters, the oldest first; without a page all of them. */
  async function blocked({ offset = 0, limit = Infinity } = {}): Promise<{ ref: Ref; since: number }[]> {
    const last = limit === Infinity ? -1 : offset + limit - 1;
    const found = await redis.zrange(keys.key('blocked', target), String(offset), String(last), 'WITHSCORES');
    return pairsOf(found).map(([ref, since]) => ({ ref: ref as Ref, since: Number(since) }));
  }

  /** Returns those of the refs that are dead letters. */
  async function blockedOf(refs: readonly Ref[]): Promise<{ ref: Ref; since: number }[]> {
    if (refs.length === 0) return [];
    const scores = await redis.zmscore(keys.key('blocked', target), ...refs);
    return refs.flatMap((ref, index) => (scores[index] ? [{ ref, since: Number(scores[index]) }] : []));
  }

  /** Removes a resource from the dead letters; its desired state stays. @returns false when it was none */
  async function dismiss(ref: Ref): Promise<boolean> {
    const [tag] = await run('dismiss', { ref });
    return tag === 'dismissed';
  }

  /** Returns exceptions of this target: reason after reason, each with the oldest first; a hold of the target comes last. */
  const exceptions = (page: ExceptionPage): Promise<StandingException[]> =>
    readExceptions(deps, { target, settings, deletesLeavers }, page);

  return {
    target,
    /** Print of the settings that decide how resources are synced; '': unknown. */
    settings,
    deletesLeavers,
    exceptions,
    exceptionOf: (ref: Ref) => readException(deps, target, ref),
    leaseMs,
    guardStore,
    unmanagedNames: createUnmanagedNames(deps, target),
    definitions: createKnownDefinitions(deps, target),
    log,
    claim,
    ...createWork({ ...deps, log }, { target, leaseMs, rulesReadGroups, address }),
    ...createPendingMemberships(deps, { target }),
    mark,
    marked,
    isMarked,
    pendingSince,
    countNew,
    deactivations,
    isAtRest,
    isCurrent,
    forgetLink,
    noteMayExist,
    inheritRemovals,
    adoptLink,
    ...createRecognition(deps, { target, address, others }),
    resourceStatus: (ref: Ref) => readResourceStatus(deps, target, ref),
    backlog: () => readBacklog(deps, target),
    blocked,
    blockedOf,
    /** Returns the users who wait for the removal from a group whose sync was refused. */
    behindRefused: async () =>
      (await redis.zrangebyscore(keys.key('dirty', target), BEHIND_REFUSED_SCORE, '+inf')) as Ref[],
    countBlocked: () => redis.zcard(keys.key('blocked', target)),
    waiting: (page: WaitingPage) => readWaiting(deps, target, page),
    countWaiting: () => countWaiting(deps, target),
    dismiss,
  };
}
