// Puts together what is stored about the resources of one connection at one target. Changes leave marks (marks.ts); the relay
// takes due marks (`claim`) and hands them to the queue; a worker syncs the resource (work.ts), and clears the mark if nothing
// changed meanwhile. The link (link.ts) has what was applied. Beside them: pending memberships, dead letters, exceptions, the
// guard, and the provisioning log. The functions of all these files together are the outbox.
import type { Keyspace } from '../keys.ts';
import { createGuardStore } from '../guard/guard-store.ts';
import type { StreamLimits } from '../logs/chained-stream.ts';
import { createProvisioningLog } from '../logs/provisioning-log.ts';
import { BEHIND_REFUSED_SCORE, PRIORITIES, type Priority, type Ref } from '../records.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import { readBacklog } from './backlog.ts';
import { createDeadLetterList } from './dead-letter-list.ts';
import {
  readException,
  readExceptions,
  type ExceptionPage,
  type StandingException,
} from './exception-list.ts';
import { createKnownDefinitions } from './known-definitions.ts';
import { createLinkChanges } from './link-changes.ts';
import { createMarks } from './marks.ts';
import { createPendingMemberships } from './pending-memberships.ts';
import { createRecognition } from './recognition.ts';
import { readResourceStatus } from './resource-status.ts';
import type { RunAtTarget } from './run-at-target.ts';
import { createUnmanagedNames } from './unmanaged-names.ts';
import { countWaiting, readWaiting, type WaitingPage } from './waiting.ts';
import { createWork } from './work.ts';

/** A mark that was handed to the queue. BullMQ adds one job for one delivery id, however often it is handed over. */
export interface Claim {
  ref: Ref;
  /** Number of this delivery, as text; part of the id of the job. */
  deliveryId: string;
  priority: Priority;
}

/** Reply of claim_dirty.lua, which has no tag. `priority`: position in PRIORITIES. */
type ClaimReply = [ref: Ref, deliveryId: string, priority: number][];

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
  const run: RunAtTarget = (name, args, ...texts) =>
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

  /** Returns exceptions of this target: reason after reason, each with the oldest first; a hold of the target comes last. */
  const exceptions = (page: ExceptionPage): Promise<StandingException[]> =>
    readExceptions(deps, { target, settings, deletesLeavers }, page);

  return {
    target,
    /** Print of the settings that decide how resources are synced; '': unknown. */
    settings,
    deletesLeavers,
    leaseMs,
    claim,
    ...createMarks(deps, target, run),
    ...createWork({ ...deps, log }, { target, leaseMs, rulesReadGroups, address }),
    ...createLinkChanges(run),
    ...createPendingMemberships(deps, { target }),
    ...createRecognition(deps, { target, address, others }),
    ...createDeadLetterList(deps, target, run),
    exceptions,
    exceptionOf: (ref: Ref) => readException(deps, target, ref),
    guardStore,
    log,
    unmanagedNames: createUnmanagedNames(deps, target),
    definitions: createKnownDefinitions(deps, target),
    resourceStatus: (ref: Ref) => readResourceStatus(deps, target, ref),
    backlog: () => readBacklog(deps, target),
    /** Returns the users who wait for the removal from a group whose sync was refused. */
    behindRefused: async () =>
      (await redis.zrangebyscore(keys.key('dirty', target), BEHIND_REFUSED_SCORE, '+inf')) as Ref[],
    waiting: (page: WaitingPage) => readWaiting(deps, target, page),
    countWaiting: () => countWaiting(deps, target),
  };
}
