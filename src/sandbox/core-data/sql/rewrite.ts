// Rewrites a client's SQL from its syntax tree (syntax.ts). The result contains no text of the client except quoted literals and
// names, so it reads no rows but those that the client may see.
import type { Cube } from '../model.ts';
import type { Statement } from '../statement.ts';
import { writeExpression } from './expressions.ts';
import { writeSelect } from './selects.ts';
import { queryOf } from './syntax.ts';
import { createNodeBudget, type Writing } from './writing.ts';

interface Rewriting {
  readonly findCube: Writing['findCube'];
  /** Returns SQL that selects the rows of the cube which the security context allows; `bind` makes a parameter of each value. */
  readonly relation: (cube: Cube, bind: Writing['bind']) => string;
  /** The sandbox's time, `2026-01-31 12:00:00.000`. */
  readonly now: string;
}

/** Returns the statement for the parser's tree (JSON text); throws SandboxProblem 400 for SQL that is not allowed. */
export function rewrite(parsed: string, { findCube, relation, now }: Rewriting): Statement {
  const values: string[] = [];
  const bind: Writing['bind'] = (value) => {
    values.push(value);
    return `$${values.length}`;
  };
  let cteCount = 0;
  const writing: Writing = {
    findCube,
    relation: (cube) => relation(cube, bind),
    bind,
    now,
    budget: createNodeBudget(),
    nameCte: () => {
      cteCount += 1;
      return `cte_${cteCount}`;
    },
    select: (node, scope) => writeSelect(node, scope, writing),
    expression: (node, scope) => writeExpression(node, scope, writing),
  };
  return { sql: writeSelect(queryOf(parsed), null, writing), values };
}
