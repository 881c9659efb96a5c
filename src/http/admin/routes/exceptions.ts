// Route that lists exceptions: resources that differ from the desired state until a person acts.
import { EXCEPTION_REASONS, type ExceptionReason } from '../../../directory/outbox/exceptions.ts';
import { listExceptions } from '../../../ops/exceptions.ts';
import { json, requirePlace, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, integerField, textField, toQuery } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

const LIMIT = 1000;

interface ExceptionQuery {
  connection?: string;
  target?: string;
  reason?: ExceptionReason;
  offset?: number;
  limit?: number;
}

const fields = {
  connection: { ...textField, description: 'Only this connection.' },
  target: { ...textField, description: 'Only this target.' },
  reason: { enum: [...EXCEPTION_REASONS], description: 'Only this reason.' },
  offset: { ...integerField, minimum: 0, description: 'Number of exceptions to leave out at the beginning.' },
  limit: {
    ...integerField,
    minimum: 1,
    maximum: LIMIT,
    default: LIMIT,
    description: 'Largest number of exceptions.',
  },
};

export const exceptionRoutes = (context: AdminContext): AdminRoute[] => [
  route<undefined, ExceptionQuery>({
    method: 'get',
    path: '/exceptions',
    id: 'listExceptions',
    command: 'exceptions --json',
    summary: 'Lists people and groups that differ from the desired state until a person acts.',
    query: toQuery(fields),
    answers: {
      status: 200,
      description: 'By connection, target and reason, the oldest first. GET /status has their numbers.',
      schema: arrayOf(refTo('Exception')),
    },
    refuses: { 404: 'There is no such connection or target.' },
    handle: async ({ query }) => {
      requirePlace(context, query);
      return json(await listExceptions(context.states, { ...query, limit: query.limit ?? LIMIT }));
    },
  }),
];
