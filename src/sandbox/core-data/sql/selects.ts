// Writes SELECT and its combinations from DuckDB's syntax tree (syntax.ts) as SQL. `writeSelect` writes WITH, then a plain SELECT
// (`writePlain`) or a combination of two queries, such as UNION (`writeSetOperation`). Anything that is not written here is
// refused.
import { own } from '../../json.ts';
import { quoteName } from '../statement.ts';
import { constantCount } from './constants.ts';
import { writeOrders } from './orders.ts';
import {
  maybeAt,
  nodeAt,
  nodesAt,
  notSupported,
  requireUnused,
  textAt,
  textsAt,
  type Node,
} from './syntax.ts';
import { writeTable } from './tables.ts';
import type { WritingScope, Writing } from './writing.ts';

/** PostgreSQL's name for a column without one. */
const NAMELESS = '?column?';

/** Returns the rewritten query; throws SandboxProblem 400 for SQL that is not allowed. */
export function writeSelect(node: Node, outer: WritingScope | null, writing: Writing): string {
  return writing.budget.deeper(() => {
    // The common table expressions have a scope of their own, because they cannot name the tables of this query.
    const { sql, inner } = writeCtes(node, outer, writing);
    const scope: WritingScope = { ctes: new Map(), cubes: new Map(), outer: inner };
    switch (textAt(node, 'type')) {
      case 'SELECT_NODE':
        return `${sql}${writePlain(node, scope, writing)}`;
      case 'SET_OPERATION_NODE':
        return `${sql}${writeSetOperation(node, scope, writing)}`;
      default:
        throw notSupported('a recursive query or one of this kind');
    }
  });
}

/**
 * Rewrites WITH and returns the inner scope. A common table expression can use the ones before it, not itself. Each one is
 * materialised once: otherwise the cost of expressions that use each other grows exponentially.
 */
function writeCtes(
  node: Node,
  outer: WritingScope | null,
  writing: Writing,
): { sql: string; inner: WritingScope } {
  const entries = nodesAt(nodeAt(node, 'cte_map'), 'map');
  let inner: WritingScope = { ctes: new Map(), cubes: new Map(), outer };
  const written = entries.map((entry) => {
    const value = nodeAt(entry, 'value');
    requireUnused(value, { key_targets: 'USING KEY' });
    const name = writing.nameCte();
    const body = writing.select(nodeAt(nodeAt(value, 'query'), 'node'), inner);
    const columns = textsAt(value, 'aliases');
    inner = { ...inner, ctes: new Map([...inner.ctes, [textAt(entry, 'key').toLowerCase(), name]]) };
    const list = columns.length > 0 ? `(${columns.map(quoteName).join(', ')})` : '';
    return `${quoteName(name)}${list} AS MATERIALIZED (${body})`;
  });
  return { sql: written.length > 0 ? `WITH ${written.join(', ')} ` : '', inner };
}

