// Routes of the audit log of operators (command `acts`).
import { ACTS, INTERFACES } from '../../../directory/logs/acts.ts';
import {
  ACT_COLUMNS,
  actCells,
  searchActs,
  verifyActs,
  type ActFilter,
  type LocatedAct,
} from '../../../ops/log/acts.ts';
import { json, requireConnectionAndTarget, getRoute, type AdminContext, type AdminRoute } from '../route.ts';
import {
  arrayOf,
  dateTime,
  object,
  onlyConnection,
  textField,
  integerField,
  omittable,
} from '../schema-fields.ts';
import { chainCheckFields, page, pageHeaders, readingRoutes, spanOf, type SpanQuery } from '../log-page.ts';

interface ActQuery extends SpanQuery {
  action?: (typeof ACTS)[number][];
  via?: (typeof INTERFACES)[number][];
  by?: string;
  connection?: string;
  target?: string;
}

const filters = {
  action: { ...arrayOf({ enum: ACTS }), description: 'Only these kinds of order.' },
  via: { ...arrayOf({ enum: INTERFACES }), description: 'Only orders that were given by these interfaces.' },
  by: {
    ...textField,
    maxLength: 200,
    description: 'Only orders of operators whose name contains this text.',
  },
  connection: onlyConnection,
  target: { ...textField, description: 'Only orders about this target, or about a whole connection.' },
};

const actSchema = object({
  id: textField,
  at: dateTime,
  connection: textField,
  target: omittable(textField),
  act: { enum: ACTS },
  by: { ...textField, description: 'The name that the operator gave, or the account at the machine.' },
  via: { enum: INTERFACES },
  subject: omittable({
    ...textField,
    description: 'The approval, token, resources or backup that the order is about.',
  }),
  count: omittable({
    ...integerField,
    description: 'Number of resources or items that the order reached.',
  }),
  note: omittable(textField),
  order: omittable({
    ...textField,
    description: 'Of forget: the id that entries of the logs name in place of the data.',
  }),
  forgotten: omittable({
    const: true,
    description: 'Subject and note were personal data and are removed.',
  }),
});

const answers = {
  description: 'Newest first over all connections.',
  headers: pageHeaders,
  schema: arrayOf(actSchema),
};
const refuses = { 404: 'There is no such connection or target.' };

export const actRoutes = (context: AdminContext): AdminRoute[] => [
  ...readingRoutes<ActQuery>({
    path: '/acts',
    ids: {
      search: 'listActs',
      searchByBody: 'searchActs',
      export: 'exportActs',
      exportByBody: 'exportActsBySearch',
    },
    command: 'acts --json',
    summary: 'Lists the orders of operators, with operator and time: holds, decisions, tokens, links.',
    exportSummary: 'Exports the orders of operators as a file.',
    filters,
    answers,
    refuses,
    read: (query) =>
      page(context, searchActs(context.states, filterOf(context, query)), (found) => found, query.limit),
    exported: (query, signal) => {
      const steps = searchActs(context.states, filterOf(context, query));
      const toRecord = (found: LocatedAct): LocatedAct => found;
      const log = { name: 'acts', steps, columns: ACT_COLUMNS, toCells: actCells, toRecord };
      return context.logExports.answer(log, query, signal);
    },
  }),
  getRoute('/acts/verify', 'verifyActs', {
    command: 'acts --verify',
    summary: 'Checks whether an entry was changed or removed after it was written.',
    answers: {
      description:
        'One result for each connection; broken is the first entry that does not fit the hash chain.',
      schema: arrayOf(object({ connection: textField, ...chainCheckFields })),
    },
    handle: async () => json(await verifyActs(context.states)),
  }),
];

/** @throws Problem 404 for an unknown connection or target */
function filterOf(context: AdminContext, query: ActQuery): ActFilter {
  const { action: actions, via: ways, by, connection, target } = query;
  requireConnectionAndTarget(context, query);
  return { actions, ways, by, connection, target, ...spanOf(query) };
}
