// Routes of the audit log of operators (command `acts`).
import { ACTS, INTERFACES } from '../../../directory/logs/acts.ts';
import { readActs, verifyActs } from '../../../ops/acts.ts';
import { json, requireTarget, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, object, textField, integerField } from '../schema-fields.ts';
import { checked, page, spanFields, spanOf, toQuery, type SpanQuery } from '../log-page.ts';

interface ActQuery extends SpanQuery {
  action?: (typeof ACTS)[number][];
  connection?: string;
  target?: string;
}

const dateTime = { ...textField, format: 'date-time' };
const fields = {
  action: { ...arrayOf({ enum: ACTS }), description: 'Only these orders.' },
  connection: { ...textField, description: 'Only this connection.' },
  target: { ...textField, description: 'Only orders about this target, or about a whole connection.' },
  ...spanFields,
};

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

export const actRoutes = (context: AdminContext): AdminRoute[] => [
  route<undefined, ActQuery>({
    method: 'get',
    path: '/acts',
    id: 'listActs',
    twin: 'acts --json',
    summary: 'What operators ordered, who and when: holds, decisions, tokens, links.',
    query: toQuery(fields),
    answers: {
      status: 200,
      description: 'Newest first over all connections.',
      schema: arrayOf(act),
    },
    refuses: { 404: 'There is no such target.' },
    handle: async ({ query }) => {
      const { action: actions, connection, target } = query;
      requireTarget(context, target);
      const filter = { actions, connection, target, ...spanOf(query) };
      return json(await page(readActs(context.states, filter), query.limit));
    },
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
