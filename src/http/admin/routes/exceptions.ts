// Route that lists exceptions: resources that differ from the desired state until a person acts.
import { EXCEPTION_REASONS, type ExceptionReason } from '../../../directory/outbox/exceptions.ts';
import { listExceptions } from '../../../ops/exceptions.ts';
import { json, requirePlace, route, type AdminContext, type AdminRoute } from '../route.ts';
import { MOST_OF_A_PAGE, pageQuery } from '../list-page.ts';
import { arrayOf, textField, toQuery } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

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
};

export const exceptionRoutes = (context: AdminContext): AdminRoute[] => [
  route<undefined, ExceptionQuery>({
    method: 'get',
    path: '/exceptions',
    id: 'listExceptions',
    command: 'exceptions --json',
    summary: 'Lists people and groups that differ from the desired state until a person acts.',
    query: { ...toQuery(fields), ...pageQuery('exceptions') },
    answers: {
      status: 200,
      description: 'By connection, target and reason, the oldest first. GET /status has their numbers.',
      schema: arrayOf(refTo('Exception')),
    },
    refuses: { 404: 'There is no such connection or target.' },
    handle: async ({ query }) => {
      requirePlace(context, query);
      return json(await listExceptions(context.states, { ...query, limit: query.limit ?? MOST_OF_A_PAGE }));
    },
  }),
];
