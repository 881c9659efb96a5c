// Routes of explain and sync for one user or group. POST takes the name in the body, because proxies log addresses.
import { explain } from '../../../explain/explain.ts';
import { findResources, toSearched, type FoundResource } from '../../../ops/find.ts';
import { syncOne, type SyncReport } from '../../../ops/sync-one.ts';
import { Problem } from '../problem.ts';
import { json, requireTarget, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, booleanField, textField } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';
import { actor, operatorFields, type OperatorFields } from '../operator-fields.ts';

interface ResourceQuery {
  resource: string;
  target?: string;
}

interface ExplainOrder extends ResourceQuery {
  readPlatform?: boolean;
}

const resource = {
  ...textField,
  minLength: 1,
  maxLength: 1000,
  description: 'userName, externalId, address, group name, id, or a ref such as User:3f…',
};
const target = { ...textField, description: 'Only this target.' };
const explained = {
  status: 200,
  description:
    'Everything that is known, one for each target; several resources where the name means several.',
  schema: arrayOf(refTo('Explanation')),
};
const refuses = { 404: 'No person and no group has this name, or there is no such target.' };
const summary = 'Why a person or group is, or is not, at each target as desired.';
const DEFAULT_SECONDS = 30;
/** Time to search the log; GET /log reads the entries that it did not reach. */
const LOG_MS = 100;

export const resourceRoutes = (context: AdminContext): AdminRoute[] => [
  route<undefined, ResourceQuery>({
    method: 'get',
    path: '/explain',
    id: 'explain',
    command: 'explain USER|GROUP --json',
    summary: `${summary} A name in the address may be kept by proxies: POST avoids that.`,
    query: {
      resource: { description: resource.description, schema: resource, required: true },
      target: { description: target.description, schema: target },
    },
    answers: explained,
    refuses,
    handle: async ({ query }) => json(await explainAll(context, query)),
  }),
  route<ExplainOrder>({
    method: 'post',
    path: '/explain',
    id: 'explainByBody',
    right: 'read',
    command: 'explain USER|GROUP --json',
    summary,
    body: body(
      {
        resource,
        target,
        readPlatform: {
          ...booleanField,
          description:
            'Whether to read the platform; left out: only where no change, hold or refusal is known.',
        },
      },
      ['resource'],
    ),
    answers: explained,
    refuses,
    handle: async ({ body: query }) => json(await explainAll(context, query)),
  }),
  route<ResourceQuery & OperatorFields & { dryRun?: boolean; timeoutSeconds?: number }>({
    method: 'post',
    path: '/sync',
    id: 'syncOne',
    command: 'sync USER|GROUP --json',
    summary: 'Compares one person or group with the platform and brings what differs, now.',
    body: body(
      {
        resource,
        target,
        dryRun: { ...booleanField, description: 'Tell what would be written, and write nothing.' },
        ...operatorFields,
        timeoutSeconds: {
          type: 'number',
          exclusiveMinimum: 0,
          maximum: 300,
          default: DEFAULT_SECONDS,
          description: 'How long to try.',
        },
      },
      ['resource'],
    ),
    answers: {
      status: 200,
      description: 'What differed, what was done, and how it stands; one for each target.',
      schema: arrayOf(refTo('SyncReport')),
    },
    refuses: { ...refuses, 409: 'The name means more than one; resources lists their refs.' },
    handle: async (call) => {
      const { body: query, signal } = call;
      const { dryRun = false, timeoutSeconds = DEFAULT_SECONDS } = query;
      const limitMs = timeoutSeconds * 1000;
      const options = { dryRun, actor: actor(query, call), limitMs, logger: context.logger, signal };
      const reports: SyncReport[] = [];
      for (const found of await findOne(context, query)) {
        for (const { scope } of context.scopes) {
          const isMeant = (query.target ?? scope.target.name) === scope.target.name;
          if (isMeant && scope.connection === found.connection)
            reports.push(await syncOne(scope, found, options));
        }
      }
      return json(reports);
    },
  }),
];

async function explainAll(
  context: AdminContext,
  { resource: name, target: only, readPlatform }: ExplainOrder,
) {
  requireTarget(context, only);
  const scopes = context.scopes.map(({ scope }) => scope);
  const chosen = scopes.filter((scope) => only === undefined || scope.target.name === only);
  const found = await explain(chosen, name, context.readFleet, { readPlatform, logMs: LOG_MS });
  if (found.length === 0) throw unknown();
  return found;
}

/** Finds the one resource with this name. @throws Problem 404 for none, 409 for several */
async function findOne(
  context: AdminContext,
  { resource: name, target: only }: ResourceQuery,
): Promise<FoundResource[]> {
  requireTarget(context, only);
  const found = await findResources(toSearched(context.states), name);
  if (found.length === 0) throw unknown();
  if (new Set(found.map(({ ref }) => ref)).size > 1) {
    const resources = found.map((each) => ({ connection: each.connection, ref: each.ref, name: each.name }));
    throw new Problem(409, 'The name means more than one: ask again with one of these refs.', {
      extra: { resources },
    });
  }
  return found;
}

/** The message leaves out the name, because problem documents may be stored in logs. */
const unknown = (): Problem =>
  new Problem(
    404,
    'No person and no group has this name: the identity provider has not pushed it. ' +
      'Say a userName, externalId, address, group name, id, or a ref such as User:<id>.',
  );
