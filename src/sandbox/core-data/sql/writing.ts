// What all writers of SQL share: the scope of names, and the bounds on how much one query may ask for.
import type { Cube } from '../model.ts';
import type { Bind } from '../relation.ts';
import { notSupported, type Node } from './syntax.ts';

/** Names that a part of a query can use; all in lower case, as SQL compares them. */
export interface Scope {
  /** The name that the engine knows a common table expression by; it is ours, so it can mean nothing else. */
  readonly ctes: ReadonlyMap<string, string>;
  /** Cubes in the FROM of this SELECT by alias; the outer SELECT's are further out. */
  readonly cubes: Map<string, Cube>;
  readonly outer: Scope | null;
}

export interface Writing {
  /** The cube or view of that name if the client may know it. */
  readonly findCube: (name: string) => Cube | undefined;
  /** The rows of a cube that the context sees, as a SELECT. */
  readonly relation: (cube: Cube) => string;
  readonly bind: Bind;
  /** The sandbox's moment, `2026-01-31 12:00:00.000`. */
  readonly now: string;
  readonly budget: Budget;
  /** A name for a common table expression that no other of the query has. */
  readonly nameCte: () => string;
  readonly select: (node: Node, scope: Scope) => string;
  readonly expression: (node: Node, scope: Scope) => string;
}

export interface Budget {
  /** Runs `write` one level deeper; refuses what is nested too deeply or has too many parts. */
  deeper: <T>(write: () => T) => T;
  /** Counts a table; refuses too many. */
  table: () => void;
}

const MAX_DEPTH = 100;
const MAX_PARTS = 3000;
const MAX_TABLES = 16;

export function createBudget(): Budget {
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

/** A text as a literal of the engine, which knows no escapes but the doubled quote. */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw notSupported('a text with a zero byte');
  return `'${text.replaceAll("'", "''")}'`;
}
