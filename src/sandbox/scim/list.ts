// Finds SCIM resources, and builds answers with one resource or a page of a list (contract 2.5).
import { pathText, queryText, type Call, type HandlerReply } from '../call.ts';
import type { SandboxJsonObject } from '../json.ts';
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
function withoutAttributes(resource: SandboxJsonObject, excluded: ReadonlySet<string>): SandboxJsonObject {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => !excluded.has(name.toLowerCase())));
}

/** A resource with its address in `meta`. */
export type ScimResource = SandboxJsonObject & {
  readonly meta: SandboxJsonObject & { readonly location: string };
};

/** Returns the answer with one resource; with status 201 its header `Location` has the address of the resource. */
export function resourceReply(call: Call, status: 200 | 201, resource: ScimResource): HandlerReply {
  const body = withoutAttributes(resource, excludedAttributes(call));
  return status === 201 ? { status, body, headers: { Location: resource.meta.location } } : { status, body };
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

/** Returns the row that the path names by its SCIM id. @throws 404 */
export function requireResource<T extends TableRow>(
  call: Call,
  table: TableView<T>,
  type: 'User' | 'Group',
): T {
  const id = pathText(call, 'id');
  const row = findByScimId(table, call.settings, id);
  if (!row) throw new SandboxProblem(404, `${type} ${id} not found`);
  return row;
}

/** Returns the filters on `id` and on attributes with an index: `indexes` has the name of the index by attribute. */
export function textFilters<T extends TableRow>(
  call: Call,
  table: TableView<T>,
  indexes: Readonly<Record<string, string>>,
): [attribute: string, Filterable<T>][] {
  const find = (id: string): T[] => {
    const row = findByScimId(table, call.settings, id);
    return row ? [row] : [];
  };
  const byIndex = Object.entries(indexes).map(([attribute, index]): [string, Filterable<T>] => [
    attribute,
    { find: (text) => table.find(index, text) },
  ]);
  return [['id', { find }], ...byIndex];
}

/** Returns the `ListResponse` of the rows that match the query; throws 400 `invalidFilter` or `invalidValue`. */
export function answerList<T extends TableRow>(
  call: Call,
  table: TableView<T>,
  filters: readonly (readonly [attribute: string, Filterable<T>])[],
  show: (row: T, excluded: ReadonlySet<string>) => SandboxJsonObject,
): HandlerReply {
  const startIndex = Math.max(1, queryInteger(call, 'startIndex', 1));
  const asked = Math.max(0, queryInteger(call, 'count', call.settings.pageDefault));
  const end = startIndex - 1 + Math.min(asked, call.settings.pageCap);
  const filter = queryText(call, 'filter');
  const excluded = excludedAttributes(call);
  const matches = filter === undefined ? table.rows() : findMatches(filter, table, new Map(filters));
  const rows = matches.slice(startIndex - 1, end);
  // The fault `truncateLists` leaves rows out; in the mode `total` the total hides that.
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
      Resources: page.map((row) => withoutAttributes(show(row, excluded), excluded)),
    },
  };
}
