// Reads the syntax tree that DuckDB makes of a client's SQL (PARSE_SQL, which a caller runs); runs no statement and reads no table.
// Names of fields and kinds are DuckDB's.
import { isJsonObject, own, type SandboxJsonObject } from '../../json.ts';
import { userError } from '../members.ts';

/** A node of DuckDB's syntax tree. */
export type Node = SandboxJsonObject;

/** Longest SQL text in characters; it bounds the cost of parsing. */
export const MAX_SQL_LENGTH = 20_000;

/** Statement that returns the tree of the text in `$1` as JSON. */
export const PARSE_SQL = 'SELECT json_serialize_sql(CAST($1 AS VARCHAR))';

export function notSupported(what: string): Error {
  return userError(`SQL error: ${what} is not supported`);
}

const unknownForm = (name: string): Error => notSupported(`this form of ${name.replaceAll('_', ' ')}`);

/** Returns a property that is a node. */
export function nodeAt(node: Node, name: string): Node {
  const value = own(node, name);
  if (!isJsonObject(value)) throw unknownForm(name);
  return value;
}

/** Returns a property that is a node, or null. */
export function maybeAt(node: Node, name: string): Node | null {
  return (own(node, name) ?? null) === null ? null : nodeAt(node, name);
}

/** Returns a property that is a list of values of one kind; `absent` stands for a missing one. */
function listAt<T>(node: Node, name: string, is: (value: unknown) => value is T, absent: unknown): T[] {
  const value = own(node, name) ?? absent;
  if (!Array.isArray(value) || !value.every(is)) throw unknownForm(name);
  return value;
}
const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns a property that is a list of nodes; refuses a missing one. */
export const nodesAt = (node: Node, name: string): Node[] => listAt(node, name, isJsonObject, undefined);
/** Returns a property that is a list of texts; empty without one. */
export const textsAt = (node: Node, name: string): string[] => listAt(node, name, isText, []);

/** Returns a property that is a text; empty without one. */
export function textAt(node: Node, name: string): string {
  const value = own(node, name) ?? '';
  if (!isText(value)) throw unknownForm(name);
  return value;
}

/**
 * Refuses a node that uses a property without support; null, false, empty text and an empty list count as unused.
 * @param unsupported words for the refusal, by the name of the property
 */
export function requireUnused(node: Node, unsupported: Readonly<Record<string, string>>): void {
  for (const [name, what] of Object.entries(unsupported)) {
    const value = own(node, name) ?? null;
    const isUnused =
      value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0);
    if (!isUnused) throw notSupported(what);
  }
}

/** Parses the tree. @throws 400 for a number that is too large: the engine writes it as `Infinity`, which is not JSON */
function treeOf(parsed: string): unknown {
  try {
    return JSON.parse(parsed);
  } catch {
    throw notSupported('a number of this size');
  }
}

/**
 * Returns the single query of the parser's answer; throws SandboxProblem 400 for syntax errors, other statements and
 * several statements.
 */
export function queryOf(parsed: string): Node {
  const tree = treeOf(parsed);
  if (!isJsonObject(tree)) throw userError('SQL error: nothing to run');
  if (own(tree, 'error') === true) {
    const isSyntaxError = own(tree, 'error_type') === 'parser';
    if (!isSyntaxError) throw userError('SQL error: only SELECT statements can be run');
    throw userError(`SQL error: ${textAt(tree, 'error_message')}`);
  }
  const statements = nodesAt(tree, 'statements');
  const [statement] = statements;
  if (!statement || statements.length > 1) throw userError('SQL error: exactly one statement can be run');
  requireUnused(statement, { named_param_map: 'a parameter' });
  return nodeAt(statement, 'node');
}
