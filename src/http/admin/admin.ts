// Builds the router of /admin: the admin API, the sign-in and the operators' page.
import express, { type Router } from 'express';
import type { OperationStore } from '../../directory/logs/operations.ts';
import { restfulCoverage } from '../../ops/status/read-coverage.ts';
import { readStatus } from '../../ops/status/status.ts';
import type { Admitted } from '../admission/admission.ts';
import { createLogExports } from './log-export.ts';
import { createOperations } from './operations.ts';
import { createLiveStreams } from './live.ts';
import { createPage } from './page.ts';
import type { AdminContext, AdminRoute } from './route.ts';
import { createAdminRouter } from './router.ts';
import type { IdentifyCaller } from './sign-in/caller.ts';
import { checkRoutes } from './routes/checks.ts';
import { comparisonRoutes } from './routes/comparisons.ts';
import { deadLetterRoutes } from './routes/dead-letters.ts';
import { eventRoutes } from './routes/events.ts';
import { forgetRoutes } from './routes/forget.ts';
import { holdRoutes } from './routes/holds.ts';
import { linkRoutes } from './routes/links.ts';
import { actRoutes } from './routes/acts.ts';
import { noticeRoutes } from './routes/notices.ts';
import { logRoutes } from './routes/log.ts';
import { operationRoutes } from './routes/operations.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { resourceRoutes } from './routes/resources.ts';
import { sessionRoutes } from './routes/session.ts';
import { searchRoutes } from './routes/search.ts';
import { statusRoutes } from './routes/status.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { workbenchRoutes } from './routes/workbench.ts';

interface AdminOptions {
  identify: IdentifyCaller;
  /** Router of /admin/sign-in. */
  signIn: Router;
  maxBodyBytes: number;
  admitted: Admitted;
}

export type Admin = ReturnType<typeof createAdmin>;

/**
 * Creates the admin API with its long operations and live streams, which run until `stop` and `live.stop`.
 * @returns the router of /admin; `stop` cancels the operations that run in this process
 */
export function createAdmin(
  deps: Omit<AdminContext, 'operations' | 'logExports' | 'coverageOf' | 'openLive'> & {
    store: OperationStore;
  },
  { identify, signIn, maxBodyBytes, admitted }: AdminOptions,
) {
  const operations = createOperations(deps);
  const coverageOf = restfulCoverage(deps.clock);
  const live = createLiveStreams(deps, () => readStatus(deps.states, deps, coverageOf));
  const routes = adminRoutes({
    ...deps,
    operations,
    coverageOf,
    openLive: live.open,
    logExports: createLogExports(),
  });
  const router = express.Router();
  router.use('/v1', createAdminRouter(deps, routes, { identify, maxBodyBytes, admitted }));
  router.use('/sign-in', signIn);
  router.use(createPage());
  return { router, stop: operations.stop, live };
}

/** Returns all routes of /admin/v1. */
export const adminRoutes = (context: AdminContext): AdminRoute[] =>
  [
    statusRoutes,
    approvalRoutes,
    comparisonRoutes,
    operationRoutes,
    resourceRoutes,
    deadLetterRoutes,
    holdRoutes,
    linkRoutes,
    logRoutes,
    actRoutes,
    tokenRoutes,
    checkRoutes,
    eventRoutes,
    forgetRoutes,
    sessionRoutes,
    noticeRoutes,
    searchRoutes,
    workbenchRoutes,
  ].flatMap((routes) => routes(context));
