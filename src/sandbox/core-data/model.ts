// The words of a semantic model: tables at the bottom, cubes and views on top, and who may see which rows.
import type { MemberType } from './core-data.ts';

/** How a measure sums up the rows; `count` counts them. */
export type AggType = 'count' | 'countDistinct' | 'sum' | 'avg' | 'min' | 'max';

export interface Dimension {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly type: MemberType;
  /** SQL of the model's author over the aliases of the cube's source. */
  readonly sql: string;
}

export interface Measure {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly aggType: AggType;
  /** What is summed up, per row of the source; `1` for a count. */
  readonly sql: string;
}

export interface Segment {
  readonly name: string;
  readonly title: string;
  readonly sql: string;
}

/** A condition on a dimension; a value is a text or a reference such as `{ userAttributes.country }`. */
export interface RowFilter {
  readonly dimension: string;
  readonly operator: 'equals';
  readonly values: readonly string[];
}

/** Rows that members of a group see: all filters hold. `*` is everybody (contract 5.6, ASSUMED-78). */
export interface Policy {
  readonly group: string;
  readonly filters: readonly RowFilter[];
}

/** Puts a table of the model into the place where one deployment's branch keeps it. */
export type Place = (table: string) => string;

export interface Cube {
  readonly name: string;
  readonly kind: 'cube' | 'view';
  readonly title: string;
  readonly description: string;
  /** Private cubes exist for views to stand on; no client reaches them. */
  readonly isPublic: boolean;
  readonly tables: readonly string[];
  /** Cubes a view stands on. */
  readonly cubes: readonly string[];
  /** The part after FROM. */
  readonly source: (place: Place) => string;
  readonly measures: readonly Measure[];
  readonly dimensions: readonly Dimension[];
  readonly segments: readonly Segment[];
  /** None = no restriction; some = who has no matching one sees nothing. */
  readonly policies: readonly Policy[];
}

/** A stored value; text that looks like a moment is one in a TIMESTAMP column. */
export type Stored = string | number | boolean;

export interface Table {
  readonly name: string;
  /** Column names with their engine types, in the order of the values of a row. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  readonly rows: readonly (readonly Stored[])[];
}

/** What decides which sample rows a branch gets: the same span and dice make the same rows. */
export interface Sampling {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  readonly roll: () => number;
  /** No row is younger than this, Unix milliseconds. */
  readonly untilMs: number;
  readonly isProduction: boolean;
}

export interface Model {
  readonly name: string;
  readonly cubes: readonly Cube[];
  readonly sample: (sampling: Sampling) => readonly Table[];
}

/** Cubes before views, then by name (contract 5.4). */
export function inOrder(cubes: readonly Cube[]): Cube[] {
  return [...cubes].sort((left, right) => {
    if (left.kind !== right.kind) return left.kind === 'cube' ? -1 : 1;
    return left.name < right.name ? -1 : 1;
  });
}
