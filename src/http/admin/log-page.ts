// Defines how the admin API reads a log: span, cursor and page size, and the fields of a check of its hash chain.
import { isPublicId } from '../../ops/newest-first.ts';
import { Problem } from './problem.ts';
import type { JsonSchema, Parameter } from './route.ts';
import { integerField, textField } from './schema-fields.ts';

export interface SpanQuery {
  since?: string;
  until?: string;
  before?: string;
  limit?: number;
}

const DEFAULT_LIMIT = 100;
const MOST = 10_000;
/** Largest page in bytes: an entry may list a hundred members or long values. */
const MOST_BYTES = 4 * 1024 * 1024;
const dateTime = { ...textField, format: 'date-time' };

export const spanFields = {
  since: { ...dateTime, description: 'From then on.' },
  until: { ...dateTime, description: 'Until then.' },
  before: {
    ...textField,
    description: 'Only entries behind this one: the id of the last entry of the page before.',
  },
  limit: {
    ...integerField,
    minimum: 1,
    maximum: MOST,
    default: DEFAULT_LIMIT,
    description:
      'Most entries; fewer where they would be more than 4 MB: then ask for those before the last one.',
  },
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

/** @throws Problem 400 for a malformed date or cursor */
export function spanOf({ since, until, before }: SpanQuery) {
  if (before !== undefined && !isPublicId(before))
    throw new Problem(400, 'before: give the id of an entry as it was returned.');
  return { since: moment('since', since), until: moment('until', until), before };
}

/** Reads one page, bounded in entries and bytes. */
export async function page<Entry>(
  entries: AsyncIterable<Entry>,
  limit: number = DEFAULT_LIMIT,
): Promise<Entry[]> {
  const found: Entry[] = [];
  let bytes = 0;
  for await (const entry of entries) {
    bytes += JSON.stringify(entry).length;
    // A page has at least one entry, so that paging makes progress.
    if (found.length >= limit || (found.length > 0 && bytes > MOST_BYTES)) break;
    found.push(entry);
  }
  return found;
}

function moment(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const at = Date.parse(given);
  if (Number.isNaN(at)) throw new Problem(400, `${name}: write a date such as 2027-01-31T08:00:00Z.`);
  return at;
}
