// Runs a client's SQL over the model: parses it with the engine's parser, rewrites it so that it reads only rows that
// the security context may see, and streams the result (contract 5.2).
import { SandboxProblem } from '../problem.ts';
import type { SqlPart, SqlQuery } from './documents.ts';
import type { CoreDataSecurityContext } from './security-context.ts';
import { isTimezone } from './time-zone.ts';
import type { Bounds, Engine } from './engine.ts';
import { userError } from './members.ts';
import type { Cube, Model, QualifiedTableName } from './model.ts';
import { namedInSql } from './policy.ts';
import { relationSql } from './relation.ts';
import { evaluatedNames, rowAccessOf } from './row-access.ts';
import { rewrite } from './sql/rewrite.ts';
import { namesIn } from './sql/names.ts';
import { MAX_SQL_LENGTH, PARSE_SQL } from './sql/syntax.ts';
import type { Statement } from './statement.ts';

/** Number of rows in one line of the stream. */
const ROWS_PER_PART = 100;

/** Surroundings of a query: the engine with its limits, the model, the rights, and the sandbox's time. */
interface SqlSetting {
  readonly engine: Engine;
  readonly model: Model;
  readonly context: CoreDataSecurityContext;
  readonly tableName: QualifiedTableName;
  readonly nowMs: number;
  readonly bounds: Bounds;
  /** Number of rows after which the stream fails (an injected fault); null = no failure. */
  readonly failAfterRows: number | null;
}

/** Returns the syntax tree of a query as JSON text. @throws SandboxProblem 400 */
async function parse(engine: Engine, query: string, bounds: Bounds): Promise<string> {
  if (query.length > MAX_SQL_LENGTH) {
    throw userError(`SQL error: the query is longer than ${MAX_SQL_LENGTH} characters`);
  }
  const { rows, failure } = await engine.query({ sql: PARSE_SQL, values: [query] }, bounds);
  // One row with one cell; no row for a query that cannot be read.
  const text = rows[0]?.[0];
  if (typeof text !== 'string') throw userError(`SQL error: ${failure ?? 'the query cannot be read'}`);
  return text;
}

/** Returns the statement to run; throws SandboxProblem 400 for SQL that is not allowed. */
async function translate({ query, timezone = 'UTC' }: SqlQuery, setting: SqlSetting): Promise<Statement> {
  if (!isTimezone(timezone)) throw userError('timezone must be the name of a zone');
  const { engine, model, context, tableName, nowMs, bounds } = setting;
  const cubes = model.cubes
    .map((cube) => namedInSql(cube, context))
    .filter(
      ({ measures, dimensions, segments }) => measures.length + dimensions.length + segments.length > 0,
    );
  const parsed = await parse(engine, query, bounds);
  const { names, isAll, countsRows } = namesIn(parsed);
  /**
   * Returns the members of a cube, as `cube.member`, that the query may evaluate: those that it names; all of them if the query
   * has a star or names none of this cube. Names are compared without the cube: a member too many can only hide rows, because the
   * caller sees the rows that all evaluated members have in common (policy.ts).
   */
  const evaluated = (cube: Cube): string[] => {
    const all = [...cube.measures, ...cube.dimensions, ...cube.segments];
    const counts = countsRows ? cube.measures.filter(({ aggType }) => aggType === 'count') : [];
    const named = [...counts, ...all.filter(({ name }) => names.has(name.toLowerCase()))];
    const members = isAll || named.length === 0 ? all : named;
    return evaluatedNames(members.map((member) => ({ cube, member, name: `${cube.name}.${member.name}` })));
  };
  return rewrite(parsed, {
    findCube: (name) => cubes.find((cube) => cube.isPublic && cube.name === name),
    relation: (cube, bind) =>
      relationSql([cube], {
        tableName,
        timezone,
        bind,
        access: rowAccessOf(evaluated(cube), {
          context,
          setting: { model, nowMs, timezone },
          // Only for error texts: they number the filters of policies behind those of a JSON query, and SQL has none.
          filterCount: 0,
        }),
        // The client's SQL names a column by its member, without the cube.
        columnOf: (_cube, member) => member,
      }),
    // As the engine reads a time: `2026-01-31 12:00:00.000`.
    now: new Date(nowMs).toISOString().slice(0, -1).replace('T', ' '),
  });
}

/** Yields the schema, then the rows in parts; then throws a failure, if there was one. */
export async function* runSql(query: SqlQuery, setting: SqlSetting): AsyncGenerator<SqlPart> {
  const statement = await translate(query, setting);
  const { columns, rows, failure } = await setting.engine.query(statement, setting.bounds);
  yield { kind: 'schema', columns };
  const { failAfterRows } = setting;
  const breaks = failAfterRows !== null && failAfterRows <= rows.length;
  const sent = breaks ? rows.slice(0, failAfterRows) : rows;
  for (let start = 0; start < sent.length; start += ROWS_PER_PART) {
    yield { kind: 'rows', rows: sent.slice(start, start + ROWS_PER_PART) };
  }
  if (breaks) throw new SandboxProblem(500, 'Injected fault in the middle of the rows');
  if (failure !== null) throw userError(failure);
}
