// Routes of the provisioning log, newest entry first.
import {
  LOG_ACTIONS,
  LOG_STATUSES,
  type LogAction,
  type LogStatus,
} from '../../../directory/logs/provisioning-log.ts';
import { findResources, toSearched } from '../../../ops/find.ts';
import {
  readLog,
  toProvisioningRecord,
  verifyLogs,
  type LocatedEntry,
  type LogFilter,
  type ProvisioningRecord,
} from '../../../ops/provisioning-log.ts';
import { checked, page, spanFields, spanOf, toQuery, type SpanQuery } from '../log-page.ts';
import { Problem } from '../problem.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, object, textField } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

interface LogQuery extends SpanQuery {
  resource?: string;
  action?: LogAction[];
  status?: LogStatus[];
  connection?: string;
  target?: string;
}

const fields = {
  resource: { ...textField, description: 'Only this person or group: a name, an id or a ref.' },
  action: { ...arrayOf({ enum: LOG_ACTIONS }), description: 'Only these.' },
  status: { ...arrayOf({ enum: LOG_STATUSES }), description: 'Only these.' },
  connection: { ...textField, description: 'Only this connection.' },
  target: { ...textField, description: 'Only this target.' },
  ...spanFields,
};
const answers = {
  status: 200,
  description: 'Newest first over all connections and targets.',
  schema: arrayOf(refTo('ProvisioningRecord')),
};
const refuses = { 404: 'No person and no group has this name.' };

export const logRoutes = (context: AdminContext): AdminRoute[] => [
  route<undefined, LogQuery>({
    method: 'get',
    path: '/log',
    id: 'readLog',
    twin: 'log --json',
    summary: 'The provisioning log: every change at the platform, refusal, hold and skip.',
    query: toQuery(fields),
    answers,
    refuses,
    handle: async ({ query }) => json(await read(context, query)),
  }),
  route<LogQuery>({
    method: 'post',
    path: '/log/search',
    id: 'searchLog',
    right: 'read',
    twin: 'log --json',
    summary: 'The same, with names in the body.',
    body: body(fields),
    bodyOptional: true,
    answers,
    refuses,
    handle: async ({ body: query }) => json(await read(context, query)),
  }),
  route({
    method: 'get',
    path: '/log/verify',
    id: 'verifyLog',
    twin: 'log --verify',
    summary: 'Whether any entry was altered or taken out since it was written.',
    answers: {
      status: 200,
      description: 'One for each log; broken names the first entry that does not fit.',
      schema: arrayOf(object({ connection: textField, target: textField, ...checked })),
    },
    handle: async () => json(await verifyLogs(context.states)),
  }),
];

async function read({ states }: AdminContext, query: LogQuery) {
  const { resource, action, status, connection, target } = query;
  const span = spanOf(query);
  const found = resource === undefined ? undefined : await findResources(toSearched(states), resource);
  if (found?.length === 0) throw new Problem(404, 'No person and no group has this name.');
  const filter: LogFilter = {
    ...{ refs: found?.map(({ ref }) => ref), actions: action, statuses: status, connection, target },
    ...span,
  };
  return page(recordsOf(readLog(states, filter)), query.limit);
}

async function* recordsOf(entries: AsyncIterable<LocatedEntry>): AsyncGenerator<ProvisioningRecord> {
  for await (const entry of entries) yield toProvisioningRecord(entry);
}
