// Security events that a receiver has not taken yet, in order, and what became of the others. The script that stores a
// change adds its event (lua/telling.lua); here they are read and taken off.
import type { Redis } from 'ioredis';
import type { Keyspace } from '../keys.ts';
import type { Kind } from '../records.ts';
import type { Scripts } from '../redis/scripts.ts';

/** Types of security events. One change can be two of them: a PATCH that also deactivates. */
export type EventName = 'create' | 'put' | 'patch' | 'delete' | 'activate' | 'deactivate';

export interface StoredEvent {
  /** The stream's: its first part is the time in Unix milliseconds of Redis. */
  id: string;
  at: number;
  kind: Kind;
  /** Id of the resource. */
  resource: string;
  what: EventName[];
  /** Paths of what was added, revised or removed. */
  names: string[];
  /** Of the resource after the change; undefined where it is gone. */
  version?: number;
  externalId?: string;
  /** Id of the first event of the same change. */
  transaction: string;
}

/** Why a receiver does not want an event, in its words (RFC 8935 §2.4, RFC 8936 §2.2). */
export interface EventRefusal {
  id: string;
  err: string;
  description: string;
}

export interface EventDelivery {
  pending: number;
  /** Age of the oldest one that is pending, milliseconds. */
  oldestMs: number;
  /** Refused ones that are still kept. */
  kept: number;
  /** Since the first event of the connection. */
  delivered: number;
  refused: number;
  dropped: number;
  /** Why the receiver cannot be reached, in words; null = no error is known. */
  problem: string | null;
}

/** Refused events are looked at by people. */
const MOST_REFUSED = 1000;
/** Each may name thousands of attributes. */
const REFUSED_AT_ONCE = 50;
const NAMES_SHOWN = 100;
const EVENT_ID = /^\d{1,15}-\d{1,10}$/;

export type EventStream = ReturnType<typeof createEventStream>;

export function createEventStream(deps: { redis: Redis; scripts: Scripts; keys: Keyspace }) {
  const { redis, scripts, keys } = deps;
  const stream = keys.key('events');
  const counts = keys.key('eventCounts');
  const lease = keys.key('eventsLease');

  /** The oldest ones. */
  async function oldest(count: number): Promise<StoredEvent[]> {
    const found = await redis.xrange(stream, '-', '+', 'COUNT', count);
    return found.map(([id, [, text = '{}']]) => parseEvent(id, text));
  }

  /** Takes events off the stream. Ids that are not there are nobody's loss. @returns how many were */
  async function settle(delivered: string[], refused: EventRefusal[] = []): Promise<number> {
    const args = {
      delivered: delivered.filter((id) => EVENT_ID.test(id)),
      refused: refused.filter(({ id }) => EVENT_ID.test(id)),
      mostRefused: MOST_REFUSED,
    };
    if (args.delivered.length + args.refused.length === 0) return 0;
    const [, ...found] = await scripts.run('settle_events', keys.base, args);
    return Number(found[0]) + Number(found[1]);
  }

  /** @param maxAgeMs older ones are dropped now; undefined = none */
  async function standing(maxAgeMs?: number): Promise<EventDelivery> {
    const [, pending, oldestMs, kept, fields] = await scripts.run('tend_events', keys.base, { maxAgeMs });
    const known = new Map(pairsOf(fields as string[]));
    const total = (name: string): number => Number(known.get(name) ?? 0);
    return {
      ...{ pending: Number(pending), oldestMs: Number(oldestMs), kept: Number(kept) },
      ...{ delivered: total('delivered'), refused: total('refused'), dropped: total('dropped') },
      problem: known.get('problem') ?? null,
    };
  }

  /** Refused events that are still kept, oldest first; of very many names the first ones. */
  async function refusals(): Promise<(StoredEvent & { refusal: Omit<EventRefusal, 'id'> })[]> {
    const all: (StoredEvent & { refusal: Omit<EventRefusal, 'id'> })[] = [];
    for (let after = '-'; ;) {
      const found = await redis.xrange(keys.key('eventsRefused'), after, '+', 'COUNT', REFUSED_AT_ONCE);
      for (const [, [, text = '{}', , reason = '{}']] of found) {
        const { id, ...refusal } = JSON.parse(reason) as EventRefusal;
        const event = parseEvent(id, text);
        all.push({ ...event, names: event.names.slice(0, NAMES_SHOWN), refusal });
      }
      const last = found.at(-1);
      if (!last) return all;
      after = `(${last[0]}`;
    }
  }

  /** Puts all that was refused back at the end of the stream, or forgets it. @returns how many */
  async function resolve(how: 'retry' | 'drop'): Promise<number> {
    const [, count] = await scripts.run('retry_events', keys.base, { retry: how === 'retry' });
    return Number(count);
  }

  /** The last delivery error; null = none. */
  async function note(problem: string | null): Promise<void> {
    if (problem === null) await redis.hdel(counts, 'problem');
    else await redis.hset(counts, 'problem', problem);
  }

  /** Takes or keeps the right to push. @returns false while another process has it */
  async function lead(name: string, ttlMs: number): Promise<boolean> {
    if ((await scripts.run('lead_events', keys.base, { name, ttlMs }))[0] === 'held') return true;
    return (await redis.set(lease, name, 'PX', ttlMs, 'NX')) !== null;
  }

  const resign = async (name: string): Promise<void> => {
    await scripts.run('lead_events', keys.base, { name, ttlMs: 0 });
  };

  return { oldest, settle, standing, refusals, resolve, note, lead, resign };
}

/** `id` must be the stream's: the time is in it. */
function parseEvent(id: string, text: string): StoredEvent {
  const {
    kind,
    id: resource,
    what,
    names = [],
    txn = id,
    ...rest
  } = JSON.parse(text) as {
    kind: Kind;
    id: string;
    what: EventName[];
    names?: string[];
    version?: number;
    externalId?: string;
    txn?: string;
  };
  const at = Number(id.slice(0, id.indexOf('-')));
  return { id, at, kind, resource, what, names, transaction: txn, ...rest };
}

const pairsOf = (flat: string[]): [string, string][] =>
  flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as [string, string]] : []));
