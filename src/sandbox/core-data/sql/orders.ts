// Writes ORDER BY of a query or a window, from DuckDB's syntax tree (syntax.ts).
import { own } from '../../json.ts';
import { nodeAt, nodesAt, notSupported, textAt, type Node } from './syntax.ts';
import type { WritingScope, Writing } from './writing.ts';

const DIRECTIONS: Readonly<Record<string, string>> = {
  ORDER_DEFAULT: '',
  ASCENDING: ' ASC',
  DESCENDING: ' DESC',
};
/** SQL by `null_order`, with a space (DuckDB) or `_`. */
const NULLS: Readonly<Record<string, string>> = {
  ORDER_DEFAULT: '',
  'NULLS FIRST': ' NULLS FIRST',
  NULLS_FIRST: ' NULLS FIRST',
  'NULLS LAST': ' NULLS LAST',
  NULLS_LAST: ' NULLS LAST',
};

function word(words: Readonly<Record<string, string>>, name: string): string {
  const found = own(words, name);
  if (found === undefined) throw notSupported('this ORDER BY');
  return found;
}

/** Returns the steps under `orders`, joined by commas. */
export function writeOrders(node: Node, scope: WritingScope, writing: Writing): string {
  return nodesAt(node, 'orders')
    .map((step) => {
      const expression = nodeAt(step, 'expression');
      if (textAt(expression, 'class') === 'STAR') throw notSupported('ORDER BY ALL');
      const direction = word(DIRECTIONS, textAt(step, 'type'));
      const nulls = word(NULLS, textAt(step, 'null_order'));
      return `${writing.expression(expression, scope)}${direction}${nulls}`;
    })
    .join(', ');
}
