// Collects the column names in DuckDB's syntax tree (syntax.ts) of a query, for the access policies of the members that it
// evaluates.

interface NamesOfSql {
  /** Lower-case parts of all column references. */
  readonly names: ReadonlySet<string>;
  /** The query has a star, which stands for all columns. */
  readonly isAll: boolean;
  /** The query has `count(*)`. */
  readonly countsRows: boolean;
}

/** Returns the names in the parser's tree (JSON text); text that is no JSON is refused where it is rewritten. */
export function namesIn(parsed: string): NamesOfSql {
  const names = new Set<string>();
  let isAll = false;
  let countsRows = false;
  // JSON.parse calls this function for every property of the tree.
  const visit = (key: string, value: unknown): unknown => {
    if ((key === 'column_names' || key === 'using_columns') && Array.isArray(value))
      for (const name of value) names.add(String(name).toLowerCase());
    if (key === 'function_name' && value === 'count_star') countsRows = true;
    if (key === 'class' && value === 'STAR') isAll = true;
    return value;
  };
  try {
    JSON.parse(parsed, visit);
  } catch {
    isAll = true;
  }
  return { names, isAll, countsRows };
}
