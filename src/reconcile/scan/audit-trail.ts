// Reads the platform's audit log, which names who changed a value (compare/attribution.ts), if the tenant has one and the key may
// read it.
import { createAuditLog } from '../../platform/audit-log.ts';
import { toTransportOptions, type PlatformClientOptions } from '../../platform/connect.ts';
import { PlatformError } from '../../platform/errors.ts';
import { createStreams } from '../../platform/streams.ts';
import type { AuditEvent, AuditTrail } from '../compare/attribution.ts';
import { isoTime } from '../../support/sources.ts';

/** Largest number of entries that are read; the platform keeps fewer (contract 4.6). */
const MOST_EVENTS = 20_000;
/** Longest pause within the export, milliseconds; after a longer one the log counts as unreadable. */
const IDLE_MS = 120_000;

/** Returns the audit log since a time in Unix milliseconds; undefined if it cannot be read. */
export type ReadTrail = (since: number, signal: AbortSignal) => Promise<AuditTrail | undefined>;

/**
 * Returns a function that reads the audit log of a target.
 * @param whoWeAre returns the name of the account that owns the API key, by which the bridge's own entries are recognised
 */
export function createTrailReader(
  options: PlatformClientOptions,
  whoWeAre: (signal: AbortSignal) => Promise<string | undefined>,
): ReadTrail {
  return async (since, signal) => {
    const streams = createStreams({ ...toTransportOptions(options), idleTimeoutMs: IDLE_MS });
    try {
      const ourselves = await whoWeAre(signal);
      const events: AuditEvent[] = [];
      // The export takes a date, such as 2026-01-31, without a time.
      const start = isoTime(since).slice(0, 10);
      for await (const row of createAuditLog(streams.stream).export({ start }, { signal })) {
        const at = Date.parse(row.timestamp);
        // The export is newest first.
        if (at < since || events.length >= MOST_EVENTS) break;
        const details = JSON.stringify(row.attributes);
        events.push({ at, actor: row.userEmail, event: row.eventName, details });
      }
      return { events, ourselves };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof PlatformError) return undefined;
      throw error;
    } finally {
      await streams.close();
    }
  };
}
