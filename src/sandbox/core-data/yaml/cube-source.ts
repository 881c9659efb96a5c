// Reads cubes of Cube's YAML (`readCube`): table, joins, and members (measures, dimensions, segments) with their SQL templates. A
// node is one mapping of the file. After a reported fault any valid value takes the place of the faulty one, so that one reading
// finds all faults; the model is refused then.
import { granularityFault } from '../granularity.ts';
import { own } from '../../json.ts';
import type { AggType, CustomGranularity, Segment } from '../model.ts';
import type { MemberType } from '../documents.ts';
import { isPublicIn, nameOf, requireKeys, memberTitle, type KEYS } from './entry-properties.ts';
import type { SourceNode } from './model-source.ts';
import { expandSql, type TemplateCube } from './sql-templates.ts';

interface MemberSource {
  readonly node: SourceNode;
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly isPublic: boolean;
  /** SQL template per row; of a measure of type `number` the formula over other measures. */
  readonly template: string;
}

export interface MeasureSource extends MemberSource {
  readonly aggType: AggType;
  /** Whether the measure counts rows and so evaluates the primary key. */
  readonly countsKeys: boolean;
}

export interface DimensionSource extends MemberSource {
  readonly type: MemberType;
  readonly isKey: boolean;
  readonly granularities: readonly CustomGranularity[];
}

export interface JoinSource {
  readonly node: SourceNode;
  /** Name of the joined cube. */
  readonly to: string;
  /** Whether the join repeats rows of the first cube. */
  readonly multiplies: boolean;
  readonly template: string;
}

export interface CubeSource extends TemplateCube {
  readonly node: SourceNode;
  readonly title: string;
  readonly isPublic: boolean;
  /** Name of the table, or undefined for a cube over `sql`. */
  readonly table: string | undefined;
  readonly sql: string | undefined;
  readonly joins: readonly JoinSource[];
  readonly measures: readonly MeasureSource[];
  readonly dimensions: readonly DimensionSource[];
  readonly segments: readonly (Segment & { readonly node: SourceNode; readonly isPublic: boolean })[];
}

/** Aggregation by `type` of a measure, in both spellings of Cube. */
const AGGREGATES: Readonly<Record<string, AggType>> = {
  count: 'count',
  sum: 'sum',
  avg: 'avg',
  min: 'min',
  max: 'max',
  number: 'number',
  count_distinct: 'countDistinct',
  count_distinct_approx: 'countDistinct',
  countDistinct: 'countDistinct',
  countDistinctApprox: 'countDistinct',
};
const TYPES: readonly MemberType[] = ['string', 'number', 'time', 'boolean'];
/** Whether a join of each relationship repeats rows of the first cube. */
const RELATIONSHIPS: Readonly<Record<string, boolean>> = {
  many_to_one: false,
  one_to_one: false,
  belongs_to: false,
  has_one: false,
  one_to_many: true,
  has_many: true,
};

/** Returns the source of a cube; faults are reported at its nodes. */
export function readCube(node: SourceNode): CubeSource {
  requireKeys(node, 'cube');
  const name = nameOf(node);
  const table = node.text('sql_table');
  const sql = node.text('sql');
  if ((table === undefined) === (sql === undefined))
    node.fail('a cube has either "sql_table" or "sql"', 'name');
  const measures = listOf(node, 'measures', 'measure', readMeasure);
  const dimensions = listOf(node, 'dimensions', 'dimension', readDimension);
  const segments = listOf(node, 'segments', 'segment', (segment) => ({
    ...shared(segment, nameOf(segment)),
    sql: required(segment, 'sql'),
    isPublic: isPublicIn(segment),
  }));
  const all = [...measures, ...dimensions, ...segments];
  for (const [at, member] of all.entries())
    if (all.findIndex((other) => other.name === member.name) < at)
      member.node.fail(`the name "${member.name}" is used twice`, 'name');
  return {
    node,
    name,
    table,
    sql,
    measures,
    dimensions,
    segments,
    title: memberTitle(node, name),
    isPublic: isPublicIn(node),
    joins: listOf(node, 'joins', 'join', readJoin),
    members: new Map([...measures, ...dimensions].map((member) => [member.name, member.template])),
  };
}

