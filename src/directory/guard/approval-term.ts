// Tells whether a held change still waits for a decision. The scripts of the guard use the same rule (guard_take.lua).
import type { StoreDeps } from '../redis/scripts.ts';

/** The newest approval of a target, as read at one time. */
export interface ApprovalTerm {
  /** Number of the approval; the places of its changes are larger. Infinity: there is no approval. */
  serial: number;
  /** Time until the approval expires by the clock of Redis, milliseconds; 0 or less: it has expired. */
  leftMs: number;
}

/** Reads the newest approval of a target. The clock is that of Redis, which decides about the expiry. */
export async function readApprovalTerm(
  { redis, keys }: Pick<StoreDeps, 'redis' | 'keys'>,
  target: string,
): Promise<ApprovalTerm> {
  const [[serial, expires], [seconds = 0, micros = 0]] = await Promise.all([
    redis.hmget(keys.key('guardApproval', target), 'serial', 'expires'),
    redis.time(),
  ]);
  const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  return { serial: Number(serial ?? Infinity), leftMs: Number(expires ?? 0) - now };
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
