// Reads the exceptions of a target (exceptions.ts) as a list, a page at a time. Redis stores the resource, the reason and the
// time; the name and the message come from the link of the resource, else from its record and from the reason.
import type { Hold } from '../guard/operator-hold.ts';
import { nameInRecord, parseRef, parseStored, type Ref } from '../records.ts';
import { pairsOf } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import { conditionText, deletionText } from './condition-text.ts';
import {
  EXCEPTION_REASONS,
  exceptionReasonOf,
  RESOURCE_REASONS,
  type ExceptionReason,
  type ResourceReason,
} from './exceptions.ts';
import { parseLink } from './link.ts';

/** One exception: a resource that differs from the desired state until a person acts, or a target on hold. */
export interface StandingException {
  /** Null for a target on hold. */
  ref: Ref | null;
  reason: ExceptionReason;
  /** Unix milliseconds. */
  since: number;
  /** userName or displayName, as written at the target or as stored; else the ref. Of a target on hold its name. */
  name: string;
  /** The condition of the link in words, or the note of the hold. */
  message: string;
}

/** The stored part of an exception (docs/exceptions.md). Name and message are added when it is listed. */
type StoredException = { ref: Ref; reason: ResourceReason; since: number };

/** Messages by reason, for a resource whose link has no condition about this reason. */
const MESSAGES: Record<ResourceReason, string> = {
  Rejected: 'an operator rejected the change: the platform keeps what it has',
  LastAdministrator: 'no other active administrator would be left at the platform',
  Dropped: 'an operator dropped the dead letter',
  NotAdopted: 'it exists at the platform already, and adopt does not allow to take it over',
  Held: 'the guard holds a change of it',
  Protected: 'listed in users.protected, or owner of the platform key',
};

export interface ExceptionPage {
  limit: number;
  /** Number of exceptions that are left out at the beginning. */
  offset?: number | undefined;
  /** Default: all. */
  reasons?: readonly ExceptionReason[] | undefined;
}

/**
 * Returns at most `limit` exceptions behind the first `offset`: reason after reason, each with the oldest first; a hold of the
 * target comes last.
 */
export async function readExceptions(
  { redis, keys }: StoreDeps,
  { target, settings, deletesLeavers }: { target: string; settings: string; deletesLeavers: boolean },
  { limit, offset = 0, reasons = EXCEPTION_REASONS }: ExceptionPage,
): Promise<StandingException[]> {
  const found: StoredException[] = [];
  const listKey = (reason: ResourceReason): string => keys.key('exceptions', `${target}:${reason}`);
  let skip = offset;
  for (const reason of RESOURCE_REASONS) {
    const room = limit - found.length;
    if (room <= 0) return withNames(found);
    if (!reasons.includes(reason)) continue;
    const flat = await redis.zrange(listKey(reason), String(skip), String(skip + room - 1), 'WITHSCORES');
    for (const [ref, since] of pairsOf(flat)) found.push({ ref: ref as Ref, reason, since: Number(since) });
    // An empty page: the offset leaves out this whole list, and the rest of the offset belongs to the next reason.
    skip = flat.length > 0 ? 0 : Math.max(0, skip - (await redis.zcard(listKey(reason))));
  }
  // The hold of the target comes behind all resources.
  const isHoldOnPage = skip === 0 && found.length < limit && reasons.includes('OnHold');
  const hold = isHoldOnPage ? await readHold() : null;
  return [...(await withNames(found)), ...(hold ? [hold] : [])];

  async function readHold(): Promise<StandingException | null> {
    const text = await redis.get(keys.key('hold', target));
    if (text === null) return null;
    const { since, by, note } = JSON.parse(text) as Hold;
    const message = `${by} stopped all writes${note === undefined ? '' : `: ${note}`}`;
    return { ref: null, reason: 'OnHold', since, name: target, message };
  }

  async function withNames(stored: StoredException[]): Promise<StandingException[]> {
    if (stored.length === 0) return [];
    const texts = await redis.hmget(keys.key('links', target), ...stored.map(({ ref }) => ref));
    return Promise.all(
      stored.map(async (each, index) => {
        const { core, condition } = parseLink(texts[index] ?? '');
        const name = core?.userName ?? core?.displayName ?? (await nameOf(each.ref));
        // The condition of the last sync may be about something else, such as another change of the resource that fails.
        const isAboutReason = each.reason === 'Dropped' || exceptionReasonOf(condition) === each.reason;
        const text = condition && isAboutReason ? conditionText(condition, settings) : MESSAGES[each.reason];
        const message = `${text}${isAboutReason ? deletionText(condition, deletesLeavers) : ''}`;
        return { ...each, name: String(name), message };
      }),
    );
  }

  /** Returns the stored name of a resource that was never written at the target; the ref when there is no record. */
  async function nameOf(ref: Ref): Promise<string> {
    const { kind, id } = parseRef(ref);
    if (kind === 'Group') return (await redis.hget(keys.key('groupNames'), id)) ?? ref;
    const stored = await redis.hget(keys.key('users'), id);
    if (stored === null) return ref;
    return nameInRecord(parseStored(id, stored)) ?? ref;
  }
}

/** Returns the exception of one resource; undefined when there is none. */
export async function readException(
  { redis, keys }: StoreDeps,
  target: string,
  ref: Ref,
): Promise<{ reason: ResourceReason; /** Unix milliseconds. */ since: number } | undefined> {
  const reason = (await redis.hget(keys.key('exceptionReasons', target), ref)) as ResourceReason | null;
  const since = reason && (await redis.zscore(keys.key('exceptions', `${target}:${reason}`), ref));
  return reason && since ? { reason, since: Number(since) } : undefined;
}