function readMeasure(node: SourceNode): MeasureSource {
  const name = nameOf(node);
  const type = required(node, 'type');
  const aggType = own(AGGREGATES, type);
  if (!aggType) node.fail(`measures of type "${type}" are not supported`, 'type');
  const value = aggType === 'count' ? (node.text('sql') ?? '1') : required(node, 'sql');
  const filters = listOf(node, 'filters', 'filter', (filter) => `(${required(filter, 'sql')})`);
  // A column alone is expanded only as a whole template; inside an expression it needs `{CUBE}`.
  const part = /^[A-Za-z_]\w*$/.test(value.trim()) ? `{CUBE}.${value.trim()}` : value;
  const template = filters.length > 0 ? `CASE WHEN ${filters.join(' AND ')} THEN ${part} END` : value;
  return {
    ...shared(node, name),
    aggType: aggType ?? 'count',
    isPublic: isPublicIn(node),
    countsKeys: aggType === 'count' && node.text('sql') === undefined,
    template,
  };
}

function readDimension(node: SourceNode): DimensionSource {
  const name = nameOf(node);
  const type = TYPES.find((known) => known === node.values['type']);
  if (!type) node.fail(`a dimension is of type ${TYPES.join(', ')}`, 'type');
  const isKey = node.flag('primary_key');
  const granularities = listOf(node, 'granularities', 'granularity', readGranularity);
  if (granularities.length > 0 && type !== 'time')
    node.fail('only a dimension of type time has granularities', 'granularities');
  return {
    ...shared(node, name),
    type: type ?? 'string',
    isKey,
    granularities,
    isPublic: isPublicIn(node, !isKey),
    template: caseTemplate(node) ?? required(node, 'sql'),
  };
}

/** Returns the SQL template of the property `case`, or undefined without it. */
function caseTemplate(node: SourceNode): string | undefined {
  const choice = node.node('case');
  if (!choice) return undefined;
  const label = (entry: SourceNode): string => `'${required(entry, 'label').replaceAll("'", "''")}'`;
  const parts = choice.nodes('when').map((entry) => `WHEN ${required(entry, 'sql')} THEN ${label(entry)}`);
  const other = choice.node('else');
  return `CASE ${parts.join(' ')} ELSE ${other ? label(other) : 'NULL'} END`;
}

function readGranularity(node: SourceNode): CustomGranularity {
  const name = nameOf(node);
  const text = (key: 'offset' | 'origin') => {
    const value = node.text(key);
    return value === undefined ? {} : { [key]: value };
  };
  const custom = {
    name,
    title: memberTitle(node, name),
    interval: required(node, 'interval'),
    ...text('offset'),
    ...text('origin'),
  };
  const fault = granularityFault(custom);
  if (fault !== undefined) node.fail(fault, 'interval');
  return custom;
}

function readJoin(node: SourceNode): JoinSource {
  const relationship = required(node, 'relationship');
  const multiplies = own(RELATIONSHIPS, relationship);
  if (multiplies === undefined)
    node.fail(`"relationship" is one of ${Object.keys(RELATIONSHIPS).join(', ')}`, 'relationship');
  return { node, to: nameOf(node), multiplies: multiplies ?? false, template: required(node, 'sql') };
}

function listOf<T>(
  cube: SourceNode,
  name: string,
  kind: keyof typeof KEYS,
  read: (node: SourceNode) => T,
): T[] {
  return cube.nodes(name).map((node) => {
    requireKeys(node, kind);
    return read(node);
  });
}

/** Returns a text property; reports a missing one and returns `NULL` in its place, so that reading goes on. */
function required(node: SourceNode, name: string): string {
  const text = node.text(name);
  if (text === undefined || text.trim() === '') node.fail(`"${name}" is missing`, name);
  return text ?? 'NULL';
}

const shared = (node: SourceNode, name: string) => ({
  node,
  name,
  title: memberTitle(node, name),
  description: typeof node.values['description'] === 'string' ? node.values['description'] : undefined,
});

/** Returns the SQL of a template; reports a reference that cannot be resolved at the entry's `sql`. */
export function sqlOf(
  { node, template }: { node: SourceNode; template: string },
  cube: CubeSource,
  cubes: ReadonlyMap<string, CubeSource>,
): string {
  try {
    return expandSql(template, cube, (name) => cubes.get(name));
  } catch (error) {
    node.fail((error as Error).message, 'sql');
    return 'NULL';
  }
}
