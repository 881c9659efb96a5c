// Creates Core Data from the engine, the tables of branches, JSON queries and SQL.
import { systemClock } from '../../support/sources.ts';
import { SandboxProblem } from '../problem.ts';
import type { DeploymentRecord } from '../records.ts';
import type { SandboxSettings } from '../settings.ts';
import { toCubeMeta } from './annotations.ts';
import type { CoreData, LoadResult, CoreDataSecurityContext } from './core-data.ts';
import { runSql } from './cubesql.ts';
import { createEngine, type Bounds, type Engine } from './engine.ts';
import { parseQuery, type Query } from './json-query.ts';
import { toLoadResult } from './load-result.ts';
import { toStatements } from './load-sql.ts';
import { modelOf } from './models.ts';
import { accessOf, type Access } from './policy.ts';
import type { TableSource } from './model.ts';
import { createStores } from './stores.ts';
import { userError } from './members.ts';

export interface CoreDataDeps {
  /** Returns the sandbox's time, Unix milliseconds. */
  readonly now: () => number;
  /** Returns the current settings. */
  readonly settings: () => SandboxSettings;
}

/** Largest text size of one result, characters. */
const MAX_BYTES = 8 * 1024 * 1024;

interface Run {
  readonly engine: Engine;
  readonly bounds: Bounds;
  readonly place: TableSource;
  readonly access: Access;
  readonly nowMs: number;
}

async function runQuery(query: Query, { engine, bounds, place, access, nowMs }: Run): Promise<LoadResult> {
  // A context without a policy gets no rows, not even a sum of zero rows (ASSUMED-78).
  if (access.kind === 'none')
    return toLoadResult(query, { rows: [], total: query.wantsTotal ? 0 : null, nowMs });
  const statements = toStatements(query, place, access);
  const { rows, failure } = await engine.query(statements.rows, bounds);
  if (failure !== null) throw userError(failure);
  const counted = query.wantsTotal ? await engine.query(statements.total, bounds) : null;
  return toLoadResult(query, { rows, total: counted ? Number(counted.rows[0]?.[0] ?? 0) : null, nowMs });
}

/** Returns the branch's name. @throws Problem 404 when the deployment has no such branch. */
function requireBranch(deployment: DeploymentRecord, branchName: string | null): string {
  const found = deployment.branches.find((branch) =>
    branchName === null ? branch.kind === 'production' : branch.name === branchName,
  );
  // A deployment without a production branch uses the data of its first branch.
  const branch = found ?? (branchName === null ? deployment.branches[0] : undefined);
  if (!branch) throw new SandboxProblem(404, 'Branch not found');
  return branch.name;
}

/** Creates Core Data; the engine starts at the first query. */
export function createCoreData({ now, settings }: CoreDataDeps): CoreData {
  const engine = createEngine();
  const stores = createStores(engine, now);
  const stopping = new AbortController();

  function boundsOf(signal: AbortSignal): Bounds {
    const { dataQueryTimeoutMs, dataRowCap } = settings();
    return { timeoutMs: dataQueryTimeoutMs, maxRows: dataRowCap, maxBytes: MAX_BYTES, signal };
  }

  async function load(
    deployment: DeploymentRecord,
    branchName: string | null,
    context: CoreDataSecurityContext,
    value: unknown,
  ): Promise<LoadResult> {
    const branch = requireBranch(deployment, branchName);
    const { dataQueryDelayMs, dataRowDefault, dataRowCap } = settings();
    const query = parseQuery(value, modelOf(deployment), {
      nowMs: now(),
      defaultLimit: Math.min(dataRowDefault, dataRowCap),
      maxLimit: dataRowCap,
    });
    if (dataQueryDelayMs > 0) await systemClock.sleep(dataQueryDelayMs, stopping.signal);
    const place = await stores.placeOf(deployment, branch);
    const access = accessOf(query.cube, context);
    return runQuery(query, { engine, bounds: boundsOf(stopping.signal), place, access, nowMs: now() });
  }

  return {
    load,
    meta: (deployment, context) => toCubeMeta(modelOf(deployment), context),
    async *sql(deployment, branchName, context, query) {
      const branch = requireBranch(deployment, branchName);
      const signals = query.signal ? [query.signal, stopping.signal] : [stopping.signal];
      yield* runSql(query, {
        engine,
        deployment,
        context,
        place: await stores.placeOf(deployment, branch),
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
