// Defines how the admin API reads a log: the routes that search and export it, with time range, cursor and page size, and
// the fields of a check of its hash chain.
import { isPublicId, type SearchStep } from '../../ops/log/newest-first.ts';
import { parseDate } from '../../support/dates.ts';
import type { Clock } from '../../support/sources.ts';
import { EXPORT_MOST_ENTRIES, EXPORT_TYPES, type ExportFormat } from './log-export.ts';
import { Problem } from './problem.ts';
import {
  getRoute,
  json,
  postRoute,
  type AdminAnswer,
  type AdminRoute,
  type JsonAnswer,
  type JsonSchema,
} from './route.ts';
import { body, dateTime, integerField, limitField, nullable, textField, toQuery } from './schema-fields.ts';

/** Time range, cursor and page size, as `spanFields` describes them. */
export interface SpanQuery {
  since?: string;
  until?: string;
  before?: string;
  limit?: number;
}

export interface ExportQuery extends SpanQuery {
  format: ExportFormat;
}

const DEFAULT_LIMIT = 100;
const MOST_ENTRIES = 10_000;
/** Largest page in bytes; an entry may list a hundred members or long values. */
const MOST_BYTES = 4 * 1024 * 1024;
/**
 * Time after which a page of a search ends, in milliseconds, because a search for rare entries reads many others. With this
 * limit a request takes less than 300 ms.
 */
const SEARCH_MS = 150;
/** Header of the cursor: the next page is requested with its value as `before`. */
const NEXT_BEFORE = 'X-Next-Before';

export const pageHeaders = {
  [NEXT_BEFORE]:
    'There may be older entries that match: repeat the request with this value as `before`. Absent: there are none.',
};

const spanFields = {
  since: { ...dateTime, description: 'Only entries from this time on.' },
  until: { ...dateTime, description: 'Only entries up to this time.' },
  before: {
    ...textField,
    description:
      'Only older entries than this place: X-Next-Before of the previous page, or the id of its last entry.',
  },
  limit: limitField(
    MOST_ENTRIES,
    'Largest number of entries. A page has fewer, or none, when they would exceed 4 MB or the search takes long: see X-Next-Before.',
    DEFAULT_LIMIT,
  ),
};

const exportFields = {
  ...spanFields,
  format: {
    enum: Object.keys(EXPORT_TYPES),
    description:
      'CSV with a header row, or one JSON object on each line. In CSV, an apostrophe stands before what a spreadsheet program could take for a formula.',
  },
  limit: limitField(EXPORT_MOST_ENTRIES, 'Largest number of entries; fewer when they would exceed 64 MB.'),
};
const exportAnswers = {
  description:
    'Newest first. When older entries are left out, a last line says so: `{"more":true,"before":"…"}`, or in CSV a sentence in the first cell.',
  contentType: Object.values(EXPORT_TYPES),
  schema: textField,
};

/**
 * Schemas of the result of a hash chain check: number of entries, and the id of the first entry that does not fit (null: all fit;
 * `the end`: the last entries are missing).
 */
export const chainCheckFields = {
  entries: integerField,
  forgotten: { ...integerField, description: 'Entries whose personal data was removed by an order.' },
  broken: nullable('string'),
};

interface ReadableLog<Query extends SpanQuery> {
  /** Path of the search below /admin/v1. */
  path: string;
  /** operationIds of the four routes. */
  ids: Record<'search' | 'searchByBody' | 'export' | 'exportByBody', string>;
  /** Command of the CLI that reads the log. */
  command: string;
  /** Command of the CLI that exports the log. */
  exportCommand?: string;
  summary: string;
  exportSummary: string;
  /** Fields that select entries, besides the time range. */
  filters: Record<string, JsonSchema & { description: string }>;
  answers: AdminRoute['answers'];
  refuses: Record<number, string>;
  read: (query: Query) => Promise<AdminAnswer>;
  exported: (query: Query & ExportQuery, signal: AbortSignal) => AdminAnswer | Promise<AdminAnswer>;
}

