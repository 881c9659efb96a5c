// Stores the tenant's audit log, newest event last; the oldest events are removed (contract 4.6: 10,000
// events).
import type { Durable } from './durable.ts';
import type { AuditRecord } from './records.ts';

export interface AuditLog extends Durable {
  add(event: AuditRecord): void;
  /** Returns at most `limit` events, oldest first. */
  events(limit: number): readonly AuditRecord[];
}

export function createAuditRecords(): AuditLog {
  let kept: AuditRecord[] = [];
  return {
    add(event) {
      kept.push(event);
      // Removed in large steps: removing one event at a time would copy the log on every write.
      if (kept.length > 30_000) kept = kept.slice(-15_000);
    },
    events: (limit) => kept.slice(Math.max(0, kept.length - limit)),
    dump: () => [...kept],
    restore: (entries) => {
      kept = [...(entries as AuditRecord[])];
    },
  };
}
