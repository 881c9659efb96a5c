// Route that lists the resources whose changes are not applied yet.
import { PRIORITIES } from '../../../directory/records.ts';
import { listWaiting, type WaitingFilter } from '../../../ops/waiting.ts';
import { MOST_OF_A_PAGE, pageQuery } from '../list-page.ts';
import { json, requireTarget, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, dateTime, object, textField } from '../schema-fields.ts';

export const waitingRoutes = (context: AdminContext): AdminRoute[] => [
  route<undefined, Partial<WaitingFilter>>({
    method: 'get',
    path: '/waiting',
    id: 'listWaiting',
    summary: 'Lists people and groups whose newest change is not applied yet, in the order of their syncs.',
    query: {
      target: { description: 'Only this target.', schema: textField },
      ...pageQuery('resources'),
    },
    answers: {
      status: 200,
      description: 'By connection and target. GET /status has their number as dirty.',
      schema: arrayOf(
        object({
          connection: textField,
          target: textField,
          ref: textField,
          kind: { enum: ['User', 'Group'] },
          name: textField,
          since: dateTime,
          priority: { enum: [...PRIORITIES, null] },
          state: { enum: ['due', 'queued', 'running'], description: 'due: not yet in the queue' },
          nextTry: { type: ['string', 'null'], description: 'When it is queued; null: it is in the queue.' },
        }),
      ),
    },
    refuses: { 404: 'There is no such target.' },
    handle: async ({ query: { target, offset, limit = MOST_OF_A_PAGE } }) => {
      requireTarget(context, target);
      return json(await listWaiting(context.states, { target, offset, limit }));
    },
  }),
];
