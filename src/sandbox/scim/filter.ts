// Evaluates list filters: `attr eq literal`, joined by `and`; other filters are `invalidFilter` (ASSUMED-29).
import { SandboxProblem } from '../problem.ts';
import type { TableRow, TableView } from '../table.ts';

/** An attribute that filters may use: `find` looks up text in lower case in an index, `test` compares a row with a boolean. */
export type Filterable<T> = { find(text: string): T[] } | { test(row: T, value: boolean): boolean };

interface Clause {
  readonly attribute: string;
  readonly literal: string | boolean;
}

const CLAUSE = /\s*([A-Za-z][\w.:]*)\s+eq\s+("(?:[^"\\]|\\.)*"|true|false)\s*/iy;
const AND = /and(?=\s)/iy;

function invalid(detail: string): SandboxProblem {
  return new SandboxProblem(400, `Filter: ${detail}`, 'invalidFilter');
}

function parseLiteral(text: string): string | boolean {
  if (!text.startsWith('"')) return text.toLowerCase() === 'true';
  try {
    return String(JSON.parse(text)).toLowerCase();
  } catch {
    // RFC 7644 literals are JSON strings; an invalid escape makes the filter invalid.
    throw invalid('a text literal is not a JSON string');
  }
}

/** Returns the clauses of a filter, attributes and text in lower case; throws 400 `invalidFilter`. */
function parseScimFilter(filter: string): Clause[] {
  const clauses: Clause[] = [];
  let position = 0;
  for (;;) {
    CLAUSE.lastIndex = position;
    const [whole, attribute, literal] = CLAUSE.exec(filter) ?? [];
    if (whole === undefined || attribute === undefined || literal === undefined) {
      throw invalid('only `attribute eq "text"` or `attribute eq true|false`, joined by and, is supported');
    }
    clauses.push({ attribute: attribute.toLowerCase(), literal: parseLiteral(literal) });
    position += whole.length;
    if (position === filter.length) return clauses;
    AND.lastIndex = position;
    if (!AND.test(filter)) throw invalid('expected and');
    position += 'and'.length;
  }
}

/**
 * Returns the matching rows in order of creation. `grammar` has the filterable attributes by name in lower case.
 * @throws 400 for an unknown attribute or a literal of another type
 */
export function findMatches<T extends TableRow>(
  filter: string,
  table: TableView<T>,
  grammar: ReadonlyMap<string, Filterable<T>>,
): T[] {
  let rows: T[] | undefined;
  for (const { attribute, literal } of parseScimFilter(filter)) {
    const filterable = grammar.get(attribute);
    if (!filterable) throw invalid(`${attribute} cannot be filtered by`);
    if ('find' in filterable) {
      if (typeof literal !== 'string') throw invalid(`${attribute} is text`);
      const found = filterable.find(literal);
      rows = rows?.filter((row) => found.includes(row)) ?? found;
    } else {
      if (typeof literal !== 'boolean') throw invalid(`${attribute} is true or false`);
      rows = (rows ?? table.rows()).filter((row) => filterable.test(row, literal));
    }
  }
  // `rows` is set: a filter has at least one clause.
  return rows ?? [];
}
