// Routes of the provisioning log, newest entry first.
import {
  LOG_ACTIONS,
  LOG_STATUSES,
  type LogAction,
  type LogStatus,
} from '../../../directory/logs/provisioning-log.ts';
import { findResources, toSearched } from '../../../ops/find.ts';
import { readLog, toProvisioningRecord, type LogFilter } from '../../../ops/provisioning-log.ts';
import { Problem } from '../problem.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, object, refTo, textField, integerField } from '../schemas.ts';

interface LogQuery {
  resource?: string;
  action?: LogAction[];
  status?: LogStatus[];
  connection?: string;
  target?: string;
  since?: string;
  until?: string;
  limit?: number;
}

const DEFAULT_LIMIT = 100;
const MOST = 10_000;
/** Largest page in bytes: an entry may list a hundred members or long values. */
const MOST_BYTES = 4 * 1024 * 1024;
const dateTime = { ...textField, format: 'date-time' };
const fields = {
  resource: { ...textField, description: 'Only this person or group: a name, an id or a ref.' },
  action: { ...arrayOf({ enum: LOG_ACTIONS }), description: 'Only these.' },
  status: { ...arrayOf({ enum: LOG_STATUSES }), description: 'Only these.' },
  connection: { ...textField, description: 'Only this connection.' },
  target: { ...textField, description: 'Only this target.' },
  since: { ...dateTime, description: 'From then on.' },
  until: { ...dateTime, description: 'Until then.' },
  limit: {
    ...integerField,
    minimum: 1,
    maximum: MOST,
    default: DEFAULT_LIMIT,
    description:
      'Most entries; fewer where they would be more than 4 MB: then ask for those before the last one.',
  },
};
const answers = {
  status: 200,
  description: 'Newest first within each connection and target.',
  schema: arrayOf(refTo('ProvisioningRecord')),
};
const refuses = { 404: 'Nobody and no group is known so.' };

export const logRoutes = (context: AdminContext): AdminRoute[] => [
  route<undefined, LogQuery>({
    method: 'get',
    path: '/log',
    id: 'readLog',
    twin: 'log --json',
    summary: 'The provisioning log: every change at the platform, refusal, hold and skip.',
    query: Object.fromEntries(
      Object.entries(fields).map(([name, schema]) => [name, { description: schema.description, schema }]),
    ),
    answers,
    refuses,
    handle: async ({ query }) => json(await read(context, query)),
  }),
  route<LogQuery>({
    method: 'post',
    path: '/log/search',
    id: 'searchLog',
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
      schema: arrayOf(
        object({
          connection: textField,
          target: textField,
          entries: integerField,
          broken: { type: ['string', 'null'] },
        }),
      ),
    },
    handle: async () => {
      const logs = context.states.flatMap(({ connection, outboxes }) =>
        [...outboxes].map(([target, { log }]) => ({ connection, target, log })),
      );
      const verified = logs.map(async ({ connection, target, log }) => {
        const [entries, broken] = await Promise.all([log.size(), log.firstBroken()]);
        return { connection, target, entries, broken: broken ?? null };
      });
      return json(await Promise.all(verified));
    },
  }),
];

async function read({ states }: AdminContext, query: LogQuery) {
  const { resource, action, status, connection, target, limit = DEFAULT_LIMIT } = query;
  const found = resource === undefined ? undefined : await findResources(toSearched(states), resource);
  if (found?.length === 0) throw new Problem(404, 'Nobody and no group is known so.');
  const filter: LogFilter = {
    ...{ refs: found?.map(({ ref }) => ref), actions: action, statuses: status, connection, target },
    ...{ since: moment('since', query.since), until: moment('until', query.until) },
  };
  const records = [];
  let bytes = 0;
  for await (const entry of readLog(states, filter)) {
    const record = toProvisioningRecord(entry);
    bytes += JSON.stringify(record).length;
    // A page has at least one entry, so that paging makes progress.
    if (records.length >= limit || (records.length > 0 && bytes > MOST_BYTES)) break;
    records.push(record);
  }
  return records;
}

function moment(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const at = Date.parse(given);
  if (Number.isNaN(at)) throw new Problem(400, `${name}: write a date such as 2027-01-31T08:00:00Z.`);
  return at;
}
