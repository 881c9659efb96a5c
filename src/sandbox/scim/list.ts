// Builds SCIM list answers: 1-based pages, totals, and excluded attributes (contract 2.5).
import { queryText, type Call, type HandlerReply } from '../call.ts';
import { SandboxProblem } from '../problem.ts';
import type { SandboxSettings } from '../settings.ts';
import type { TableRow, TableView } from '../table.ts';
import { findMatches, type Filterable } from './filter.ts';
import { LIST_URN } from './urns.ts';

/** Returns a query parameter as a whole number, or `absent` without one. @throws 400 `invalidValue` */
function queryInteger(call: Call, name: string, absent: number): number {
  const text = queryText(call, name);
  if (text === undefined || text === '') return absent;
  if (!/^[-+]?\d{1,15}$/.test(text))
    throw new SandboxProblem(400, `${name} must be a whole number`, 'invalidValue');
  return Number(text);
}

/** Returns the names in `excludedAttributes`, lower case; `id` and `schemas` cannot be excluded. */
export function excludedAttributes(call: Call): ReadonlySet<string> {
  const names = (queryText(call, 'excludedAttributes') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase());
  return new Set(names.filter((name) => name !== '' && name !== 'id' && name !== 'schemas'));
}

/** Returns the resource without the excluded top-level attributes. */
export function withoutAttributes(
  resource: Readonly<Record<string, unknown>>,
  excluded: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  if (excluded.size === 0) return resource;
  return Object.fromEntries(Object.entries(resource).filter(([name]) => !excluded.has(name.toLowerCase())));
}

/** Returns the row with that SCIM id, in the configured id style (ASSUMED-48). */
export function findByScimId<T extends TableRow>(
  table: TableView<T>,
  settings: SandboxSettings,
  id: string,
): T | undefined {
  if (settings.scimIdStyle === 'uuid') return table.find('uuid', id)[0];
  return /^[1-9]\d{0,14}$/.test(id) ? table.get(Number(id)) : undefined;
}

/** Returns the filter on `id`; the configured id style decides which property it compares. */
export function filterById<T extends TableRow & { readonly uuid: string }>(
  call: Call,
  table: TableView<T>,
): Filterable<T> {
  return {
    kind: 'text',
    find: (id) => {
      const row = findByScimId(table, call.settings, id);
      return row ? [row] : [];
    },
    test: (row, id) => findByScimId(table, call.settings, id) === row,
  };
}

/** Returns the `ListResponse` of the rows that match the query; throws 400 `invalidFilter` or `invalidValue`. */
export function answerList<T extends TableRow>(
  call: Call,
  table: TableView<T>,
  grammar: ReadonlyMap<string, Filterable<T>>,
  show: (row: T) => unknown,
): HandlerReply {
  const startIndex = Math.max(1, queryInteger(call, 'startIndex', 1));
  const asked = Math.max(0, queryInteger(call, 'count', call.settings.pageDefault));
  const end = startIndex - 1 + Math.min(asked, call.settings.pageCap);
  const filter = queryText(call, 'filter');
  const matches = filter === undefined ? table.rows() : findMatches(filter, table, grammar);
  const rows = matches.slice(startIndex - 1, end);
  const cut = call.fault.truncation;
  const page = cut ? rows.slice(0, Math.floor(rows.length * cut.keep)) : rows;
  const isShortened = cut?.mode === 'total' && page.length < rows.length;
  return {
    status: 200,
    body: {
      schemas: [LIST_URN],
      totalResults: isShortened ? startIndex - 1 + page.length : matches.length,
      startIndex,
      itemsPerPage: page.length,
      Resources: page.map(show),
    },
  };
}
