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
import { arrayOf, body, object, textField, integerField } from '../schema-fields.ts';
import {
  checked,
  exportAnswers,
  exportFields,
  page,
  pageHeaders,
  requiring,
  spanFields,
  spanOf,
  toQuery,
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

const dateTime = { ...textField, format: 'date-time' };
const filters = {
  action: { ...arrayOf({ enum: ACTS }), description: 'Only these orders.' },
  via: { ...arrayOf({ enum: INTERFACES }), description: 'Only orders that came this way.' },
  by: { ...textField, maxLength: 200, description: "Only orders whose operator's name has this part." },
  connection: { ...textField, description: 'Only this connection.' },
  target: { ...textField, description: 'Only orders about this target, or about a whole connection.' },
};
const fields = { ...filters, ...spanFields };
const exportedFields = { ...filters, ...exportFields };

const act = object(
  {
    ...{ id: textField, at: dateTime, connection: textField, target: textField, act: { enum: ACTS } },
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
  route<undefined, ActQuery>({
    method: 'get',
    path: '/acts',
    id: 'listActs',
    twin: 'acts --json',
    summary: 'What operators ordered, who and when: holds, decisions, tokens, links.',
    query: toQuery(fields),
    answers,
    refuses,
    handle: ({ query }) => read(context, query),
  }),
  route<ActQuery>({
    method: 'post',
    path: '/acts/search',
    id: 'searchActs',
    right: 'read',
    twin: 'acts --json',
    summary: 'The same, with names in the body.',
    body: body(fields),
    bodyOptional: true,
    answers,
    refuses,
    handle: ({ body: query }) => read(context, query),
  }),
  route<undefined, ActQuery & ExportQuery>({
    method: 'get',
    path: '/acts/export',
    id: 'exportActs',
    summary: 'What operators ordered, as a file.',
    query: requiring('format', toQuery(exportedFields)),
    answers: exportAnswers,
    refuses,
    handle: ({ query, signal }) => exported(context, query, signal),
  }),
  route<ActQuery & ExportQuery>({
    method: 'post',
    path: '/acts/export',
    id: 'exportActsBySearch',
    right: 'read',
    summary: 'The same, with names in the body.',
    body: body(exportedFields, ['format']),
    answers: exportAnswers,
    refuses,
    handle: ({ body: query, signal }) => exported(context, query, signal),
  }),
  route({
    method: 'get',
    path: '/acts/verify',
    id: 'verifyActs',
    twin: 'acts --verify',
    summary: 'Whether any of them was altered or taken out since it was written.',
    answers: {
      status: 200,
      description: 'One for each connection; broken names the first entry that does not fit.',
      schema: arrayOf(object({ connection: textField, ...checked })),
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
