// Lists the functions that a client's SQL may call. Other functions of the engine (DuckDB), such as access to files and settings,
// are refused.
import { own } from '../../json.ts';
import type { Cube } from '../model.ts';
import { aggregateSql } from '../load-sql.ts';
import { quoteName } from '../statement.ts';
import { constantText } from './constants.ts';
import {
  nodesAt,
  notSupported,
  requireUnused,
  textAt,
  textsAt,
  maybeAt,
  nodeAt,
  type Node,
} from './syntax.ts';
import { quoteText, type WritingScope, type Writing } from './writing.ts';

/** Smallest and largest number of arguments. */
type Arity = readonly [least: number, most: number];

const withArity = (least: number, most: number, names: string): [string, Arity][] =>
  names.split(' ').map((name) => [name, [least, most]]);

/** Allowed functions of single values. Their time is linear in their input, and none lengthens a text. */
const SCALARS: ReadonlyMap<string, Arity> = new Map<string, Arity>([
  ...withArity(1, 1, 'lower upper length abs floor ceil ceiling sqrt exp ln sign'),
  ...withArity(1, 2, 'trim ltrim rtrim round trunc log'),
  ...withArity(2, 3, 'substring substr'),
  ...withArity(2, 2, 'left right position strpos contains starts_with ends_with prefix suffix'),
  ...withArity(2, 2, 'nullif mod power pow date_trunc date_part'),
  ...withArity(1, 20, 'greatest least'),
  ...withArity(1, 1, 'year quarter month week day hour minute second dayofweek dayofyear'),
  ...withArity(3, 3, 'date_diff datediff'),
  ...withArity(1, 1, 'to_years to_months to_weeks to_days to_hours to_minutes to_seconds'),
]);
const OPERATORS: ReadonlyMap<string, Arity> = new Map<string, Arity>([
  ...withArity(1, 2, '+ -'),
  ...withArity(2, 2, '* / // %'),
]);
export const AGGREGATES: ReadonlyMap<string, Arity> = new Map<string, Arity>([
  ...withArity(0, 1, 'count'),
  ...withArity(0, 0, 'count_star'),
  ...withArity(1, 1, 'sum avg min max median bool_and bool_or'),
  ...withArity(1, 1, 'stddev stddev_pop stddev_samp variance var_pop var_samp approx_count_distinct'),
]);
/** Functions of the present time; they get the sandbox's time. */
const NOW = new Set(['now', 'current_timestamp', 'get_current_timestamp', 'transaction_timestamp']);
/**
 * LIKE and similar operators, with the options of the regular expression that replaces each. With `s` a dot matches
 * line breaks; with `i` case is ignored.
 */
const LIKE: ReadonlyMap<string, readonly [isNegated: boolean, options: string]> = new Map([
  ['~~', [false, 's']],
  ['!~~', [true, 's']],
  ['~~*', [false, 'si']],
  ['!~~*', [true, 'si']],
]);
/** Longest pattern of LIKE in characters. */
const MAX_PATTERN = 200;
/** Largest number of texts that `||` or `concat` joins. */
const MAX_ARGUMENTS = 20;
/** Joined texts are cut to this length, so that a query that joins a text to itself again and again stays bounded. */
const MAX_JOINED = 1000;

/**
 * Converts a LIKE pattern to a regular expression. The engine's LIKE backtracks on hostile patterns and cannot
 * be interrupted within a value; its regular expressions take linear time.
 */
function toRegularExpression(pattern: string): string {
  const parts = pattern.match(/\\[^]|[^]/gu) ?? [];
  const written = parts.map((part) => {
    if (part === '%') return '.*';
    if (part === '_') return '.';
    const plain = part.length > 1 && part.startsWith('\\') ? part.slice(1) : part;
    // ASCII punctuation is escaped.
    return /^[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]$/.test(plain) ? `\\${plain}` : plain;
  });
  return `^${written.join('')}$`;
}

function writeLike(name: string, node: Node, scope: WritingScope, writing: Writing): string {
  const [isNegated, options] = LIKE.get(name) ?? [false, 's'];
  const [subject, pattern] = nodesAt(node, 'children');
  const text = pattern && constantText(pattern);
  if (!subject || text === undefined || text.length > MAX_PATTERN) {
    throw notSupported(`LIKE with anything but a text of up to ${MAX_PATTERN} characters`);
  }
  const match = `regexp_full_match(${writing.expression(subject, scope)}, ${quoteText(toRegularExpression(text))}, '${options}')`;
  return isNegated ? `(NOT ${match})` : match;
}

