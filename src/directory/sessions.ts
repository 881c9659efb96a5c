// Stores the sessions of people who are signed in to the operators' page. Redis has only the digest of a session's id, so
// that a copy of the data in Redis does not open a session.
import { hash, randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Clock } from '../support/sources.ts';
import { createKeyspace } from './keys.ts';

/** One sign-in of one person. */
export interface Session {
  /** Name in acts and approvals. */
  name: string;
  /** Unique and stable: issuer and subject. */
  person: string;
  /** Roles at the moment of the sign-in. */
  roles: string[];
  /** Unix milliseconds at which the session ends, however active it is. */
  endsAt: number;
}

export type SessionStore = ReturnType<typeof createSessionStore>;

export function createSessionStore(
  { redis, clock }: { redis: Redis; clock: Clock },
  /** `idleMs`: time without a request of the person after which a session ends. */
  options: { prefix: string; idleMs: number },
) {
  // The dot keeps these keys apart from those of connections, whose names have no dot.
  const keys = createKeyspace(options.prefix, 'bridge.sessions');
  const keyOf = (id: string): string => keys.key('session', hash('sha256', id, 'base64url'));
  /** Returns the milliseconds for which Redis keeps a session; at least 1, because Redis accepts no expiry of 0. */
  const lifetime = ({ endsAt }: Session): number =>
    Math.max(1, Math.min(options.idleMs, endsAt - clock.now()));

  /** Stores a session and returns its id of 256 random bits, which only the browser keeps. */
  async function begin(session: Session): Promise<string> {
    const id = randomBytes(32).toString('base64url');
    await redis.set(keyOf(id), JSON.stringify(session), 'PX', lifetime(session));
    return id;
  }

  /** Returns the session and restarts its idle time; undefined for an ended or unknown session. */
  async function find(id: string): Promise<Session | undefined> {
    const text = await redis.get(keyOf(id));
    if (text === null) return undefined;
    const session = JSON.parse(text) as Session;
    if (session.endsAt <= clock.now()) return undefined;
    // PEXPIRE does not restore a session that was ended meanwhile.
    await redis.pexpire(keyOf(id), lifetime(session));
    return session;
  }

  /**
   * Returns whether the session is open. Does not restart the idle time, because a page that only receives updates is
   * idle.
   */
  async function isOpen(id: string): Promise<boolean> {
    const text = await redis.get(keyOf(id));
    return text !== null && (JSON.parse(text) as Session).endsAt > clock.now();
  }

  const end = async (id: string): Promise<void> => void (await redis.del(keyOf(id)));

  return { begin, find, isOpen, end };
}
