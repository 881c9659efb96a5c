// Reads and removes pending security events, and counts delivered, refused and dropped ones. The script that stores a change
// adds its events (lua/events.lua).
import type { Kind } from '../records.ts';
import { createProcessLease } from '../redis/lease.ts';
import { fieldOf, pairsOf, streamPortions } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import { timeOf } from '../redis/stream-id.ts';

/** Types of security events. One change may be an event of two types: a PATCH that also deactivates. */
export type EventName = 'create' | 'put' | 'patch' | 'delete' | 'activate' | 'deactivate';

export interface StoredEvent {
  /** Id in the stream; its first part is the time in Unix milliseconds of Redis at which it was appended. */
  id: string;
  /** Time of the change, Unix milliseconds of Redis. An event that an operator has sent again is appended later. */
  at: number;
  kind: Kind;
  /** Id of the resource. */
  resource: string;
  /** The types of the event. */
  what: EventName[];
  /** Paths of the added, changed or removed attributes. */
  names: string[];
  /** Version of the resource after the change; undefined after a deletion. */
  version?: number;
  externalId?: string;
  /** Id of the first event of the same change. */
  transaction: string;
}

/** Refusal of an event by its receiver (RFC 8935 §2.4, RFC 8936 §2.2). */
export interface EventRefusal {
  /** Id of the event in the stream. */
  id: string;
  err: string;
  description: string;
}

/** A refused event that is stored for the operator. */
type RefusedEvent = StoredEvent & { refusal: Omit<EventRefusal, 'id'> };

export interface EventDelivery {
  /** Number of events that are not delivered yet. */
  pending: number;
  /** Age of the oldest pending event, milliseconds. */
  oldestMs: number;
  /** Number of stored refused events. */
  kept: number;
  /** Number of all events that were delivered so far. */
  delivered: number;
  /** Number of all events that the receiver refused so far. */
  refused: number;
  /** Number of all events that were deleted before delivery, because they were too old or too many. */
  dropped: number;
  /** Time of the last deletion before delivery, Unix milliseconds of Redis; null: none is known. */
  droppedAt: number | null;
  /** Last delivery error as a sentence; null: none. */
  problem: string | null;
}

/** Largest number of stored refused events. */
const MOST_REFUSED = 1000;
/** Refused events per read, because each may name thousands of attributes. */
const REFUSED_AT_ONCE = 50;
/** Largest number of attribute names that are returned of a refused event. */
const NAMES_SHOWN = 100;
/** Form of an id in the stream; a receiver may acknowledge other texts. */
const EVENT_ID = /^\d{1,15}-\d{1,10}$/;

export type EventStream = ReturnType<typeof createEventStream>;

export function createEventStream(deps: StoreDeps) {
  const { redis, scripts, keys } = deps;
  const stream = keys.key('events');
  const counts = keys.key('eventCounts');
  /** The lease of the process that pushes events. */
  const { lead, resign } = createProcessLease(deps, 'eventsLease');

  /** Returns the oldest pending events. */
  async function oldest(count: number): Promise<StoredEvent[]> {
    const found = await redis.xrange(stream, '-', '+', 'COUNT', count);
    // `e`: the event as JSON.
    return found.map(([id, fields]) => parseEvent(id, fieldOf(fields, 'e') ?? '{}'));
  }

  /** Removes events from the stream; unknown ids are ignored. @returns number of removed events */
  async function acknowledge(delivered: string[], refused: EventRefusal[] = []): Promise<number> {
    const args = {
      delivered: delivered.filter((id) => EVENT_ID.test(id)),
      refused: refused.filter(({ id }) => EVENT_ID.test(id)),
      mostRefused: MOST_REFUSED,
    };
    if (args.delivered.length + args.refused.length === 0) return 0;
    const [deliveredCount, refusedCount] = await scripts.values('acknowledge_events', keys.base, args);
    return Number(deliveredCount) + Number(refusedCount);
  }

  /** Returns the state of the delivery. */
  const delivery = (): Promise<EventDelivery> => readDelivery({});

  /** Deletes events above this age, and returns the state of the delivery afterwards. */
  const expire = (maxAgeMs: number): Promise<EventDelivery> => readDelivery({ maxAgeMs });

  async function readDelivery(deletion: { maxAgeMs?: number }): Promise<EventDelivery> {
    const [pending, oldestMs, kept, fields] = await scripts.values('expire_events', keys.base, deletion);
    const known = new Map(pairsOf(fields as string[]));
    const total = (name: string): number => Number(known.get(name) ?? 0);
    return {
      pending: Number(pending),
      oldestMs: Number(oldestMs),
      kept: Number(kept),
      delivered: total('delivered'),
      refused: total('refused'),
      dropped: total('dropped'),
      droppedAt: known.has('droppedAt') ? total('droppedAt') : null,
      problem: known.get('problem') ?? null,
    };
  }

  /** Returns stored refused events, oldest first, each with a limited number of names. */
  async function refusals(): Promise<RefusedEvent[]> {
    const all: RefusedEvent[] = [];
    for await (const found of streamPortions(redis, keys.key('eventsRefused'), REFUSED_AT_ONCE)) {
      // `e`: the event. `r`: its refusal (acknowledge_events.lua).
      for (const [_entryId, fields] of found) {
        const { id, ...refusal } = JSON.parse(fieldOf(fields, 'r') ?? '{}') as EventRefusal;
        const event = parseEvent(id, fieldOf(fields, 'e') ?? '{}');
        all.push({ ...event, names: event.names.slice(0, NAMES_SHOWN), refusal });
      }
    }
    return all;
  }

  /** Appends all refused events to the stream again, or deletes them. @returns number of events */
  async function resolve(how: 'retry' | 'drop'): Promise<number> {
    const [count] = await scripts.values('resolve_refused_events', keys.base, { retry: how === 'retry' });
    return Number(count);
  }

  /** Stores the last delivery error; null: none. */
  async function note(problem: string | null): Promise<void> {
    if (problem === null) await redis.hdel(counts, 'problem');
    else await redis.hset(counts, 'problem', problem);
  }

  return {
    oldest,
    acknowledge,
    delivery,
    expire,
    refusals,
    resolve,
    note,
    lead,
    resign,
  };
}

/** Parses a stored event. @param id its id in the stream, which contains the time of the change unless the event was sent again */
function parseEvent(id: string, text: string): StoredEvent {
  const {
    kind,
    id: resource,
    what,
    names = [],
    txn = id,
    at = timeOf(id),
    ...rest
  } = JSON.parse(text) as {
    kind: Kind;
    id: string;
    what: EventName[];
    names?: string[];
    version?: number;
    externalId?: string;
    txn?: string;
    at?: number;
  };
  return { id, at, kind, resource, what, names, transaction: txn, ...rest };
}
