// Creates Core Data from the engine, the tables of branches, JSON queries and SQL.
import { systemClock } from '../../support/sources.ts';
import { SandboxProblem } from '../problem.ts';
import type { DeploymentRecord } from '../records.ts';
import type { SandboxSettings } from '../settings.ts';
import { toCubeMeta } from './annotations.ts';
import type { LoadResult, ResultRole } from './documents.ts';
import type { CoreDataSecurityContext } from './security-context.ts';
import type { CoreData, QueryAccess } from './core-data.ts';
import { runSql } from './cubesql.ts';
import { createEngine, type Bounds } from './engine.ts';
import { resolveQuery, type Query } from './json-query.ts';
import { toLoadResult } from './load-result.ts';
import { toStatements, type LoadStatements } from './load-sql.ts';
import { createModels } from './models.ts';
import { visiblePart } from './policy.ts';
import type { Cube, Model } from './model.ts';
import type { QueryForm } from './query-form.ts';
import { createStores } from './stores.ts';
import { hiddenMember, userError, type FoundMember } from './members.ts';

interface CoreDataDeps {
  /** Returns the sandbox's time, Unix milliseconds. */
  readonly now: () => number;
  /** Returns the current settings. */
  readonly settings: () => SandboxSettings;
  /** Replaces the models of the seed. */
  readonly model?: Model | undefined;
}

/** Largest size of a result in bytes, counted by engine.ts. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Returns the branch's name. @throws SandboxProblem 404 when the deployment has no such branch. */
function requireBranch(deployment: DeploymentRecord, branchName: string | null): string {
  const found = deployment.branches.find((branch) =>
    branchName === null ? branch.kind === 'production' : branch.name === branchName,
  );
  // A deployment without a production branch uses the data of its first branch.
  const branch = found ?? (branchName === null ? deployment.branches[0] : undefined);
  if (!branch) throw new SandboxProblem(404, 'Branch not found');
  return branch.name;
}

const isShown = ({ measures, dimensions, segments }: Cube, name: string): boolean =>
  [...measures, ...dimensions, ...segments].some((member) => member.name === name);

/** Creates Core Data; the engine starts at the first query. */
export function createCoreData({ now, settings, model: given }: CoreDataDeps): CoreData {
  const modelOf = createModels(given);
  const engine = createEngine();
  const stores = createStores(engine, now, modelOf);
  const stopping = new AbortController();

  function boundsOf(signal: AbortSignal): Bounds {
    const { dataQueryTimeoutMs, dataRowCap } = settings();
    return { timeoutMs: dataQueryTimeoutMs, maxRows: dataRowCap, maxBytes: MAX_BYTES, signal };
  }

  function open(
    deployment: DeploymentRecord,
    branchName: string | null,
    context: CoreDataSecurityContext,
  ): QueryAccess {
    const branch = requireBranch(deployment, branchName);
    const model = modelOf(deployment);
    const isVisible = ({ cube, member }: FoundMember<{ readonly name: string }>): boolean =>
      cube.isPublic && isShown(visiblePart(cube, context), member.name);

    async function statementsOf(query: Query): Promise<LoadStatements> {
      return toStatements(query, await stores.tableNamesOf(deployment, branch));
    }

    /** @throws 400 for a member of the answer that the context may not see. A filter may use a private member. */
    function requireVisible(query: Query): void {
      const times = query.timeDimensions.filter(({ granularity }) => granularity !== null);
      const hidden = [...query.measures, ...query.dimensions, ...times].find((found) => !isVisible(found));
      if (hidden) throw hiddenMember(hidden);
    }

    function resolve(form: QueryForm): Query {
      const { dataRowDefault, dataRowCap } = settings();
      const defaultLimit = Math.min(dataRowDefault, dataRowCap);
      return resolveQuery(form, model, context, { nowMs: now(), defaultLimit, maxLimit: dataRowCap });
    }

    async function run(query: Query, role: ResultRole): Promise<LoadResult> {
      requireVisible(query);
      const { dataQueryDelayMs } = settings();
      if (dataQueryDelayMs > 0) await systemClock.sleep(dataQueryDelayMs, stopping.signal);
      const statements = await statementsOf(query);
      const bounds = boundsOf(stopping.signal);
      const { rows, failure } = await engine.query({ ...statements.rows, keepsNumbers: true }, bounds);
      if (failure !== null) throw userError(`Error: ${failure}`);
      const counted = query.wantsTotal ? await engine.query(statements.total, bounds) : null;
      // The statement returns one row with one cell.
      const total = counted ? Number(counted.rows[0]?.[0] ?? 0) : null;
      return toLoadResult(query, { rows, total, nowMs: now() }, role);
    }
    return { resolve, run, statementOf: async (query) => (await statementsOf(query)).rows };
  }

  return {
    open,
    modelOf,
    meta: (deployment, context, onlyViews) => toCubeMeta(modelOf(deployment), context, onlyViews),
    async *sql(deployment, branchName, context, query) {
      const branch = requireBranch(deployment, branchName);
      const signals = query.signal ? [query.signal, stopping.signal] : [stopping.signal];
      yield* runSql(query, {
        engine,
        model: modelOf(deployment),
        context,
        tableName: await stores.tableNamesOf(deployment, branch),
        nowMs: now(),
        bounds: boundsOf(AbortSignal.any(signals)),
        failAfterRows: settings().sqlFailAfterRows,
      });
    },
    async stop() {
      stopping.abort();
      await engine.stop();
    },
  };
}
