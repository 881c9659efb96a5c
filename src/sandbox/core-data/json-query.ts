// Resolves a JSON query of valid form: finds all members, the cube that joins them, dates and the order (contract 5.1).
import { parseSpan, type Span } from './date-range.ts';
import { zoneNamed } from './time-zone.ts';
import { parseFilters, type CoreDataFilter } from './filters.ts';
import { customTimeBucket, GRANULARITIES, plainTimeBucket, type TimeBucket } from './granularity.ts';
import { compilerError, requireMember, userError, type FoundMember } from './members.ts';
import type { Cube, Dimension, Measure, Model, Segment } from './model.ts';
import type { QueryForm, ResponseFormat, TimeDimensionForm } from './query-form.ts';
import { evaluatedNames, rowAccessOf, type RowAccess } from './row-access.ts';
import type { CoreDataSecurityContext } from './security-context.ts';

export interface TimeDimension extends FoundMember<Dimension> {
  /** Null = the time only limits the rows and is no column of the answer. */
  readonly granularity: string | null;
  /** Truncates the time to the granularity. */
  readonly bucket: TimeBucket;
  /** First and last moment of the rows; null = all times. */
  readonly span: Span | null;
}

export interface OrderStep {
  /** Member name in the result. */
  readonly id: string;
  readonly isDescending: boolean;
}

export interface Query {
  readonly measures: readonly FoundMember<Measure>[];
  readonly dimensions: readonly FoundMember<Dimension>[];
  readonly timeDimensions: readonly TimeDimension[];
  readonly segments: readonly FoundMember<Segment>[];
  readonly filters: readonly CoreDataFilter[];
  /** Rows that access policies leave. */
  readonly access: RowAccess;
  /** Null = the default order. */
  readonly order: readonly OrderStep[] | null;
  readonly limit: number;
  readonly offset: number | null;
  readonly wantsTotal: boolean;
  readonly timezone: string;
  readonly isUngrouped: boolean;
  readonly format: ResponseFormat;
  /** Cubes of all members; the first one reaches the others. */
  readonly cubes: readonly Cube[];
  /** The query as the client sent it. */
  readonly form: QueryForm;
}

interface QueryBounds {
  readonly nowMs: number;
  /** `limit` of a query that has none. */
  readonly defaultLimit: number;
  /** Largest `limit` that is accepted. */
  readonly maxLimit: number;
}

/** Resolves a query of a context; throws SandboxProblem 400 when it cannot run. */
export function resolveQuery(
  form: QueryForm,
  model: Model,
  context: CoreDataSecurityContext,
  bounds: QueryBounds,
): Query {
  const { measures = [], segments = [], limit = bounds.defaultLimit } = form;
  const timezone = zoneNamed(form.timezone ?? '') ?? 'UTC';
  // Refused instead of lowered: the client must not take an incomplete result for the whole. Cube answers 500.
  if (limit > bounds.maxLimit) throw userError('Error: The query limit has been exceeded.');
  const { plain, times } = splitDimensions(form);
  const setting = { model, nowMs: bounds.nowMs, timezone };
  const query = {
    measures: [...new Set(measures)].map((name) => requireMember(model, 'measures', name)),
    dimensions: plain.map((name) => requireMember(model, 'dimensions', name)),
    timeDimensions: times.map((entry) => resolveTime(entry, model, bounds.nowMs, timezone)),
    segments: [...new Set(segments)].map((name) => requireMember(model, 'segments', name)),
    filters: parseFilters(form.filters ?? [], setting),
    order: toOrder(form.order),
    limit,
    offset: form.offset ?? null,
    // A text is not converted, so the text `false` counts as true.
    wantsTotal: Boolean(form.total),
    timezone,
    isUngrouped: Boolean(form.ungrouped),
    format: form.responseFormat ?? ('default' as const),
    form,
  };
  const members = membersOfQuery(query);
  const cubes = joinedCubes(members);
  // An error names a filter of a policy as if it followed the filters of the query: `filters[<filterCount + index>]`.
  const filterCount = query.filters.length;
  const access = rowAccessOf(evaluatedNames(members), { context, setting, filterCount });
  return { ...query, cubes, access };
}

