// Builds measures of a model: aggregates over rows, over rows that a join repeats, and calculated ones.
import { aggregateSql } from '../load-sql.ts';
import type { AggType, Measure } from '../model.ts';
import { sqlOf, type CubeSource, type MeasureSource } from './cube-source.ts';

/**
 * `sql`: value that each row contributes. `aggregate`: expression over a column of these values. `single`: value of one row of
 * that column, for ungrouped queries.
 */
type Calculation = Pick<Measure, 'sql'> & Required<Pick<Measure, 'aggregate' | 'single'>>;
/** Returns an SQL expression over a column. */
type OverColumn = (column: string) => string;

const part = (column: string, name: string): string => `struct_extract(${column}, '${name}')`;

function plain(aggType: AggType, sql: string): Calculation {
  const aggregate = (column: string): string => aggregateSql({ aggType }, column);
  return { sql, aggregate, single: (column) => column };
}

/**
 * Returns the calculation over a joined cube. The join repeats rows, so each key (`k`) counts its value (`v`) once; rows that
 * the join leaves without a key do not count.
 */
function keyed(aggType: AggType, sql: string, key: string): Calculation {
  const value: OverColumn = (column) => part(column, 'v');
  const once: OverColumn = (column) => `list_transform(list(DISTINCT ${column}), one -> one.v)`;
  const aggregate: OverColumn = (column) => {
    if (aggType === 'count')
      return `count(DISTINCT CASE WHEN ${value(column)} IS NOT NULL THEN ${part(column, 'k')} END)`;
    if (aggType === 'sum' || aggType === 'avg') return `list_${aggType}(${once(column)})`;
    // Repeated rows do not change min, max or a distinct count.
    return aggregateSql({ aggType }, value(column));
  };
  return {
    sql: `CASE WHEN ${key} IS NOT NULL THEN struct_pack(k := ${key}, v := ${sql}) END`,
    aggregate,
    single: value,
  };
}

const REFERENCE = /\{(?:CUBE\.)?([A-Za-z_]\w*)\}/g;
/** Deepest nesting of formulas; a deeper one is a formula that refers to itself. */
const MAX_DEPTH = 10;

/**
 * Returns the calculation of a measure that is a formula of other measures. Each row contributes one struct with the values of
 * these measures. In the formula each name is replaced by the calculation of that measure over its part of the struct.
 */
function calculated(
  source: MeasureSource,
  build: (source: MeasureSource) => Calculation,
  measures: readonly MeasureSource[],
): Calculation {
  const { node, template } = source;
  const names = [...new Set([...template.matchAll(REFERENCE)].map(([, name]) => name ?? ''))];
  const parts = names.flatMap((name) => {
    const found = measures.find((measure) => measure.name === name);
    return found ? [[name, build(found)] as const] : [];
  });
  if (parts.length === 0 || parts.length < names.length || /[{}]/.test(template.replace(REFERENCE, ''))) {
    node.fail(
      'a measure of type number is a formula of measures of the same cube, such as {sum} / {count}',
      'sql',
    );
    // A valid measure takes the place of the faulty one, so that other faults of the model are found too.
    return plain('count', 'NULL');
  }
  const byName = new Map(parts);
  const formula =
    (value: (calculation: Calculation) => OverColumn): OverColumn =>
    (column) =>
      template.replace(REFERENCE, (_all, name: string) => {
        const calculation = byName.get(name);
        return calculation ? `(${value(calculation)(part(column, name))})` : 'NULL';
      });
  return {
    sql: `struct_pack(${parts.map(([name, { sql }]) => `${name} := ${sql}`).join(', ')})`,
    aggregate: formula(({ aggregate }) => aggregate),
    single: formula(({ single }) => single),
  };
}

/**
 * Returns the measure of `source`.
 * @param key SQL of the cube's key; set where a join repeats or leaves out rows of the cube
 */
export function buildMeasure(
  source: MeasureSource,
  cube: CubeSource,
  cubes: ReadonlyMap<string, CubeSource>,
  key?: string,
): Measure {
  const build = (one: MeasureSource, depth: number): Calculation => {
    if (depth > MAX_DEPTH) one.node.fail('the measure refers to itself', 'sql');
    if (one.aggType === 'number' && depth <= MAX_DEPTH)
      return calculated(one, (inner) => build(inner, depth + 1), cube.measures);
    const sql = sqlOf(one, cube, cubes);
    return key === undefined ? plain(one.aggType, sql) : keyed(one.aggType, sql, key);
  };
  const { aggType, name, title, description } = source;
  const shared = { name, title, aggType, ...(description === undefined ? {} : { description }) };
  const { sql, aggregate, single } = build(source, 0);
  return key === undefined && aggType !== 'number'
    ? { ...shared, sql }
    : { ...shared, sql, aggregate, single };
}
