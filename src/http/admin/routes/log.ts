// Routes of the provisioning log, newest entry first.
import {
  LOG_ACTIONS,
  LOG_STATUSES,
  type LogAction,
  type LogStatus,
} from '../../../directory/logs/provisioning-log.ts';
import type { Ref } from '../../../directory/records.ts';
import { findResources, refIn, toSearched } from '../../../ops/find.ts';
import type { SearchStep } from '../../../ops/log/newest-first.ts';
import { searchLog, verifyLogs, type LocatedEntry } from '../../../ops/log/provisioning-log.ts';
import { COLUMNS, flatten } from '../../../ops/log/provisioning-csv.ts';
import { toProvisioningRecord } from '../../../ops/log/provisioning-record.ts';
import {
  chainCheckFields,
  page,
  pageHeaders,
  readingRoutes,
  spanOf,
  type ExportQuery,
  type SpanQuery,
} from '../log-page.ts';
import { Problem } from '../problem.ts';
import {
  json,
  requireConnectionAndTarget,
  getRoute,
  type AdminAnswer,
  type AdminContext,
  type AdminRoute,
} from '../route.ts';
import { arrayOf, object, onlyConnection, onlyTarget, textField } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

interface LogQuery extends SpanQuery {
  resource?: string;
  action?: LogAction[];
  status?: LogStatus[];
  connection?: string;
  target?: string;
}

/**
 * Header of the answer: ref of the one resource that the filter `resource` named. A client may put this ref into an address, which
 * proxies may log, but not the name: a name is personal data.
 */
const RESOURCE = 'X-Resource';
/** Characters that a header may have without encoding. */
const HEADER_TEXT = /^[\x21-\x7e]+$/;
const filters = {
  resource: { ...textField, description: 'Only this person or group: a name, an id or a ref.' },
  action: { ...arrayOf({ enum: LOG_ACTIONS }), description: 'Only entries with these actions.' },
  status: { ...arrayOf({ enum: LOG_STATUSES }), description: 'Only entries with these statuses.' },
  connection: onlyConnection,
  target: onlyTarget,
};
const answers = {
  description: 'Newest first over all connections and targets.',
  headers: {
    ...pageHeaders,
    [RESOURCE]:
      'The ref of the resource that `resource` names, if it names exactly one. A ref, unlike a name, may be put in an address.',
  },
  schema: arrayOf(refTo('ProvisioningRecord')),
};
const refuses = { 404: 'No person and no group has this name, or there is no such connection or target.' };

export const logRoutes = (context: AdminContext): AdminRoute[] => [
  ...readingRoutes<LogQuery>({
    path: '/log',
    ids: {
      search: 'readLog',
      searchByBody: 'searchLog',
      export: 'exportLog',
      exportByBody: 'exportLogBySearch',
    },
    command: 'log --json',
    exportCommand: 'log --csv',
    summary: 'Reads the provisioning log: every change at the platform, refusal, hold and skip.',
    exportSummary: 'Exports the provisioning log as a file.',
    filters,
    answers,
    refuses,
    read: (query) => read(context, query),
    exported: (query, signal) => exported(context, query, signal),
  }),
  getRoute('/log/verify', 'verifyLog', {
    command: 'log --verify',
    summary: 'Checks whether an entry was changed or removed after it was written.',
    answers: {
      description: 'One result for each log; broken is the first entry that does not fit the hash chain.',
      schema: arrayOf(object({ connection: textField, target: textField, ...chainCheckFields })),
    },
    handle: async () => json(await verifyLogs(context.states)),
  }),
];

/** Returns a page of entries, with the ref of the resource in a header if the name means exactly one. */
async function read(context: AdminContext, query: LogQuery): Promise<AdminAnswer> {
  const { steps, refs } = await search(context, query);
  const answer = await page(context, steps, toProvisioningRecord, query.limit);
  const [ref, ...others] = new Set(refs);
  if (ref === undefined || others.length > 0 || !HEADER_TEXT.test(ref)) return answer;
  return { ...answer, headers: { ...answer.headers, [RESOURCE]: ref } };
}

async function exported(
  context: AdminContext,
  query: LogQuery & ExportQuery,
  signal: AbortSignal,
): Promise<AdminAnswer> {
  const { steps } = await search(context, query);
  const log = {
    name: 'provisioning-log',
    steps,
    columns: COLUMNS,
    toCells: (entry: LocatedEntry) => flatten(toProvisioningRecord(entry)),
    toRecord: toProvisioningRecord,
  };
  return context.logExports.answer(log, query, signal);
}

/** Starts a search; `refs` are the resources with the given name. @throws Problem 404 for a name that nothing has */
async function search(
  context: AdminContext,
  query: LogQuery,
): Promise<{ steps: AsyncIterable<SearchStep<LocatedEntry>>; refs: Ref[] | undefined }> {
  const { resource, action, status, connection, target } = query;
  requireConnectionAndTarget(context, query);
  const { states } = context;
  const span = spanOf(query);
  const found = resource === undefined ? undefined : await findResources(toSearched(states), resource);
  // A person who was forgotten is known by the ref only, under which the log still has entries.
  const forgottenRef = resource !== undefined && found?.length === 0 ? refIn(resource) : undefined;
  if (found?.length === 0 && !forgottenRef) throw new Problem(404, 'No person and no group has this name.');
  const refs = forgottenRef ? [forgottenRef] : found?.map(({ ref }) => ref);
  const filter = { refs, actions: action, statuses: status, connection, target, ...span };
  return { steps: searchLog(states, filter), refs };
}
