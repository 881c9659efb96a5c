// Routes of the audit log of operators (command `acts`).
import { ACTS } from '../../../directory/logs/acts.ts';
import { readActs, verifyActs } from '../../../ops/acts.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, object, textField, integerField } from '../schemas.ts';

const DEFAULT_LIMIT = 100;
const MOST = 20_000;
const dateTime = { ...textField, format: 'date-time' };

const act = object(
  {
    ...{ id: textField, at: dateTime, connection: textField, target: textField, act: { enum: ACTS } },
    by: { ...textField, description: 'The name that the operator gave, or the account at the machine.' },
    via: { enum: ['command', 'admin API'] },
    subject: { ...textField, description: 'Which approval, token, resources or backup.' },
    count: { ...integerField, description: 'How many resources or items it reached.' },
    note: textField,
  },
  ['id', 'at', 'connection', 'act', 'by', 'via'],
);

export const actRoutes = ({ states }: AdminContext): AdminRoute[] => [
  route<undefined, { limit?: number }>({
    method: 'get',
    path: '/acts',
    id: 'listActs',
    twin: 'acts --json',
    summary: 'What operators ordered, who and when: holds, decisions, tokens, links.',
    query: {
      limit: {
        description: 'Most entries.',
        schema: { ...integerField, minimum: 1, maximum: MOST, default: DEFAULT_LIMIT },
      },
    },
    answers: { status: 200, description: 'Newest first within each connection.', schema: arrayOf(act) },
    handle: async ({ query: { limit = DEFAULT_LIMIT } }) => {
      const found = [];
      for await (const each of readActs(states)) {
        if (found.length >= limit) break;
        found.push(each);
      }
      return json(found);
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
      schema: arrayOf(
        object({ connection: textField, entries: integerField, broken: { type: ['string', 'null'] } }),
      ),
    },
    handle: async () => json(await verifyActs(states)),
  }),
];
