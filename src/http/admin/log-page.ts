// Defines how the admin API reads a log: span, cursor, page size and export, and the fields of a check of its hash chain.
import { isPublicId, type SearchStep } from '../../ops/newest-first.ts';
import type { Clock } from '../../support/sources.ts';
import { EXPORT_MOST_ENTRIES, EXPORT_TYPES, type ExportFormat } from './log-export.ts';
import { Problem } from './problem.ts';
import { json, type JsonAnswer, type JsonSchema, type Parameter } from './route.ts';
import { integerField, textField } from './schema-fields.ts';

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
const MOST = 10_000;
/** Largest page in bytes: an entry may list a hundred members or long values. */
const MOST_BYTES = 4 * 1024 * 1024;
/**
 * A search for rare entries reads many others, so a page ends after this time, milliseconds. With the request itself it stays
 * below 300 ms.
 */
const SEARCH_MS = 150;
const NEXT_BEFORE = 'X-Next-Before';
const dateTime = { ...textField, format: 'date-time' };

/** Headers of a page. */
export const pageHeaders = {
  [NEXT_BEFORE]:
    'There may be older entries that match: repeat the request with this value as `before`. Absent: there are none.',
};

export const spanFields = {
  since: { ...dateTime, description: 'From then on.' },
  until: { ...dateTime, description: 'Until then.' },
  before: {
    ...textField,
    description:
      'Only entries behind this place: X-Next-Before of the page before, or the id of its last entry.',
  },
  limit: {
    ...integerField,
    minimum: 1,
    maximum: MOST,
    default: DEFAULT_LIMIT,
    description:
      'Most entries; fewer, or none, where they would be more than 4 MB or the search takes long: see X-Next-Before.',
  },
};

export const exportFields = {
  ...spanFields,
  format: { enum: Object.keys(EXPORT_TYPES), description: 'CSV with a header, or one JSON object a line.' },
  limit: {
    ...integerField,
    ...{ minimum: 1, maximum: EXPORT_MOST_ENTRIES, default: EXPORT_MOST_ENTRIES },
    description: 'Most entries; fewer where they would be more than 64 MB.',
  },
};
export const exportAnswers = {
  status: 200,
  description:
    'Newest first. Where older entries are left out, a last line says so: `{"more":true,"before":"…"}`, or a row with that sentence in its first cell.',
  contentType: Object.values(EXPORT_TYPES),
  schema: textField,
};

/** Fields of the check of a hash chain. */
export const checked = {
  entries: integerField,
  forgotten: { ...integerField, description: 'Entries whose personal data was removed by an order.' },
  broken: { type: ['string', 'null'] },
};

export const toQuery = (
  fields: Record<string, JsonSchema & { description: string }>,
): Record<string, Parameter> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, { description: schema.description, schema }]),
  );

/** Returns the parameters with one of them required. */
export const requiring = (name: string, query: Record<string, Parameter>): Record<string, Parameter> =>
  Object.fromEntries(
    Object.entries(query).map(([each, parameter]) => [
      each,
      each === name ? { ...parameter, required: true } : parameter,
    ]),
  );

/** @throws Problem 400 for a malformed date or cursor */
export function spanOf({ since, until, before }: SpanQuery) {
  if (before !== undefined && !isPublicId(before))
    throw new Problem(400, 'before: give the id of an entry as it was returned.');
  return { since: moment('since', since), until: moment('until', until), before };
}

/** Reads one page of a search, bounded in entries, bytes and time. */
export async function page<Found, Entry>(
  { clock }: { clock: Clock },
  steps: AsyncIterable<SearchStep<Found>>,
  toEntry: (found: Found) => Entry,
  limit: number = DEFAULT_LIMIT,
): Promise<JsonAnswer> {
  const end = clock.now() + SEARCH_MS;
  const found: Entry[] = [];
  let last: string | undefined;
  let bytes = 0;
  for await (const { place, entry } of steps) {
    if (entry) {
      const one = toEntry(entry);
      bytes += JSON.stringify(one).length;
      // A page has at least one entry, so that paging makes progress.
      if (found.length >= limit || (found.length > 0 && bytes > MOST_BYTES)) return withNext(found, last);
      found.push(one);
    }
    last = place;
    if (!entry && clock.now() >= end) return withNext(found, last);
  }
  return json(found);
}

const withNext = (found: unknown, place: string | undefined): JsonAnswer =>
  json(found, 200, place === undefined ? {} : { [NEXT_BEFORE]: place });

function moment(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const at = Date.parse(given);
  if (Number.isNaN(at)) throw new Problem(400, `${name}: write a date such as 2027-01-31T08:00:00Z.`);
  // Redis does not accept times before 1970, and no entry is that old.
  return Math.max(0, at);
}
