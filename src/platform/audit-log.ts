// Reads the audit log from its CSV export, row by row (contract 4.6).
import { isRecord, parseJson } from './readers.ts';
import { csvRows } from './csv.ts';
import type { CallOptions } from './request.ts';
import type { OpenAnswer, OpenStream } from './streams.ts';

export interface AuditFilter {
  /** ISO 8601 date or date-time; both ends are inclusive. */
  start?: string;
  end?: string;
  /** Text to find anywhere in the data of an event. */
  search?: string;
  eventName?: string;
  userEmail?: string;
}

/** One event. A text is empty when the table has no such column. */
export interface AuditRow {
  timestamp: string;
  userEmail: string;
  eventName: string;
  deploymentName: string;
  ipAddress: string;
  /** Data of the event; empty when the cell does not hold a JSON object. */
  attributes: Record<string, unknown>;
  /** All cells by the header names of the platform. */
  cells: ReadonlyMap<string, string>;
}

/** Returns the letters of a header in lower case: the contract does not fix the spelling (contract 4.6). */
const lettersOf = (header: string): string => header.toLowerCase().replace(/[^a-z]/g, '');

function toRow(headers: string[], cells: string[]): AuditRow {
  const byName = new Map(headers.map((header, index) => [lettersOf(header), cells[index] ?? '']));
  const cell = (name: string): string => byName.get(name) ?? '';
  const attributes = parseJson(cell('attributes'))?.value;
  return {
    timestamp: cell('timestamp'),
    userEmail: cell('useremail'),
    eventName: cell('eventname'),
    deploymentName: cell('deploymentname'),
    ipAddress: cell('ipaddress'),
    attributes: isRecord(attributes) ? attributes : {},
    cells: new Map(headers.map((header, index) => [header, cells[index] ?? ''])),
  };
}

/** Yields the rows of the table, whose first row has the header names. */
async function* readRows(answer: OpenAnswer): AsyncGenerator<AuditRow, void, undefined> {
  let headers: string[] | undefined;
  for await (const cells of csvRows(answer.text, (reason) => answer.refuse(reason))) {
    if (headers) {
      if (cells.length !== headers.length) throw answer.refuse('a row whose length differs from the header');
      yield toRow(headers, cells);
      continue;
    }
    headers = cells;
    if (!headers.some((header) => lettersOf(header) === 'eventname')) {
      throw answer.refuse('a table without event names');
    }
  }
  if (!headers) throw answer.refuse('a table without a header row');
}

export type PlatformAuditLog = ReturnType<typeof createAuditLog>;

/** Reads the audit log over `stream`; throws PlatformError (errors.ts), also after some rows. */
export function createAuditLog(stream: OpenStream) {
  return {
    /** Yields rows, newest first. Throws PlatformResponse 403 when the audit log is off or the permission is missing. */
    export: (filter: AuditFilter = {}, options?: CallOptions) =>
      stream(
        {
          family: 'rest',
          method: 'GET',
          route: '/api/v1/audit-logs/export',
          accept: 'text/csv',
          query: { ...filter },
          read: readRows,
        },
        options,
      ),
  };
}
