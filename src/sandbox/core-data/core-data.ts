// Defines the interface of Core Data, which the data API and chat query with a security context (contract 5).
import type { DeploymentRecord } from '../records.ts';
import type { CoreDataSecurityContext } from './security-context.ts';

export {
  contextOfClaims,
  contextOfUser,
  EMPTY_CONTEXT,
  type CoreDataSecurityContext,
} from './security-context.ts';

export type MemberType = 'string' | 'number' | 'time' | 'boolean';
/** A value of a row: numbers are text, times are ISO 8601 without zone. */
export type Cell = string | boolean | null;

export interface MemberDocument {
  /** Name with its cube: `orders.count`. */
  readonly name: string;
  readonly title: string;
  readonly shortTitle: string;
  readonly description?: string;
  readonly type: MemberType;
  /** Measures only. */
  readonly aggType?: string;
}

export interface CubeDocument {
  readonly name: string;
  readonly type: 'cube' | 'view';
  readonly title: string;
  readonly description?: string;
  readonly measures: readonly MemberDocument[];
  readonly dimensions: readonly MemberDocument[];
  readonly segments: readonly MemberDocument[];
  readonly connectedComponent: number;
}

/** Public cubes and views with a matching policy, cubes first, then by name. */
export interface MetaDocument {
  readonly cubes: readonly CubeDocument[];
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

export interface CoreData {
  /**
   * Runs one JSON query (the object under `query`). Rejects with Problem 400 when it is refused, 404 for an
   * unknown branch, 500 when the engine is missing or fails.
   */
  load(
    deployment: DeploymentRecord,
    branchName: string | null,
    context: CoreDataSecurityContext,
    query: unknown,
  ): Promise<LoadResult>;
  /** Returns the part of the model that the context may see. */
  meta(deployment: DeploymentRecord, context: CoreDataSecurityContext): MetaDocument;
  /**
   * Runs SQL over the model. The iteration throws Problem as `load` does; ending it early cancels the query.
   * `branchName` null = the production branch.
   */
  sql(
    deployment: DeploymentRecord,
    branchName: string | null,
    context: CoreDataSecurityContext,
    query: SqlQuery,
  ): AsyncIterable<SqlPart>;
  /** Cancels running queries and releases the engine. */
  stop(): Promise<void>;
}