function writePlain(node: Node, scope: WritingScope, writing: Writing): string {
  requireUnused(node, { sample: 'USING SAMPLE' });
  // FROM is written first: it adds to `scope.cubes` the cubes whose members the other parts may name.
  const from = nodeAt(node, 'from_table');
  const table = textAt(from, 'type') === 'EMPTY' ? '' : `FROM ${writeTable(from, scope, writing)}`;
  const condition = (name: string, word: string): string => {
    const expression = maybeAt(node, name);
    return expression ? `${word} ${writing.expression(expression, scope)}` : '';
  };
  const { distinct, tail } = writeModifiers(node, scope, writing);
  const items = nodesAt(node, 'select_list').map((item) => writeItem(item, scope, writing));
  const parts = [
    'SELECT',
    distinct,
    items.join(', '),
    table,
    condition('where_clause', 'WHERE'),
    writeGroups(node, scope, writing),
    condition('having', 'HAVING'),
    condition('qualify', 'QUALIFY'),
    tail,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function writeItem(node: Node, scope: WritingScope, writing: Writing): string {
  const kind = textAt(node, 'class');
  const sql = writing.expression(node, scope);
  const isPlain = kind === 'STAR' || kind === 'COLUMN_REF';
  const alias = textAt(node, 'alias') || (isPlain ? '' : impliedName(node));
  return alias === '' ? sql : `${sql} AS ${quoteName(alias)}`;
}

/**
 * Returns the name of a column without an alias, as PostgreSQL gives it. With an empty name the engine takes the text of the
 * expression as the name. This is allowed for constants only: another text would reveal internal tables and policies.
 */
function impliedName(node: Node): string {
  switch (textAt(node, 'class')) {
    case 'CONSTANT':
      return '';
    case 'FUNCTION':
    case 'WINDOW': {
      const name = textAt(node, 'function_name').toLowerCase();
      if (name === 'count_star') return 'count';
      if (name !== 'measure') return /^[a-z]/.test(name) ? name : NAMELESS;
      const [argument] = nodesAt(node, 'children');
      return argument ? `measure(${textsAt(argument, 'column_names').join('.')})` : NAMELESS;
    }
    case 'CAST':
      return impliedName(nodeAt(node, 'child'));
    case 'COLUMN_REF':
      return textsAt(node, 'column_names').at(-1) ?? NAMELESS;
    case 'CASE':
      return 'case';
    case 'SUBQUERY': {
      const kind = textAt(node, 'subquery_type');
      if (kind === 'SCALAR') return firstName(nodeAt(nodeAt(node, 'subquery'), 'node'));
      return kind === 'EXISTS' ? 'exists' : NAMELESS;
    }
    default:
      return textAt(node, 'type') === 'OPERATOR_COALESCE' ? 'coalesce' : NAMELESS;
  }
}

/** Returns the name of the first column of a query. */
function firstName(query: Node): string {
  if (textAt(query, 'type') === 'SET_OPERATION_NODE') return firstName(nodeAt(query, 'left'));
  const [first] = nodesAt(query, 'select_list');
  return first ? textAt(first, 'alias') || impliedName(first) : NAMELESS;
}

/** Rewrites GROUP BY with one set of expressions, or ALL. */
function writeGroups(node: Node, scope: WritingScope, writing: Writing): string {
  const groups = nodesAt(node, 'group_expressions').map((group) => writing.expression(group, scope));
  const sets = own(node, 'group_sets');
  const isOneSet = Array.isArray(sets) && (sets.length === 0 || (sets.length === 1 && groups.length > 0));
  if (!isOneSet) throw notSupported('GROUPING SETS');
  const handling = textAt(node, 'aggregate_handling');
  if (handling === 'FORCE_AGGREGATES') return 'GROUP BY ALL';
  if (handling !== 'STANDARD_HANDLING') throw notSupported('this GROUP BY');
  return groups.length === 0 ? '' : `GROUP BY ${groups.join(', ')}`;
}

interface Modifiers {
  /** DISTINCT or ''. */
  readonly distinct: string;
  /** ORDER BY, LIMIT and OFFSET; '' without them. */
  readonly tail: string;
}

function writeModifiers(node: Node, scope: WritingScope, writing: Writing): Modifiers {
  let distinct = '';
  const tail: string[] = [];
  for (const modifier of nodesAt(node, 'modifiers')) {
    switch (textAt(modifier, 'type')) {
      case 'DISTINCT_MODIFIER':
        requireUnused(modifier, { distinct_on_targets: 'DISTINCT ON' });
        distinct = 'DISTINCT';
        break;
      case 'ORDER_MODIFIER':
        tail.push(`ORDER BY ${writeOrders(modifier, scope, writing)}`);
        break;
      case 'LIMIT_MODIFIER':
        tail.push(countAt(modifier, 'limit'), countAt(modifier, 'offset'));
        break;
      default:
        throw notSupported('this end of a query');
    }
  }
  return { distinct, tail: tail.filter((part) => part !== '').join(' ') };
}

/** Returns `LIMIT 10` for the property `limit`, `OFFSET 10` for `offset`; '' without the property. */
function countAt(node: Node, name: string): string {
  const value = maybeAt(node, name);
  const count = value && constantCount(value);
  if (value && count === undefined) throw notSupported(`${name.toUpperCase()} that is not a whole number`);
  return value ? `${name.toUpperCase()} ${count}` : '';
}

function writeSetOperation(node: Node, scope: WritingScope, writing: Writing): string {
  const word = ['UNION', 'EXCEPT', 'INTERSECT'].find((keyword) => keyword === textAt(node, 'setop_type'));
  if (word === undefined) throw notSupported('this combination of queries');
  const all = own(node, 'setop_all') === true ? ' ALL' : '';
  const sides = ['left', 'right'].map((side) => `(${writing.select(nodeAt(node, side), scope)})`);
  const { distinct, tail } = writeModifiers(node, scope, writing);
  if (distinct !== '') throw notSupported('DISTINCT over a combination of queries');
  return `${sides.join(` ${word}${all} `)}${tail === '' ? '' : ` ${tail}`}`;
}
