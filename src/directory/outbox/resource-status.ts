// Reads the status of one resource at one target for display. The reads are not atomic, so no decision uses the status.
import { DESTRUCTIVE_KINDS, type DestructiveKind } from '../../guard/judge.ts';
import { readApprovalTerm, stateOfPlace, type ApprovalTerm } from '../guard/approval-term.ts';
import type { GuardState } from '../guard/guard-store.ts';
import { readChangePlaces, type Destruction } from '../guard/held-changes.ts';
import {
  BEHIND_HELD_SCORE,
  PRIORITIES,
  PRIORITY_SPAN,
  parseRef,
  type Priority,
  type Ref,
} from '../records.ts';
import { isUnconfirmed, type PendingSign } from './pending-memberships.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** State of a dirty mark. Times are Unix milliseconds of Redis. */
export interface MarkState {
  generation: string;
  /** Time when the oldest unapplied change was accepted. */
  since: number;
  /** Correlation id of the newest change. */
  request: string;
  priority: Priority | null;
  /** Time at which the mark is handed to the queue; null while it is queued or its sync is running. */
  dueAt: number | null;
  state: 'due' | 'queued' | 'running';
  /**
   * The resource waits for a held change of another one, or for a group whose sync was refused, so no worker can apply it before an
   * operator acts.
   */
  isBehindHeld: boolean;
}

export interface ResourceStatus {
  mark: MarkState | null;
  /** Time since when the resource is a dead letter; null: it is none. */
  blockedSince: number | null;
  /** Time of the next sync without a change; null: none is planned. */
  alarmAt: number | null;
  /** Names of values that differed at the platform in a comparison. */
  suspectedDrift: string[];
  /** Signs (pending-memberships.ts): by group id for a user, by member name (member-names.ts) for a group. */
  pendingMemberships: Map<string, PendingSign>;
  /** Written removals that no answer or read has shown yet, named as in `pendingMemberships`. */
  unconfirmedRemovals: string[];
  /**
   * Changes of the resource that an operator can decide or has decided. `expired`: held under an approval that has expired, and
   * not judged anew yet. `approvedUntil`: time at which the approval ends, Unix milliseconds.
   */
  guard: {
    kind: DestructiveKind;
    subject: string | null;
    state: GuardState | 'approved';
    approvedUntil?: number;
  }[];
}

/** Reads all facts of a resource at a target. */
export async function readResourceStatus(deps: StoreDeps, target: string, ref: Ref): Promise<ResourceStatus> {
  const { redis, keys } = deps;
  const { kind, id } = parseRef(ref);
  const key = (family: string): string => keys.key(family, target);
  const pendingKey = keys.key(kind === 'User' ? 'pendingGroups' : 'pendingMembers', `${target}:${id}`);
  const [mark, score, delivery, leased, blocked, alarm, suspectedDrift, pending, items, term] =
    await Promise.all([
      redis.hget(key('marks'), ref),
      redis.zscore(key('dirty'), ref),
      redis.hget(key('deliveries'), ref),
      redis.exists(keys.key('lease', `${target}:${ref}`)),
      redis.zscore(key('blocked'), ref),
      redis.zscore(key('alarms'), ref),
      redis.hget(key('suspectedDrift'), ref),
      redis.hgetall(pendingKey),
      redis.smembers(keys.key('guardItems', `${target}:${ref}`)),
      readApprovalTerm(deps, target),
    ]);
  return {
    mark: mark === null ? null : toMarkState(mark, score, delivery, leased === 1),
    blockedSince: blocked === null ? null : Number(blocked),
    alarmAt: alarm === null ? null : Number(alarm),
    suspectedDrift: suspectedDrift === null ? [] : (JSON.parse(suspectedDrift) as string[]),
    ...signsOf(pending),
    guard: await guardOf(deps, { target, ref, items, term }),
  };
}

function signsOf(
  stored: Record<string, string>,
): Pick<ResourceStatus, 'pendingMemberships' | 'unconfirmedRemovals'> {
  const signs = Object.entries(stored);
  const pending = signs.filter(([, sign]) => !isUnconfirmed(sign));
  return {
    pendingMemberships: new Map(pending as [string, PendingSign][]),
    unconfirmedRemovals: signs.flatMap(([id, sign]) => (isUnconfirmed(sign) ? [id] : [])),
  };
}

/**
 * Converts the stored texts of a mark.
 * @param mark `generation since request`
 * @param score dirty score; null: the mark was delivered
 * @param delivery `deliveryId priority` of the job, `- priority` while its sync is running; null: there is no job
 * @param leased a sync is running
 */
export function toMarkState(
  mark: string,
  score: string | null,
  delivery: string | null,
  leased: boolean,
): MarkState {
  const [generation = '', since = '0', ...request] = mark.split(' ');
  const [_deliveryId, deliveredPriority] = delivery?.split(' ') ?? [];
  // NaN: the priority is not known, because the job was lost.
  const priority = score === null ? Number(deliveredPriority) : Math.floor(Number(score) / PRIORITY_SPAN);
  const waiting = score === null ? 'queued' : 'due';
  return {
    generation,
    since: Number(since),
    request: request.join(' '),
    priority: PRIORITIES[priority] ?? null,
    dueAt: score === null ? null : Number(score) % PRIORITY_SPAN,
    state: leased ? 'running' : waiting,
    isBehindHeld: Number(score) >= BEHIND_HELD_SCORE,
  };
}

/**
 * Returns the held, approved and rejected changes of a resource, without approved ones whose approval has ended.
 * @param items entries `<kind> <subject>` of the set `guardItems` of the ref
 */
async function guardOf(
  deps: StoreDeps,
  { target, ref, items, term }: { target: string; ref: Ref; items: string[]; term: ApprovalTerm },
): Promise<ResourceStatus['guard']> {
  const changes = DESTRUCTIVE_KINDS.flatMap((kind) => {
    const ofKind = items.filter((item) => item.startsWith(`${kind} `));
    return ofKind.map((item): Destruction => {
      const subject = item.slice(kind.length + 1);
      return { kind, ref, ...(subject !== '' && { subject }) };
    });
  });
  const [held = [], approved = [], rejected = []] = await Promise.all(
    ['guardHeld', 'guardApproved', 'guardRejected'].map((family) =>
      readChangePlaces(deps, target, family, changes),
    ),
  );
  return changes.flatMap(({ kind, subject = null }, index): ResourceStatus['guard'] => {
    const state = stateOfPlace(held[index] ?? null, term);
    if (state !== undefined) return [{ kind, subject, state }];
    // An unwritten change keeps the entry of its ended approval, and may have been rejected since.
    const approvedUntil = Number(approved[index] ?? 0);
    if (approvedUntil > term.now) return [{ kind, subject, state: 'approved', approvedUntil }];
    return (rejected[index] ?? null) === null ? [] : [{ kind, subject, state: 'rejected' }];
  });
}
