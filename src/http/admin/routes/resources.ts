// Routes of explain and sync for one user or group. POST takes the name in the body, because proxies log addresses.
import { explain } from '../../../explain/explain.ts';
import { findForOrder, toSearched, type FoundResource } from '../../../ops/find.ts';
import { syncOne } from '../../../ops/sync/sync-one.ts';
import type { SyncReport } from '../../../ops/sync/sync-outcome.ts';
import { Problem, severalProblem } from '../problem.ts';
import {
  json,
  requireTarget,
  scopesAt,
  getRoute,
  postRoute,
  type AdminContext,
  type AdminRoute,
} from '../route.ts';
import { arrayOf, body, booleanField, nameField, onlyTarget, toQuery } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';
import { orderRoute } from '../operator-fields.ts';

interface ResourceQuery {
  resource: string;
  target?: string;
}

interface ExplainOrder extends ResourceQuery {
  readPlatform?: boolean;
}

const fields = {
  resource: nameField('userName, externalId, address, group name, id, or a ref such as User:3f…'),
  target: onlyTarget,
};
const explained = {
  description: 'One explanation for each target, and for each resource when several have the name.',
  schema: arrayOf(refTo('Explanation')),
};
const refuses = { 404: 'No person and no group has this name, or there is no such target.' };
const summary = 'Explains why a person or group is, or is not, at each target as desired.';
const DEFAULT_SECONDS = 30;
/** Time limit of the search of the log. GET /log also finds the entries that this limit leaves out. */
const LOG_MS = 100;

export const resourceRoutes = (context: AdminContext): AdminRoute[] => [
  getRoute<ResourceQuery>('/explain', 'explain', {
    command: 'explain USER|GROUP --json',
    summary: `${summary} Proxies may log a name in the address; POST avoids that.`,
    query: toQuery(fields, ['resource']),
    answers: explained,
    refuses,
    handle: async ({ query }) => json(await explainAll(context, query)),
  }),
  postRoute<ExplainOrder>('/explain', 'explainByBody', {
    right: 'read',
    command: 'explain USER|GROUP --json',
    summary,
    body: body(
      {
        ...fields,
        readPlatform: {
          ...booleanField,
          description:
            'Whether to read the platform. Default: it is read when no change or refusal is known, and for a change that waits for the end of a hold.',
        },
      },
      ['resource'],
    ),
    answers: explained,
    refuses,
    handle: async ({ body: query }) => json(await explainAll(context, query)),
  }),
  orderRoute<ResourceQuery & { dryRun?: boolean; timeoutSeconds?: number }>('/sync', 'syncOne', {
    command: 'sync USER|GROUP --json',
    summary: 'Compares one person or group with the platform and writes the differences, now.',
    fields: {
      ...fields,
      dryRun: { ...booleanField, description: 'Reports what would be written, and writes nothing.' },
      timeoutSeconds: {
        type: 'number',
        exclusiveMinimum: 0,
        maximum: 300,
        default: DEFAULT_SECONDS,
        description: 'Longest duration.',
      },
    },
    required: ['resource'],
    answers: {
      description: 'One report for each target: the differences, the steps and the outcome.',
      schema: arrayOf(refTo('SyncReport')),
    },
    refuses: {
      ...refuses,
      409: 'Several resources have the name; resources lists their refs.',
      502: 'The platform does not answer, refuses the key, or limits the rate.',
    },
    handle: async (query, actor, { signal }) => {
      const { dryRun = false, timeoutSeconds = DEFAULT_SECONDS } = query;
      const options = { dryRun, actor, limitMs: timeoutSeconds * 1000, logger: context.logger, signal };
      const reports: SyncReport[] = [];
      for (const found of await findOne(context, query)) {
        for (const { scope } of scopesAt(context, query.target))
          if (scope.connection === found.connection) reports.push(await syncOne(scope, found, options));
      }
      return json(reports);
    },
  }),
];

/** @throws Problem 404 when no resource has the name, or for an unknown target */
async function explainAll(
  context: AdminContext,
  { resource: name, target: only, readPlatform }: ExplainOrder,
) {
  requireTarget(context, only);
  const scopes = scopesAt(context, only).map(({ scope }) => scope);
  const found = await explain(scopes, name, context.readFleet, { readPlatform, logMs: LOG_MS });
  if (found.length === 0) throw unknown();
  return found;
}

/**
 * Finds the resource that an order means by this name: one result for each connection that has pushed it under the same ref.
 * @throws Problem 404 when no resource has the name, 409 when several have it
 */
async function findOne(
  context: AdminContext,
  { resource: name, target: only }: ResourceQuery,
): Promise<FoundResource[]> {
  requireTarget(context, only);
  const found = await findForOrder(toSearched(context.states), name);
  if (found.length === 0) throw unknown();
  if (new Set(found.map(({ ref }) => ref)).size > 1) throw severalProblem(found);
  return found;
}

/** Returns the error for an unknown name. Logs may store problem documents, so the message does not contain the name. */
const unknown = (): Problem =>
  new Problem(
    404,
    'No person and no group has this name in the connections of the settings: it was never pushed, its push was refused ' +
      '(the identity provider has the reason), or it was renamed, deleted or forgotten. ' +
      'Say a userName, externalId, address, group name, id, or a ref such as User:<id>. ' +
      '/admin/v1/links/show also finds accounts of connections that left the settings.',
  );