function writeJoined(children: readonly string[], name: string): string {
  if (children.length === 0 || children.length > MAX_ARGUMENTS) throw notSupported('this number of texts');
  const joined = name === '||' ? children.join(' || ') : `concat(${children.join(', ')})`;
  return `left(CAST((${joined}) AS VARCHAR), ${MAX_JOINED})`;
}

/** Returns the cube in scope with a measure of that name; `alias` restricts the search to one cube. @throws 400 for two cubes */
function cubeOfMeasure(scope: WritingScope, alias: string | undefined, measure: string): Cube | undefined {
  for (let here: WritingScope | null = scope; here; here = here.outer) {
    const candidates = alias === undefined ? [...here.cubes.values()] : [here.cubes.get(alias)];
    const found = candidates.filter((cube) => cube?.measures.some(({ name }) => name === measure));
    if (found.length > 1) throw notSupported(`the ambiguous measure ${measure}`);
    if (found[0]) return found[0];
  }
  return undefined;
}

/** Rewrites `MEASURE(orders.count)` to the aggregation that the model defines. */
function writeMeasure(node: Node, scope: WritingScope): string {
  const [argument, ...rest] = nodesAt(node, 'children');
  const names =
    argument && textAt(argument, 'class') === 'COLUMN_REF' ? textsAt(argument, 'column_names') : [];
  const [measureName, alias] = [...names].reverse().map((name) => name.toLowerCase());
  if (measureName === undefined || names.length > 2 || rest.length > 0) {
    throw notSupported('MEASURE() of anything but a measure');
  }
  const cube = cubeOfMeasure(scope, alias, measureName);
  const measure = cube?.measures.find(({ name }) => name === measureName);
  if (!measure)
    throw notSupported(`MEASURE() of '${names.join('.').slice(0, 100)}', which is no measure in FROM`);
  return aggregateSql(measure, names.map(quoteName).join('.'));
}

function requireArity(name: string, count: number, [least, most]: Arity): void {
  if (count < least || count > most) throw notSupported(`${name} with ${count} arguments`);
}

function writeAggregate(name: string, node: Node, scope: WritingScope, writing: Writing): string {
  const children = nodesAt(node, 'children').map((child) => writing.expression(child, scope));
  const distinct = own(node, 'distinct') === true ? 'DISTINCT ' : '';
  const filter = maybeAt(node, 'filter');
  const filtered = filter ? ` FILTER (WHERE ${writing.expression(filter, scope)})` : '';
  if (name === 'count_star' || children.length === 0) return `count(*)${filtered}`;
  return `${name}(${distinct}${children.join(', ')})${filtered}`;
}

/** Rewrites a call of a function or operator that this file allows. @throws 400 for any other one */
export function writeFunction(node: Node, scope: WritingScope, writing: Writing): string {
  const name = textAt(node, 'function_name').toLowerCase();
  const schema = textAt(node, 'schema');
  // The parser itself adds the schema `main` to `extract`, `substring` and similar; any other one comes from the client.
  if (schema !== '' && schema !== 'main') throw notSupported('a schema in front of a function');
  requireUnused(node, { catalog: 'a catalog in front of a function', export_state: 'EXPORT_STATE' });
  if (nodesAt(nodeAt(node, 'order_bys'), 'orders').length > 0)
    throw notSupported('ORDER BY inside a function');
  const aggregate = AGGREGATES.get(name);
  const children = nodesAt(node, 'children');
  if (aggregate) {
    requireArity(name, children.length, aggregate);
    return writeAggregate(name, node, scope, writing);
  }
  requireUnused(node, { filter: 'FILTER on this function', distinct: 'DISTINCT in this function' });
  if (name === 'measure') return writeMeasure(node, scope);
  if (LIKE.has(name)) return writeLike(name, node, scope, writing);
  if (NOW.has(name)) return `CAST(${quoteText(writing.now)} AS TIMESTAMP)`;
  const written = children.map((child) => writing.expression(child, scope));
  if (name === '||' || name === 'concat') return writeJoined(written, name);
  const operator = OPERATORS.get(name);
  if (operator) {
    requireArity(name, written.length, operator);
    return written.length === 1 ? `(${name} ${written.join('')})` : `(${written.join(` ${name} `)})`;
  }
  const scalar = SCALARS.get(name);
  if (!scalar) throw notSupported(`the function '${name.slice(0, 60)}'`);
  requireArity(name, written.length, scalar);
  return `${name}(${written.join(', ')})`;
}
