// Defines the types of a semantic model: tables, cubes and views over them, and row policies.
import type { MemberType } from './documents.ts';
import type { Operator } from './filter-form.ts';
import type { PolicyTest } from './policy-condition.ts';

/** Aggregation of a measure; `count` counts rows, `number` is calculated from other measures. */
export type AggType = 'count' | 'countDistinct' | 'sum' | 'avg' | 'min' | 'max' | 'number';

/** The part that dimensions, measures and segments share. */
interface Member {
  readonly name: string;
  readonly title: string;
  /** Clients may use the member in filters only. */
  readonly isPrivate?: boolean;
  /** Further members that a query with this member evaluates, as `cube.member`; access policies check them too. */
  readonly uses?: readonly string[];
  /** Member of a cube, as `cube.member`, that this member of a view shows. */
  readonly alias?: string;
}

/** A granularity of one dimension, as the model defines it. */
export interface CustomGranularity {
  readonly name: string;
  readonly title: string;
  /** `1 year`, `2 weeks`, `1 month 10 days`. */
  readonly interval: string;
  /** Moves the beginning of each interval: `3 months`, `-1 day`. */
  readonly offset?: string;
  /** Beginning of one interval: a date or a moment. */
  readonly origin?: string;
}

export interface Dimension extends Member {
  readonly description?: string;
  readonly type: MemberType;
  /** Granularities of a time beside the predefined ones. */
  readonly granularities?: readonly CustomGranularity[];
  /** Numbers of an integer column. */
  readonly isWhole?: true;
  /** The primary key of the cube. */
  readonly isKey?: true;
  /** Cube behind the member of a view; default: `base` of the view. */
  readonly from?: string;
  /** SQL of the model over the aliases of the cube's source. */
  readonly sql: string;
}

export interface Measure extends Member {
  readonly description?: string;
  readonly aggType: AggType;
  /** The aggregated column has only integers. */
  readonly isWhole?: true;
  /** Expression per row of the source that is aggregated; `1` for a count. */
  readonly sql: string;
  /** Returns the aggregate over a column that holds `sql`; set when `aggType` alone does not determine it. */
  readonly aggregate?: (column: string) => string;
  /** Returns the SQL of one row's value in ungrouped queries, over a column that holds `sql`; default: the column. */
  readonly single?: (column: string) => string;
}

export interface Segment extends Member {
  /** SQL condition that selects the rows. */
  readonly sql: string;
}

/** A condition on a dimension. */
export interface RowFilter {
  readonly dimension: string;
  readonly operator: Operator;
  /**
   * A list of texts and templates such as `{ userAttributes.country }`, or the name of an attribute that is a list:
   * `userAttributes.countries`. Absent for operators without values.
   */
  readonly values?: readonly (string | number | boolean)[] | string;
}

/** A condition, or a group of which all or any must match. */
export type PolicyFilter =
  RowFilter | { readonly and: readonly PolicyFilter[] } | { readonly or: readonly PolicyFilter[] };

/** Members and rows that a group sees; all filters must match. Group `*` means every user (contract 5.6). */
export interface Policy {
  /** The policy is for users of any of these groups. */
  readonly groups: readonly string[];
  /** An empty list gives all rows. */
  readonly filters: readonly PolicyFilter[];
  /** The policy counts only where all conditions hold. */
  readonly conditions?: readonly PolicyTest[];
  /** Members that the policy shows; absent = all. */
  readonly members?: {
    readonly includes: readonly string[] | '*';
    readonly excludes: readonly string[] | '*';
  };
}

/** Maps a table name of the model to its qualified name in the engine, for one branch of a deployment. */
export type QualifiedTableName = (table: string) => string;

export interface Cube {
  readonly name: string;
  readonly kind: 'cube' | 'view';
  readonly title: string;
  readonly description?: string;
  /** Private cubes are used by views; clients cannot query them. */
  readonly isPublic: boolean;
  /** Tables of the model that `source` reads. */
  readonly tables: readonly string[];
  /** Cubes that a view uses. */
  readonly cubes: readonly string[];
  /** Cube behind the members of a view. */
  readonly base?: string;
  /** SQL of the primary key over the aliases of `source`. */
  readonly key: string;
  /** Cubes whose aliases are part of `source`, so that one query can have members of both. */
  readonly reaches?: readonly string[];
  /** Returns the part after FROM: the tables with the aliases that `sql` and `key` use, such as `orders AS o JOIN …`. */
  readonly source: (tableName: QualifiedTableName) => string;
  readonly measures: readonly Measure[];
  readonly dimensions: readonly Dimension[];
  readonly segments: readonly Segment[];
  /** An empty list = no restriction; otherwise the members are hidden from a user without a matching policy. */
  readonly policies: readonly Policy[];
}

/** A value of a table; a TIMESTAMP column has its values as text. */
export type CellValue = string | number | boolean | null;

export interface ModelTable {
  readonly name: string;
  /** Column names with engine types, in the order of the values of a row. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  readonly rows: readonly (readonly CellValue[])[];
}

/** Parameters of the sample rows of a branch; the same sequence of `roll` with the same other values gives the same rows. */
export interface Sampling {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  readonly roll: () => number;
  /** No row is newer than this, Unix milliseconds. */
  readonly untilMs: number;
  readonly isProduction: boolean;
}

export interface Model {
  readonly name: string;
  readonly cubes: readonly Cube[];
  /** Returns the tables with their rows for one branch. */
  readonly sample: (sampling: Sampling) => readonly ModelTable[];
}

/** Sorts cubes before views, then by name (contract 5.4). */
export function inOrder(cubes: readonly Cube[]): Cube[] {
  return [...cubes].sort((left, right) => {
    if (left.kind !== right.kind) return left.kind === 'cube' ? -1 : 1;
    return left.name < right.name ? -1 : 1;
  });
}
