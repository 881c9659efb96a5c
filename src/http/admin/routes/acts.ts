// Routes of the audit log of operators (command `acts`).
import { ACTS, INTERFACES } from '../../../directory/logs/acts.ts';
import {
  ACT_COLUMNS,
  actCells,
  searchActs,
  verifyActs,
  type ActFilter,
  type LocatedAct,
} from '../../../ops/acts.ts';
import {
  json,
  requireTarget,
  route,
  type AdminAnswer,
  type AdminContext,
  type AdminRoute,
} from '../route.ts';
import { arrayOf, dateTime, object, textField, integerField } from '../schema-fields.ts';
import {
  chainCheckFields,
  page,
  pageHeaders,
  readingRoutes,
  spanOf,
  type ExportQuery,
  type SpanQuery,
} from '../log-page.ts';

interface ActQuery extends SpanQuery {
  action?: (typeof ACTS)[number][];
  via?: (typeof INTERFACES)[number][];
  by?: string;
  connection?: string;
  target?: string;
}

const filters = {
  action: { ...arrayOf({ enum: ACTS }), description: 'Only these orders.' },
  via: { ...arrayOf({ enum: INTERFACES }), description: 'Only orders that came this way.' },
  by: { ...textField, maxLength: 200, description: "Only orders whose operator's name has this part." },
  connection: { ...textField, description: 'Only this connection.' },
  target: { ...textField, description: 'Only orders about this target, or about a whole connection.' },
};

const act = object(
  {
    id: textField,
    at: dateTime,
    connection: textField,
    target: textField,
    act: { enum: ACTS },
    by: { ...textField, description: 'The name that the operator gave, or the account at the machine.' },
    via: { enum: INTERFACES },
    subject: { ...textField, description: 'Which approval, token, resources or backup.' },
    count: { ...integerField, description: 'How many resources or items it reached.' },
    note: textField,
    order: {
      ...textField,
      description: 'Of forget: the id that entries of the logs name in place of the data.',
    },
    forgotten: { const: true, description: 'Subject and note were personal data and are removed.' },
  },
  ['id', 'at', 'connection', 'act', 'by', 'via'],
);

const answers = {
  status: 200,
  description: 'Newest first over all connections.',
  headers: pageHeaders,
  schema: arrayOf(act),
};
const refuses = { 404: 'There is no such target.' };

export const actRoutes = (context: AdminContext): AdminRoute[] => [
  ...readingRoutes<ActQuery>({
    path: '/acts',
    ids: ['listActs', 'searchActs', 'exportActs', 'exportActsBySearch'],
    command: 'acts --json',
    summary: 'What operators ordered, who and when: holds, decisions, tokens, links.',
    exportSummary: 'What operators ordered, as a file.',
    filters,
    answers,
    refuses,
    read: (query) => read(context, query),
    exported: (query, signal) => exported(context, query, signal),
  }),
  route({
    method: 'get',
    path: '/acts/verify',
    id: 'verifyActs',
    command: 'acts --verify',
    summary: 'Whether any of them was altered or taken out since it was written.',
    answers: {
      status: 200,
      description: 'One for each connection; broken names the first entry that does not fit.',
      schema: arrayOf(object({ connection: textField, ...chainCheckFields })),
    },
    handle: async () => json(await verifyActs(context.states)),
  }),
];

/** @throws Problem 404 for an unknown target */
function filterOf(context: AdminContext, query: ActQuery): ActFilter {
  const { action: actions, via: ways, by, connection, target } = query;
  requireTarget(context, target);
  return { actions, ways, by, connection, target, ...spanOf(query) };
}

// An async function, so that a refusal rejects as those of other routes do.
const read = async (context: AdminContext, query: ActQuery): Promise<AdminAnswer> =>
  page(context, searchActs(context.states, filterOf(context, query)), (found) => found, query.limit);

async function exported(
  context: AdminContext,
  query: ActQuery & ExportQuery,
  signal: AbortSignal,
): Promise<AdminAnswer> {
  const steps = searchActs(context.states, filterOf(context, query));
  const log = {
    name: 'acts',
    steps,
    columns: ACT_COLUMNS,
    toCells: actCells,
    toRecord: (found: LocatedAct) => found,
  };
  return Promise.resolve(context.logExports.answer(log, query, signal));
}
