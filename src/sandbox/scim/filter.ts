// Evaluates list filters: `attr eq literal`, joined by `and`; other filters are `invalidFilter` (ASSUMED-29).
import { SandboxProblem } from '../problem.ts';
import type { TableRow, TableView } from '../table.ts';

/** An attribute that filters may use: `find` uses an index, `test` compares one row. Text is passed in lower case. */
export type Filterable<T> =
  | { kind: 'text'; find(text: string): T[]; test(row: T, text: string): boolean }
  | { kind: 'boolean'; test(row: T, value: boolean): boolean };

export interface Clause {
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

/** A clause with its attribute; `find` is undefined when no index exists. */
type Bound<T> = { find: (() => T[]) | undefined; test: (row: T) => boolean };

/** Returns the clause with its attribute. @throws 400 for an unknown attribute or a literal of another type */
function bind<T>(clause: Clause, grammar: ReadonlyMap<string, Filterable<T>>): Bound<T> {
  const target = grammar.get(clause.attribute);
  if (!target) throw invalid(`${clause.attribute} cannot be filtered by`);
  const { literal } = clause;
  if (target.kind === 'boolean') {
    if (typeof literal !== 'boolean') throw invalid(`${clause.attribute} is true or false`);
    return { find: undefined, test: (row) => target.test(row, literal) };
  }
  if (typeof literal !== 'string') throw invalid(`${clause.attribute} is text`);
  return { find: () => target.find(literal), test: (row) => target.test(row, literal) };
}

/** Returns the matching rows in order of creation, from an index when a clause has one. @throws 400 */
export function findMatches<T extends TableRow>(
  filter: string,
  table: TableView<T>,
  grammar: ReadonlyMap<string, Filterable<T>>,
): T[] {
  const bound = parseScimFilter(filter).map((clause) => bind(clause, grammar));
  const indexed = bound.find((clause) => clause.find)?.find;
  const candidates = indexed ? indexed() : table.rows();
  return candidates.filter((row) => bound.every((clause) => clause.test(row)));
}
