// Lists security events that the receiver refused, sends them again or drops them, and says what follows from lost ones.
import type { Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { EventDelivery, EventName } from '../directory/logs/event-stream.ts';
import { counted } from '../support/counted.ts';
import { isoTime } from '../support/sources.ts';

interface RefusedEvent {
  connection: string;
  /** Id of the event in its stream; the token's jti is `<connection>.<id>`. */
  id: string;
  /** RFC 3339: when the change was stored. */
  at: string;
  /** Resource key, for example `User:3f…`. */
  resource: string;
  /** Version of the resource after the change. */
  version?: number;
  /** Kinds of event, and names of the changed attributes. */
  what: EventName[];
  names: string[];
  /** Error code and explanation of the receiver (RFC 8935 §2.4). */
  err: string;
  description: string;
}

/** Lists refused events of all connections, including those without receiver. */
export async function listRefusedEvents(states: readonly DesiredState[]): Promise<RefusedEvent[]> {
  const found: RefusedEvent[] = [];
  for (const { connection, events } of states) {
    for (const { id, at, kind, resource, version, what, names, refusal } of await events.refusals()) {
      found.push({
        connection,
        id,
        at: isoTime(at),
        resource: `${kind}:${resource}`,
        ...(version === undefined ? {} : { version }),
        what,
        names,
        ...refusal,
      });
    }
  }
  return found;
}

/** Sends all refused events again after the pending ones, or deletes them. @returns number of events */
export async function resolveRefusedEvents(
  states: readonly DesiredState[],
  how: 'retry' | 'drop',
  actor: Actor,
): Promise<number> {
  let total = 0;
  for (const { events, acts } of states) {
    // `kept`: number of refused events that wait for an operator.
    const { kept: count } = await events.delivery();
    if (count === 0) continue;
    await acts.record({ act: how === 'retry' ? 'retryEvents' : 'dropEvents', ...actor, count });
    total += await events.resolve(how);
  }
  return total;
}

/** Advice about dropped events, without a full stop. */
export const AFTER_DROPPED =
  'the receiver has to read all users and groups anew (GET /Users, GET /Groups), unless it has since';

/** Returns that events were deleted before delivery, without advice and full stop; undefined: none was. */
export const droppedEventsText = ({
  dropped,
  droppedAt,
}: Pick<EventDelivery, 'dropped' | 'droppedAt'>): string | undefined =>
  dropped === 0
    ? undefined
    : `${counted(dropped, 'event was', 'events were')} dropped before delivery${droppedAt === null ? '' : `, the last at ${isoTime(droppedAt)}`}`;
