// Handles `GET /api/v1/audit-logs/export`: the audit log as a CSV attachment, line by line (contract 4.6).
import { stringify } from 'csv-stringify/sync';
import { queryText, type Call } from '../call.ts';
import type { SandboxJsonObject } from '../json.ts';
import { hideSecrets } from '../masking.ts';
import { SandboxProblem } from '../problem.ts';
import type { AuditRecord } from '../records.ts';
import type { StreamedReply } from '../stream.ts';
import { hasPermission } from './reach.ts';

/** Header names and their order (ASSUMED-64). */
const COLUMNS = ['timestamp', 'user_email', 'event_name', 'deployment_name', 'ip_address', 'attributes'];
const DAY_MS = 86_400_000;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/i;
/** Number of events in one piece of text. A larger piece delays other requests; smaller ones cost more time in total. */
const BATCH = 100;

/** Parses a date or date-time as Unix milliseconds, UTC without a zone; undefined when it is invalid. */
function parseMoment(text: string): number | undefined {
  // A plus sign that the client did not encode arrives as a space.
  const sent = text.trim().replace(/ (\d{2}:?\d{2})$/, '+$1');
  if (!DATE.test(sent) && !DATE_TIME.test(sent)) return undefined;
  const hasZone = DATE.test(sent) || /(Z|[+-]\d{2}:?\d{2})$/i.test(sent);
  const ms = Date.parse(hasZone ? sent : `${sent}Z`);
  const day = Date.parse(sent.slice(0, 10));
  // JavaScript converts the 31st of a shorter month to the 1st of the next, so such dates are refused.
  const isReal = !Number.isNaN(day) && new Date(day).toISOString().startsWith(sent.slice(0, 10));
  return isReal && !Number.isNaN(ms) ? ms : undefined;
}

function momentOf(call: Call, name: 'start' | 'end'): number | undefined {
  const text = queryText(call, name);
  if (text === undefined || text === '') return undefined;
  const ms = parseMoment(text);
  if (ms === undefined) throw new SandboxProblem(400, `${name} must be an ISO 8601 date`);
  // An end date without a time includes that whole day (ASSUMED-65).
  return name === 'end' && DATE.test(text.trim()) ? ms + DAY_MS - 1 : ms;
}

function cellsOf(event: AuditRecord): string[] {
  const attributes = hideSecrets(event.attributes) as SandboxJsonObject;
  return [
    event.timestamp,
    event.userEmail,
    event.eventName,
    event.deploymentName,
    event.ipAddress,
    JSON.stringify(attributes),
  ];
}

/**
 * Returns the filter of rows by query parameters: `eventName` and `userEmail` must be equal, `search` must be part of a cell, in
 * any letter case (ASSUMED-66).
 */
function cellsTest(call: Call): (cells: readonly string[]) => boolean {
  // An empty parameter is no filter.
  const wanted = (name: string): string | undefined => queryText(call, name)?.toLowerCase() || undefined;
  const eventName = wanted('eventName');
  const userEmail = wanted('userEmail');
  const search = wanted('search');
  return (cells) => {
    const [_timestamp, email = '', name = ''] = cells; // in the order of COLUMNS
    if (eventName !== undefined && name.toLowerCase() !== eventName) return false;
    if (userEmail !== undefined && email.toLowerCase() !== userEmail) return false;
    return search === undefined || cells.some((cell) => cell.toLowerCase().includes(search));
  };
}

function* csvLines(
  events: readonly AuditRecord[],
  keep: (cells: readonly string[]) => boolean,
): Generator<string> {
  // `windows` ends lines with CRLF, as RFC 4180 does.
  const toCsv = (rows: readonly string[][]): string => stringify([...rows], { record_delimiter: 'windows' });
  yield toCsv([COLUMNS]);
  for (let start = 0; start < events.length; start += BATCH) {
    const rows = events
      .slice(start, start + BATCH)
      .map(cellsOf)
      .filter(keep);
    if (rows.length > 0) yield toCsv(rows);
  }
}

/** Returns the events of the range, newest first; events with equal times in reverse order of the log. */
function eventsBetween(call: Call, start: number, end: number): AuditRecord[] {
  const { auditRetentionEvents, auditRetentionDays } = call.settings;
  const oldest = auditRetentionDays === 0 ? -Infinity : call.nowMs - auditRetentionDays * DAY_MS;
  const timed = call.state.audit
    .events(auditRetentionEvents)
    .map((event, index) => ({ event, index, atMs: Date.parse(event.timestamp) }))
    .filter(({ atMs }) => atMs >= Math.max(start, oldest) && atMs <= end);
  timed.sort((left, right) => right.atMs - left.atMs || right.index - left.index);
  // The fault `truncateLists` leaves the oldest events out.
  const cut = call.fault.truncation;
  return timed.slice(0, cut ? Math.floor(timed.length * cut.keep) : undefined).map(({ event }) => event);
}

/**
 * Returns 200 with the CSV. @throws 400 for an invalid date or a start after the end, 403 without the plan, the setting or
 * the permission `AuditLogManage` (ASSUMED-67)
 */
export function exportAuditLog(call: Call): StreamedReply {
  const start = momentOf(call, 'start') ?? -Infinity;
  const end = momentOf(call, 'end') ?? Infinity;
  if (start > end) throw new SandboxProblem(400, 'start must not be after end');
  const { plan, auditLogEnabled } = call.settings;
  if (!plan.audit || !auditLogEnabled) throw new SandboxProblem(403, 'The audit log is not enabled');
  if (!hasPermission(call, call.caller.user, 'AuditLogManage')) {
    throw new SandboxProblem(403, 'The permission AuditLogManage is missing');
  }
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="audit_log.csv"',
    },
    lines: csvLines(eventsBetween(call, start, end), cellsTest(call)),
  };
}
