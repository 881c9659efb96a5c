// Defines what Core Data returns: cells and rows, results of queries, parts of SQL streams, metadata (contract 5).

export type MemberType = 'string' | 'number' | 'time' | 'boolean';
/** A value of a row: most numbers are text, times are ISO 8601 without zone. */
export type Cell = string | number | boolean | null;

/** The properties that differ between segments; annotations.ts adds those that are the same for every segment. */
export interface SegmentDocument {
  /** Name with its cube: `orders.completed`. */
  readonly name: string;
  readonly title: string;
  readonly shortTitle: string;
  readonly description?: string;
}

export interface MemberDocument extends SegmentDocument {
  readonly type: MemberType;
  /** Aggregation; of measures only. */
  readonly aggType?: string;
  readonly [property: string]: unknown;
}

export interface CubeDocument {
  readonly name: string;
  readonly type: 'cube' | 'view';
  readonly title: string;
  readonly description?: string;
  readonly measures: readonly MemberDocument[];
  readonly dimensions: readonly MemberDocument[];
  readonly segments: readonly SegmentDocument[];
  /** Number of the group of joined cubes that the cube belongs to. */
  readonly connectedComponent: number;
}

/** Public cubes and views with a member that the caller may see, cubes first, then by name. */
export interface MetaDocument {
  readonly cubes: readonly CubeDocument[];
  /** Name of the model. */
  readonly compilerId: string;
}

export interface Column {
  readonly name: string;
  readonly column_type: string;
}

/** Exactly one schema first, then rows; an empty result has no rows part. */
export type SqlPart =
  | { readonly kind: 'schema'; readonly columns: readonly Column[] }
  | { readonly kind: 'rows'; readonly rows: readonly (readonly Cell[])[] };

export interface SqlQuery {
  readonly query: string;
  readonly timezone?: string;
  /** Cancels the query at the engine. */
  readonly signal?: AbortSignal;
}

/** The body of an answer to `/v1/load` (contract 5.1). */
export type LoadResult = Readonly<Record<string, unknown>>;

/** Role of a result in its request; a blended or compared result has an additional column. */
export type ResultRole = 'single' | 'blending' | 'compareDateRange';
