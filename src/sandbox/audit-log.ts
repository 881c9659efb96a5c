// The tenant's audit log: newest last, the oldest events fall out (contract 4.6: 10,000 events).
import type { Durable } from './durable.ts';
import type { AuditEvent } from './records.ts';

export interface AuditLog extends Durable {
  add(event: AuditEvent): void;
  /** At most `limit` events, oldest first. */
  events(limit: number): readonly AuditEvent[];
}

export function createAuditLog(): AuditLog {
  let kept: AuditEvent[] = [];
  return {
    add(event) {
      kept.push(event);
      // Cut in large steps: dropping one event at a time would copy the log on every write.
      if (kept.length > 30_000) kept = kept.slice(-15_000);
    },
    events: (limit) => kept.slice(Math.max(0, kept.length - limit)),
    dump: () => [...kept],
    restore: (entries) => {
      kept = [...(entries as AuditEvent[])];
    },
  };
}
