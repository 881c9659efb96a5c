// Writes the FROM of a client's query from DuckDB's syntax tree (syntax.ts): a cube becomes a SELECT of the rows that the client
// may see. Names of fields and kinds are DuckDB's; an absent text is ''.
import { own } from '../../json.ts';
import { quoteName } from '../statement.ts';
import { userError } from '../members.ts';
import { maybeAt, nodeAt, notSupported, requireUnused, textAt, textsAt, type Node } from './syntax.ts';
import type { WritingScope, Writing } from './writing.ts';

/** SQL of each `join_type` of the tree; OUTER is a full join. */
const JOINS: Readonly<Record<string, string>> = {
  INNER: 'JOIN',
  LEFT: 'LEFT JOIN',
  RIGHT: 'RIGHT JOIN',
  OUTER: 'FULL JOIN',
  FULL: 'FULL JOIN',
};

/** Returns the SQL under an alias, whose columns are renamed if `columns` has names; '' = no alias. */
function named(sql: string, alias: string, columns: readonly string[]): string {
  if (alias === '') return sql;
  return `${sql} AS ${quoteName(alias)}${columns.length > 0 ? `(${columns.map(quoteName).join(', ')})` : ''}`;
}

/** Returns the engine's name of the nearest common table expression with that name. */
function cteOf(scope: WritingScope, name: string): string | undefined {
  return scope.ctes.get(name) ?? (scope.outer ? cteOf(scope.outer, name) : undefined);
}

/** Writes a name in FROM: a common table expression of the query, else a cube that the client may see. */
function writeBaseTable(node: Node, scope: WritingScope, writing: Writing): string {
  requireUnused(node, {
    sample: 'TABLESAMPLE',
    at_clause: 'AT',
    catalog_name: 'a catalog in front of a table',
  });
  const schema = textAt(node, 'schema_name').toLowerCase();
  const tableName = textAt(node, 'table_name');
  const name = tableName.toLowerCase();
  const columns = textsAt(node, 'column_name_alias');
  const alias = textAt(node, 'alias') || tableName;
  // Throws when the query has too many tables.
  writing.budget.table();
  const cte = schema === '' ? cteOf(scope, name) : undefined;
  // The internal name is written in place of the client's one, which the engine could read as one of its own tables.
  if (cte !== undefined) return named(quoteName(cte), alias, columns);
  const cube = schema === '' || schema === 'public' ? writing.findCube(name) : undefined;
  if (!cube) throw userError(`SQL error: Table or CTE with name '${tableName.slice(0, 100)}' not found`);
  // A cube with renamed columns is left out of the scope, because the names of its measures are not valid then.
  if (columns.length === 0) scope.cubes.set(alias.toLowerCase(), cube);
  return named(`(${writing.relation(cube)})`, alias, columns);
}

function writeJoin(node: Node, scope: WritingScope, writing: Writing): string {
  requireUnused(node, { sample: 'TABLESAMPLE', duplicate_eliminated_columns: 'this join' });
  // The sides come before the condition, because writing them adds the cubes that the condition may name.
  const sides = [nodeAt(node, 'left'), nodeAt(node, 'right')].map((side) => writeTable(side, scope, writing));
  const [left = '', right = ''] = sides;
  const kind = textAt(node, 'ref_type');
  if (kind === 'CROSS') return `(${left} CROSS JOIN ${right})`;
  const word = own(JOINS, textAt(node, 'join_type'));
  if (kind !== 'REGULAR' || word === undefined) throw notSupported('this kind of join');
  const columns = textsAt(node, 'using_columns');
  const condition = maybeAt(node, 'condition');
  if (columns.length > 0) return `(${left} ${word} ${right} USING (${columns.map(quoteName).join(', ')}))`;
  if (!condition) throw notSupported('a join without a condition');
  return `(${left} ${word} ${right} ON ${writing.expression(condition, scope)})`;
}

/** Writes a part of FROM and adds its cubes to the scope. @throws SandboxProblem 400 */
export function writeTable(node: Node, scope: WritingScope, writing: Writing): string {
  return writing.budget.deeper(() => {
    switch (textAt(node, 'type')) {
      case 'BASE_TABLE':
        return writeBaseTable(node, scope, writing);
      case 'JOIN':
        return writeJoin(node, scope, writing);
      case 'SUBQUERY': {
        requireUnused(node, { sample: 'TABLESAMPLE' });
        const query = `(${writing.select(nodeAt(nodeAt(node, 'subquery'), 'node'), scope)})`;
        return named(query, textAt(node, 'alias'), textsAt(node, 'column_name_alias'));
      }
      default:
        throw notSupported('this kind of table');
    }
  });
}
