// Writes window functions of DuckDB's syntax tree (syntax.ts): ranking and aggregates over partitions, with the default frame only.
import { AGGREGATES } from './functions.ts';
import { writeOrders } from './orders.ts';
import { nodesAt, notSupported, requireUnused, textAt, type Node } from './syntax.ts';
import type { WritingScope, Writing } from './writing.ts';

const RANKINGS: ReadonlySet<string> = new Set([
  'row_number',
  'rank',
  'dense_rank',
  'percent_rank',
  'cume_dist',
]);

/** Properties of a window that the sandbox refuses. */
const UNSUPPORTED =
  'schema catalog start_expr end_expr offset_expr default_expr ignore_nulls filter_expr distinct arg_orders'.split(
    ' ',
  );

/** Rewrites `rank() OVER (...)`; frames, offsets and similar are refused. */
export function writeWindow(node: Node, scope: WritingScope, writing: Writing): string {
  const name = textAt(node, 'function_name').toLowerCase();
  // Smallest and largest number of arguments. For an unknown function no number fits [1, 0], so the function is refused.
  const [least, most] = RANKINGS.has(name) ? [0, 0] : (AGGREGATES.get(name) ?? [1, 0]);
  const children = nodesAt(node, 'children');
  if (children.length < least || children.length > most)
    throw notSupported(`'${name.slice(0, 60)}' as a window`);
  const isUsualFrame =
    textAt(node, 'start') === 'UNBOUNDED_PRECEDING' &&
    textAt(node, 'end') === 'CURRENT_ROW_RANGE' &&
    textAt(node, 'exclude_clause') === 'NO_OTHER';
  if (!isUsualFrame) throw notSupported('a window frame');
  requireUnused(node, Object.fromEntries(UNSUPPORTED.map((property) => [property, 'this window'])));
  // Count is the only aggregate without argument; `count(*)` is `count_star` in the syntax tree.
  const call =
    children.length === 0 && !RANKINGS.has(name)
      ? 'count(*)'
      : `${name}(${children.map((child) => writing.expression(child, scope)).join(', ')})`;
  const partitions = nodesAt(node, 'partitions').map((partition) => writing.expression(partition, scope));
  const orders = writeOrders(node, scope, writing);
  const parts = [
    partitions.length > 0 ? `PARTITION BY ${partitions.join(', ')}` : '',
    orders === '' ? '' : `ORDER BY ${orders}`,
  ];
  return `${call} OVER (${parts.filter((part) => part !== '').join(' ')})`;
}
