// Tells whether a held change still waits for a decision. The scripts of the guard use the same rule (guard_take.lua).
import { redisTime } from '../redis/redis-time.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** The newest approval of a target, as read at one time. Times are Unix milliseconds of Redis, which decides about the expiry. */
export interface ApprovalTerm {
  /** Number of the approval; the places of its changes are larger. Infinity: there is no approval. */
  serial: number;
  openedAt: number;
  expiresAt: number;
  /** Time of the reading. */
  now: number;
  /** Time until the approval expires; 0 or less: it has expired. */
  leftMs: number;
}

/** Reads the newest approval of a target. */
export async function readApprovalTerm(
  { redis, keys }: Pick<StoreDeps, 'redis' | 'keys'>,
  target: string,
): Promise<ApprovalTerm> {
  const [[serial, opened, expires], now] = await Promise.all([
    redis.hmget(keys.key('guardApproval', target), 'serial', 'opened', 'expires'),
    redisTime(redis),
  ]);
  const expiresAt = Number(expires ?? 0);
  return {
    serial: Number(serial ?? Infinity),
    openedAt: Number(opened ?? 0),
    expiresAt,
    now,
    leftMs: expiresAt - now,
  };
}

/**
 * Returns the state of a change by its place in `guardHeld`; undefined: it has no place there. `held`: an operator can decide it.
 * `expired`: its approval has expired, and the guard has not judged it anew yet.
 */
export function stateOfPlace(
  place: string | null,
  { serial, leftMs }: ApprovalTerm,
): 'held' | 'expired' | undefined {
  if (place === null) return undefined;
  return Number(place) > serial && leftMs > 0 ? 'held' : 'expired';
}
