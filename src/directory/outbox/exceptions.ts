// Reads the exceptions of a target: resources that it shows otherwise than desired, by a decision and not by a delay. The end
// of a sync (ack_dirty.lua) and the drop of a dead letter (dismiss.lua) write them.
import type { Redis } from 'ioredis';
import type { Keyspace } from '../keys.ts';
import { parseRef, parseStored, type Ref } from '../records.ts';
import { parseLink, type Condition } from './links.ts';

/**
 * `Rejected`: an operator rejected the removal. `Protected`: the account is protected. `LastAdministrator`: no other
 * administrator would be left. `Dropped`: an operator dropped the dead letter.
 */
export const EXCEPTION_REASONS = ['Rejected', 'Protected', 'LastAdministrator', 'Dropped'] as const;
export type ExceptionReason = (typeof EXCEPTION_REASONS)[number];

/** Number of exceptions by reason and in total, and the age of the oldest in milliseconds; 0 when there is none. */
export type ExceptionCounts = Record<ExceptionReason, number> & { total: number; oldestMs: number };

export interface StandingException {
  ref: Ref;
  reason: ExceptionReason;
  /** Unix milliseconds. */
  since: number;
  /** userName or displayName, as written at the target or as stored; the ref when there is neither. */
  name: string;
  /** The condition of the link in words. */
  message: string;
}

/** Returns the reason under which the list of exceptions has a condition; undefined for every other condition. */
export const exceptionReasonOf = (condition: Condition | undefined): ExceptionReason | undefined =>
  EXCEPTION_REASONS.find((reason) => reason === condition?.reason);

/** Returns counts by the numbers of the reasons, in their order. @param oldestAt Unix milliseconds; undefined: none */
export function toExceptionCounts(
  numbers: readonly number[],
  oldestAt: number | undefined,
  now: number,
): ExceptionCounts {
  const byReason = Object.fromEntries(
    EXCEPTION_REASONS.map((reason, index) => [reason, numbers[index] ?? 0]),
  ) as Record<ExceptionReason, number>;
  const total = numbers.reduce((sum, each) => sum + each, 0);
  return { ...byReason, total, oldestMs: oldestAt === undefined ? 0 : Math.max(0, now - oldestAt) };
}

/** Returns at most `limit` exceptions, the oldest of each reason first. @param reasons default: all */
export async function readExceptions(
  { redis, keys }: { redis: Redis; keys: Keyspace },
  target: string,
  { limit, reasons = EXCEPTION_REASONS }: { limit: number; reasons?: readonly ExceptionReason[] | undefined },
): Promise<StandingException[]> {
  const found: Omit<StandingException, 'name' | 'message'>[] = [];
  for (const reason of reasons) {
    const list = keys.key('exceptions', `${target}:${reason}`);
    const room = limit - found.length;
    if (room <= 0) break;
    const flat = await redis.zrange(list, '0', String(room - 1), 'WITHSCORES');
    for (let at = 0; at + 1 < flat.length; at += 2)
      found.push({ ref: flat[at] as Ref, reason, since: Number(flat[at + 1]) });
  }
  if (found.length === 0) return [];
  const texts = await redis.hmget(keys.key('links', target), ...found.map(({ ref }) => ref));
  const conditions = found.map((each, index) => {
    const { core, condition } = parseLink(texts[index] ?? '');
    return { ...each, name: core?.userName ?? core?.displayName, message: condition?.message ?? '' };
  });
  return Promise.all(
    conditions.map(async (each) => ({ ...each, name: String(each.name ?? (await nameOf(each.ref))) })),
  );

  /** Returns the stored name of a resource that was never written at the target; the ref when there is no record. */
  async function nameOf(ref: Ref): Promise<string> {
    const { kind, id } = parseRef(ref);
    if (kind === 'Group') return (await redis.hget(keys.key('groupNames'), id)) ?? ref;
    const stored = await redis.hget(keys.key('users'), id);
    if (stored === null) return ref;
    const { text, damaged } = parseStored(id, stored);
    return damaged ? ref : String((JSON.parse(text) as { userName?: string }).userName ?? ref);
  }
}
