// Routes of exceptions: lists what stays otherwise than desired by a decision.
import { EXCEPTION_REASONS, type ExceptionReason } from '../../../directory/outbox/exceptions.ts';
import { listExceptions } from '../../../ops/exceptions.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { toQuery } from '../log-page.ts';
import { arrayOf, refTo, textField } from '../schemas.ts';

const LIMIT = 1000;

interface ExceptionQuery {
  connection?: string;
  target?: string;
  reason?: ExceptionReason;
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
    twin: 'exceptions --json',
    summary: 'People and groups that stay otherwise than desired by a decision.',
    query: toQuery(fields),
    answers: {
      status: 200,
      description: `The oldest ${LIMIT} of each target; the status has their numbers.`,
      schema: arrayOf(refTo('Exception')),
    },
    handle: async ({ query }) => json(await listExceptions(context.states, { ...query, limit: LIMIT })),
  }),
];
