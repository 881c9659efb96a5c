// Stores for each notice channel the reported conditions, the message that is being sent, and the results of the last
// deliveries.
import type { Redis } from 'ioredis';
import { createKeyspace } from './keys.ts';
import { createProcessLease, type ProcessLease } from './redis/lease.ts';
import type { Scripts } from './redis/scripts.ts';

export type NoticeSubject = 'held' | 'exceptions' | 'deadLetters' | 'breaker' | 'reconcile' | 'tokens';

/** One condition that needs a person. It contains counts and names of the settings, never personal data. */
export interface NoticeCondition {
  about: NoticeSubject;
  connection: string | null;
  target: string | null;
  /** Kind within `about`: for exceptions their reason, for tokens `expired` or `soon`; null: `about` has no kinds. */
  reason: string | null;
  count: number;
  /** Of tokens that expire soon: minus the passed limit in days; -7 is worse than -30, and is reported anew. Else 0. */
  grade: number;
  /** Unix milliseconds of Redis; null: not known. */
  since: number | null;
}

/** A condition that was reported to the receiver. */
export interface ToldCondition extends NoticeCondition {
  /** As of the condition; if not known, the time when the bridge first saw it (notices/channel.ts). */
  since: number;
  /** Time of the message, Unix milliseconds of Redis. */
  at: number;
}

/** Reported conditions by their key (notices/conditions.ts). */
export type ToldConditions = Record<string, ToldCondition>;

export interface NoticeChange {
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
  attempts: number;
  /**
   * Time of the next attempt, Unix milliseconds by the clock of the process. The clock of Redis is not needed: only the process
   * with the lease sends, and a time further off than the longest wait counts as due.
   */
  nextAt: number;
}

/** Set after a receiver refused permanently; no further message is sent to this address. */
export interface NoticePause {
  /** Digest of the address. */
  address: string;
  /** End of the pause, Unix milliseconds by the clock of the process; null: the pause has no end. */
  until: number | null;
}

export interface NoticeChannelState {
  told: ToldConditions;
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

/** A damaged field counts as absent: the receiver then gets a message twice rather than never. */
function parse([name, text]: [string, string]): [string, unknown][] {
  try {
    return name in NOTHING ? [[name, JSON.parse(text) as unknown]] : [];
  } catch {
    return [];
  }
}