/** Moves dimensions such as `orders.created_at.year` to the time dimensions. */
function splitDimensions({ dimensions = [], timeDimensions = [] }: QueryForm) {
  const plain: string[] = [];
  const times: TimeDimensionForm[] = [...timeDimensions];
  for (const name of dimensions) {
    const [cube, member, granularity] = name.split('.');
    if (granularity === undefined) plain.push(name);
    else times.push({ dimension: `${cube}.${member}`, granularity });
  }
  return { plain: [...new Set(plain)], times };
}

function resolveTime(entry: TimeDimensionForm, model: Model, nowMs: number, zone: string): TimeDimension {
  const { dimension, granularity, dateRange } = entry;
  const span = dateRange === undefined ? null : parseSpan(dateRange, nowMs, zone);
  const found = requireMember(model, 'dimensions', dimension);
  const known = GRANULARITIES.find((unit) => unit === granularity);
  const custom = found.member.granularities?.find(({ name }) => name === granularity);
  if (found.member.type !== 'time')
    throw userError(`Error: invalid input syntax for type timestamp with time zone: "${dimension}"`);
  if (granularity !== undefined && !known && !custom)
    throw compilerError(
      `Granularity "${granularity.slice(0, 100)}" does not exist in dimension ${dimension}`,
    );
  let bucket: TimeBucket = (column) => column;
  if (known) bucket = plainTimeBucket(known);
  else if (custom) bucket = customTimeBucket(custom, nowMs, zone);
  return { ...found, granularity: granularity ?? null, bucket, span };
}

function toOrder(order: QueryForm['order']): OrderStep[] | null {
  if (order === undefined) return null;
  const steps = (Array.isArray(order) ? order : Object.entries(order)) as [string, string][];
  return steps.map(([id, direction]) => ({ id, isDescending: direction === 'desc' }));
}

/** The part of a query that names members. */
type NamedMembers = Pick<Query, 'measures' | 'dimensions' | 'timeDimensions' | 'segments' | 'filters'>;

/** The part that measures, dimensions and segments have in common. */
interface QueryMember {
  readonly name: string;
  readonly isPrivate?: boolean;
  readonly uses?: readonly string[];
  readonly from?: string;
}

/** Returns the members that a query names: first the selected ones, then those of its filters. */
function membersOfQuery(query: NamedMembers): FoundMember<QueryMember>[] {
  const filtered = query.filters.flatMap(membersOfFilter);
  return [...query.measures, ...query.dimensions, ...query.timeDimensions, ...query.segments, ...filtered];
}

function membersOfFilter(filter: CoreDataFilter): FoundMember<QueryMember>[] {
  return filter.kind === 'condition' ? [filter.target] : filter.parts.flatMap(membersOfFilter);
}

/** Returns the cubes of these members, first the cube that reaches all others. @throws 400 if no cube does */
function joinedCubes(named: readonly FoundMember<{ readonly from?: string }>[]): Cube[] {
  const cubes = [...new Set(named.map(({ cube }) => cube))];
  const root = cubes.find((one) =>
    cubes.every((other) => other === one || one.reaches?.includes(other.name)),
  );
  if (root) return [root, ...cubes.filter((one) => one !== root)];
  const hints = new Set(named.map(joinHintOf));
  throw compilerError(`Can't find join path to join ${[...hints].map((hint) => `'${hint}'`).join(', ')}`);
}

/** Returns the path to the cube that a member comes from, as Cube's error message shows it; in a view, from its base cube on. */
function joinHintOf({ cube, member }: FoundMember<{ readonly from?: string }>): string {
  const { base } = cube;
  if (cube.kind === 'cube' || base === undefined) return cube.name;
  return member.from === undefined || member.from === base ? base : `${base},${member.from}`;
}
