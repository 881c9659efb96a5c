// Stores the tenant's audit log in the order in which events are added. The setting `auditRetentionEvents` limits how many are
// shown (contract 4.6: 10,000). At least the last 15,000 are kept, so a larger setting has an effect up to that number.
import type { Durable } from './durable.ts';
import type { AuditRecord } from './records.ts';

const KEPT_EVENTS = 15_000;

export interface AuditLog extends Durable {
  add(event: AuditRecord): void;
  /** Returns the last `limit` events, in the order in which they were added. */
  events(limit: number): readonly AuditRecord[];
}

export function createAuditRecords(): AuditLog {
  let kept: AuditRecord[] = [];
  return {
    add(event) {
      kept.push(event);
      // Removes many events at once: removing one at a time would copy the log on every write.
      if (kept.length > 2 * KEPT_EVENTS) kept = kept.slice(-KEPT_EVENTS);
    },
    events: (limit) => kept.slice(Math.max(0, kept.length - limit)),
    dump: () => [...kept],
    restore: (entries) => {
      kept = [...(entries as AuditRecord[])];
    },
  };
}
