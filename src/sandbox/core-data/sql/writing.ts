// Defines the state that all SQL writers share: the scope of names, and the limits of one query.
import type { Cube } from '../model.ts';
import type { Bind } from '../statement.ts';
import { notSupported, type Node } from './syntax.ts';

/** Names that a part of a query can use, in lower case because SQL ignores case. */
export interface WritingScope {
  /** Internal name of each common table expression; it cannot collide with a name of the engine. */
  readonly ctes: ReadonlyMap<string, string>;
  /** Cubes in the FROM of this SELECT by alias; those of an outer SELECT are in `outer.cubes`. */
  readonly cubes: Map<string, Cube>;
  readonly outer: WritingScope | null;
}

export interface Writing {
  /** Returns the cube or view of that name if the client may see it. */
  readonly findCube: (name: string) => Cube | undefined;
  /** Returns the rows of a cube that the context sees, as a SELECT. */
  readonly relation: (cube: Cube) => string;
  /** Binds a value and returns its placeholder. */
  readonly bind: Bind;
  /** The sandbox's time, `2026-01-31 12:00:00.000`. */
  readonly now: string;
  readonly budget: NodeBudget;
  /** Returns a name for a common table expression that is unique in the query. */
  readonly nameCte: () => string;
  /** Writes a SELECT as SQL of the engine. */
  readonly select: (node: Node, scope: WritingScope) => string;
  /** Writes an expression as SQL of the engine. */
  readonly expression: (node: Node, scope: WritingScope) => string;
}

interface NodeBudget {
  /** Runs `write` one level deeper; refuses a query with too many levels or parts. */
  deeper: <T>(write: () => T) => T;
  /** Counts a table; refuses a query with too many tables. */
  table: () => void;
}

/** Limits of one query, which bound the work that a client can cause: nested nodes of its tree, all nodes, tables in FROM. */
const MAX_DEPTH = 100;
const MAX_PARTS = 3000;
const MAX_TABLES = 16;

export function createNodeBudget(): NodeBudget {
  let depth = 0;
  let parts = 0;
  let tables = 0;
  return {
    deeper(write) {
      depth += 1;
      parts += 1;
      if (depth > MAX_DEPTH || parts > MAX_PARTS) throw notSupported('a query this deep or this long');
      const written = write();
      depth -= 1;
      return written;
    },
    table() {
      tables += 1;
      if (tables > MAX_TABLES) throw notSupported(`a query over more than ${MAX_TABLES} tables`);
    },
  };
}

/** Quotes a text as a literal; the engine's only escape is the doubled quote. */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw notSupported('a text with a zero byte');
  return `'${text.replaceAll("'", "''")}'`;
}