const BY_BODY = 'The same as GET, with the filters in the body, because addresses may be logged.';

/**
 * Returns the routes that search and export a log. Each exists twice: as GET with the filters in the address, and as POST
 * with the filters in the body. POST is for filters that name a person, because proxies may store addresses.
 */
export function readingRoutes<Query extends SpanQuery>(log: ReadableLog<Query>): AdminRoute[] {
  const { path, ids, command, answers, refuses } = log;
  const fields = { ...log.filters, ...spanFields };
  const exportedFields = { ...log.filters, ...exportFields };
  const search = { command, answers, refuses };
  const exportRoute = {
    ...(log.exportCommand === undefined ? {} : { command: log.exportCommand }),
    answers: exportAnswers,
    refuses,
  };
  return [
    getRoute<Query>(path, ids.search, {
      ...search,
      summary: log.summary,
      query: toQuery(fields),
      handle: ({ query }) => log.read(query),
    }),
    postRoute<Query>(`${path}/search`, ids.searchByBody, {
      ...search,
      right: 'read',
      summary: BY_BODY,
      body: body(fields),
      bodyOptional: true,
      handle: (call) => log.read(call.body),
    }),
    getRoute<Query & ExportQuery>(`${path}/export`, ids.export, {
      ...exportRoute,
      summary: log.exportSummary,
      query: toQuery(exportedFields, ['format']),
      handle: ({ query, signal }) => log.exported(query, signal),
    }),
    postRoute<Query & ExportQuery>(`${path}/export`, ids.exportByBody, {
      ...exportRoute,
      right: 'read',
      summary: BY_BODY,
      body: body(exportedFields, ['format']),
      handle: (call) => log.exported(call.body, call.signal),
    }),
  ];
}

/** Returns the time range in Unix milliseconds, and the cursor. @throws Problem 400 for a malformed value, or an empty range */
export function spanOf({ since, until, before }: SpanQuery) {
  if (before !== undefined && !isPublicId(before))
    throw new Problem(400, 'before: give the id of an entry as it was returned.');
  const span = { since: toUnixMs('since', since), until: toUnixMs('until', until), before };
  if ((span.since ?? -Infinity) > (span.until ?? Infinity))
    throw new Problem(400, 'since is later than until: nothing lies between them.');
  return span;
}

/** Reads one page of a search, limited in entries, bytes and time, and returns it with the cursor of the next page. */
export async function page<Found, Entry>(
  { clock }: { clock: Clock },
  steps: AsyncIterable<SearchStep<Found>>,
  toEntry: (found: Found) => Entry,
  limit: number = DEFAULT_LIMIT,
): Promise<JsonAnswer> {
  const end = clock.now() + SEARCH_MS;
  const found: Entry[] = [];
  // Place of the last entry or step that was read: the cursor of the next page.
  let last = '';
  let bytes = 0;
  for await (const { place, entry } of steps) {
    if (entry) {
      const one = toEntry(entry);
      bytes += Buffer.byteLength(JSON.stringify(one));
      // A page has at least one entry, so that paging makes progress.
      if (found.length >= limit || (found.length > 0 && bytes > MOST_BYTES)) return withNext(found, last);
      found.push(one);
    }
    last = place;
    // A step without entry only tells how far the search has come.
    if (!entry && clock.now() >= end) return withNext(found, last);
  }
  return json(found);
}

const withNext = (found: unknown, place: string): JsonAnswer => json(found, 200, { [NEXT_BEFORE]: place });

/** Returns a date as Unix milliseconds, undefined without one. @param name field for the message @throws Problem 400 */
function toUnixMs(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const at = parseDate(given);
  if (at === undefined) throw new Problem(400, `${name}: write a date such as 2027-01-31T08:00:00Z.`);
  // Redis does not accept times before 1970, and no entry is that old.
  return Math.max(0, at);
}
