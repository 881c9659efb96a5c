// Writes expressions of DuckDB's syntax tree (syntax.ts) as SQL, node by node; an unknown kind of node is refused.
import { own } from '../../json.ts';
import { quoteName } from '../statement.ts';
import { writeConstant, writeType } from './constants.ts';
import { writeFunction } from './functions.ts';
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
import { quoteText, type WritingScope, type Writing } from './writing.ts';
import { writeWindow } from './windows.ts';

type Write = (node: Node, scope: WritingScope, writing: Writing) => string;

const COMPARISONS: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: '=',
  COMPARE_NOTEQUAL: '<>',
  COMPARE_LESSTHAN: '<',
  COMPARE_GREATERTHAN: '>',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHANOREQUALTO: '>=',
  COMPARE_DISTINCT_FROM: 'IS DISTINCT FROM',
  COMPARE_NOT_DISTINCT_FROM: 'IS NOT DISTINCT FROM',
};
/** Names without parentheses that the engine would read as its own clock; they get the sandbox's time instead. */
const MOMENTS: ReadonlySet<string> = new Set(['current_timestamp', 'localtimestamp']);
/** Further names without parentheses that the engine reads as functions; they are refused. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    'current_user session_user user current_role current_catalog current_schema ' +
    'current_time localtime current_database'
  ).split(' '),
);

/** Returns the sign of the comparison in a property. @throws 400 for one that COMPARISONS does not have */
function comparison(node: Node, name: string): string {
  const sign = own(COMPARISONS, textAt(node, name));
  if (sign === undefined) throw notSupported('this comparison');
  return sign;
}

const writeColumn: Write = (node, _scope, writing) => {
  const names = textsAt(node, 'column_names');
  // A name without a table or schema in front; '' for any other column.
  const [bareName = ''] = names.length === 1 ? names.map((name) => name.toLowerCase()) : [];
  // At most schema, table and column.
  if (names.length < 1 || names.length > 3) throw notSupported('this column');
  if (MOMENTS.has(bareName)) return `CAST(${quoteText(writing.now)} AS TIMESTAMP)`;
  if (bareName === 'current_date') return `CAST(${quoteText(writing.now.slice(0, 10))} AS DATE)`;
  if (RESERVED.has(bareName)) throw notSupported(`'${bareName}'`);
  return names.map(quoteName).join('.');
};

const writeOperator: Write = (node, scope, writing) => {
  const children = nodesAt(node, 'children').map((child) => writing.expression(child, scope));
  const [first = '', ...rest] = children;
  switch (textAt(node, 'type')) {
    case 'OPERATOR_NOT':
      return `(NOT ${first})`;
    case 'OPERATOR_IS_NULL':
      return `(${first} IS NULL)`;
    case 'OPERATOR_IS_NOT_NULL':
      return `(${first} IS NOT NULL)`;
    case 'OPERATOR_COALESCE':
      return `coalesce(${children.join(', ')})`;
    case 'COMPARE_IN':
      return `(${first} IN (${rest.join(', ')}))`;
    case 'COMPARE_NOT_IN':
      return `(${first} NOT IN (${rest.join(', ')}))`;
    default:
      throw notSupported('this operator');
  }
};

const writeCase: Write = (node, scope, writing) => {
  const checks = nodesAt(node, 'case_checks').map(
    (check) =>
      `WHEN ${writing.expression(nodeAt(check, 'when_expr'), scope)} THEN ${writing.expression(nodeAt(check, 'then_expr'), scope)}`,
  );
  return `CASE ${checks.join(' ')} ELSE ${writing.expression(nodeAt(node, 'else_expr'), scope)} END`;
};

const writeCast: Write = (node, scope, writing) => {
  const word = own(node, 'try_cast') === true ? 'TRY_CAST' : 'CAST';
  return `${word}(${writing.expression(nodeAt(node, 'child'), scope)} AS ${writeType(nodeAt(node, 'cast_type'))})`;
};

const writeBetween: Write = (node, scope, writing) => {
  const at = (name: string): string => writing.expression(nodeAt(node, name), scope);
  return `(${at('input')} BETWEEN ${at('lower')} AND ${at('upper')})`;
};

const writeSubquery: Write = (node, scope, writing) => {
  const query = `(${writing.select(nodeAt(nodeAt(node, 'subquery'), 'node'), scope)})`;
  const child = maybeAt(node, 'child');
  switch (textAt(node, 'subquery_type')) {
    case 'SCALAR':
      return query;
    case 'EXISTS':
      return `EXISTS ${query}`;
    case 'NOT_EXISTS':
      return `(NOT EXISTS ${query})`;
    case 'ANY':
      if (!child) throw notSupported('this subquery');
      return `(${writing.expression(child, scope)} ${comparison(node, 'comparison_type')} ANY ${query})`;
    default:
      throw notSupported('this kind of subquery');
  }
};

const writeStar: Write = (node) => {
  requireUnused(node, {
    exclude_list: 'EXCLUDE',
    qualified_exclude_list: 'EXCLUDE',
    replace_list: 'REPLACE',
    rename_list: 'RENAME',
    columns: 'COLUMNS()',
    expr: 'COLUMNS()',
  });
  const relation = textAt(node, 'relation_name');
  return relation === '' ? '*' : `${quoteName(relation)}.*`;
};

const WRITERS: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['COLUMN_REF', writeColumn],
  ['CONSTANT', writeConstant],
  ['FUNCTION', writeFunction],
  ['OPERATOR', writeOperator],
  ['CASE', writeCase],
  ['CAST', writeCast],
  ['BETWEEN', writeBetween],
  ['SUBQUERY', writeSubquery],
  ['STAR', writeStar],
  ['WINDOW', writeWindow],
  [
    'COMPARISON',
    (node, scope, writing) =>
      `(${writing.expression(nodeAt(node, 'left'), scope)} ${comparison(node, 'type')} ${writing.expression(nodeAt(node, 'right'), scope)})`,
  ],
  [
    'CONJUNCTION',
    (node, scope, writing) => {
      const word = { CONJUNCTION_AND: 'AND', CONJUNCTION_OR: 'OR' }[textAt(node, 'type')];
      if (word === undefined) throw notSupported('this conjunction');
      return `(${nodesAt(node, 'children')
        .map((child) => writing.expression(child, scope))
        .join(` ${word} `)})`;
    },
  ],
]);

/** Returns the rewritten expression; throws SandboxProblem 400 for a kind of node that WRITERS does not have. */
export function writeExpression(node: Node, scope: WritingScope, writing: Writing): string {
  const write = WRITERS.get(textAt(node, 'class'));
  if (!write) throw notSupported(`an expression of the kind ${textAt(node, 'class').toLowerCase()}`);
  return writing.budget.deeper(() => write(node, scope, writing));
}
