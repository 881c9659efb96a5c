// Defines the interface of Core Data, which the data API and chat query with a security context (contract 5).
import type { DeploymentRecord } from '../records.ts';
import type { MetaDocument, SqlPart, SqlQuery, LoadResult, ResultRole } from './documents.ts';
import type { Statement } from './statement.ts';
import type { Query } from './json-query.ts';
import type { ModelOf } from './models.ts';
import type { QueryForm } from './query-form.ts';
import type { CoreDataSecurityContext } from './security-context.ts';

export type {
  Cell,
  Column,
  CubeDocument,
  LoadResult,
  MemberDocument,
  SqlPart,
  SqlQuery,
} from './documents.ts';
export {
  contextOfClaims,
  contextOfUser,
  EMPTY_CONTEXT,
  type CoreDataSecurityContext,
} from './security-context.ts';

/** Runs the queries of one security context at one branch. */
export interface QueryAccess {
  /** Finds the members that a query names; its form must be valid. @throws SandboxProblem 400 */
  resolve(form: QueryForm): Query;
  /** Runs a query. @throws SandboxProblem 400 for hidden members and for queries that the engine refuses */
  run(query: Query, role: ResultRole): Promise<LoadResult>;
  /** Returns the statement of a query; it does not run. */
  statementOf(query: Query): Promise<Statement>;
}

export interface CoreData {
  readonly modelOf: ModelOf;
  /** Returns access to queries; `branchName` null = production. @throws SandboxProblem 404 for an unknown branch */
  open(
    deployment: DeploymentRecord,
    branchName: string | null,
    context: CoreDataSecurityContext,
  ): QueryAccess;
  /** Returns the part of the model that the context may see. */
  meta(deployment: DeploymentRecord, context: CoreDataSecurityContext, onlyViews?: boolean): MetaDocument;
  /**
   * Runs SQL over the model. The iteration throws SandboxProblem (400, 404, 500); ending it early cancels the query.
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
