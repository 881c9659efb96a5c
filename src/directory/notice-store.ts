// Stores for each notice channel the reported conditions, the message that is being sent, and the results of the last
// deliveries.
import type { Redis } from 'ioredis';
import { createKeyspace } from './keys.ts';
import { createProcessLease, type ProcessLease } from './redis/lease.ts';
import type { Scripts } from './redis/scripts.ts';

/** `held`: changes that the guard holds. `breaker`: calls to a target are suspended. `reconcile`: runs in a row that failed. */
export type NoticeSubject = 'held' | 'exceptions' | 'deadLetters' | 'breaker' | 'reconcile' | 'tokens';

/** One condition that needs a person. It contains counts and names of the settings, never personal data. */
export interface NoticeCondition {
  about: NoticeSubject;
  /** null: the condition is not about one connection. */
  connection: string | null;
  /** null: the condition is not about one target. */
  target: string | null;
  /**
   * For exceptions their reason, for tokens `expired` or `soon`, for `breaker` the HTTP status of the last failure as text, for
   * `reconcile` the outcome of the last run; null for all others.
   */
  reason: string | null;
  /** Number of affected changes, resources, runs or tokens. */
  count: number;
  /**
   * For tokens that expire soon: minus the warning limit in days that the first of them has reached, so -30, -7 or -1. A condition
   * whose grade rises is reported again. 0 for all others.
   */
  grade: number;
  /** Time when the condition began, Unix milliseconds by the clock of Redis; null: not known. */
  since: number | null;
}

/** A condition that was reported to the receiver. */
export interface ToldCondition extends NoticeCondition {
  /** Time when the condition began; if not known, when the bridge first saw the condition (notices/channel.ts). */
  since: number;
  /** Time of the message, Unix milliseconds by the clock of Redis. */
  at: number;
}

/** Reported conditions by their key (notices/conditions.ts). */
export type ToldConditions = Record<string, ToldCondition>;

/** A condition that began or ended since the last message. */
export interface NoticeChange {
  /** Key of the condition (notices/conditions.ts). */
  key: string;
  state: 'new' | 'resolved';
  condition: NoticeCondition & { since: number };
}

/** A message that is stored before its first attempt, so that every attempt has the same id and content. */
export interface NoticeMessage {
  id: string;
  /** Unix milliseconds by the clock of Redis. */
  at: number;
  changes: NoticeChange[];
  /** Number of failed attempts to send the message. */
  attempts: number;
  /**
   * Time of the next attempt, Unix milliseconds by the clock of the process. The clock of Redis is not needed: only the process
   * with the lease sends, and a time further off than the longest wait counts as due.
   */
  nextAt: number;
}

/** Set after a receiver refused permanently; no further message is sent to this address. */
interface NoticePause {
  /** Digest of the receiver's address: the pause ends when the settings name another one. The address itself may be a secret. */
  address: string;
  /** End of the pause, Unix milliseconds by the clock of the process; null: the pause has no end. */
  until: number | null;
}

export interface NoticeChannelState {
  told: ToldConditions;
  /** The message that is being sent; null: none. */
  message: NoticeMessage | null;
  pause: NoticePause | null;
  /** Unix milliseconds by the clock of the process; null: never. */
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  /** Reason why the last attempt failed; null: it succeeded. */
  problem: string | null;
}

/** Time after which a channel that is no longer in the settings is forgotten. */
const KEEP_MS = 30 * 86_400_000;
/** State of a channel before its first message. */
const NOTHING: NoticeChannelState = {
  told: {},
  message: null,
  pause: null,
  lastSuccessAt: null,
  lastFailureAt: null,
  problem: null,
};

export type NoticeStore = ReturnType<typeof createNoticeStore>;

export function createNoticeStore(
  { redis, scripts }: { redis: Redis; scripts: Scripts },
  { prefix }: { prefix: string },
) {
  // The dot keeps these keys apart from those of connections, whose names have no dot.
  const keys = createKeyspace(prefix, 'bridge.notices');

  /** Returns the state of a channel, and restarts the time after which it is forgotten. */
  async function read(channel: string): Promise<NoticeChannelState> {
    const key = keys.key('notices', channel);
    const found = await redis.hgetall(key);
    await redis.pexpire(key, KEEP_MS);
    return { ...NOTHING, ...Object.fromEntries(Object.entries(found).flatMap(parse)) };
  }

  /** Stores some fields in one step. Sets no expiry: `read` does. */
  async function save(channel: string, fields: Partial<NoticeChannelState>): Promise<void> {
    const flat = Object.entries(fields).flatMap(([name, value]) => [name, JSON.stringify(value)]);
    await redis.hset(keys.key('notices', channel), ...flat);
  }

  /** The lease of the process that sends to a channel. */
  const leaseOf = (channel: string): ProcessLease =>
    createProcessLease({ redis, scripts, keys }, `noticesLease:${channel}`);

  return { read, save, leaseOf };
}

/** Returns a stored field as a pair; none if it is damaged: the receiver then gets a message twice rather than never. */
function parse([name, text]: [string, string]): [string, unknown][] {
  try {
    return name in NOTHING ? [[name, JSON.parse(text) as unknown]] : [];
  } catch {
    return [];
  }
}
