// Routes of refused security events: lists them, and sends or drops them.
import { listRefusedEvents, resolveRefusedEvents } from '../../../ops/events.ts';
import { orderRoute } from '../operator-fields.ts';
import { json, getRoute, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, object, integerField } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

export const eventRoutes = (context: AdminContext): AdminRoute[] => [
  getRoute('/events/refused', 'listRefusedEvents', {
    command: 'events refused --json',
    summary: 'Lists the security events that a receiver refused, with the reason that the receiver gave.',
    answers: {
      description: 'All refused events that are kept.',
      schema: arrayOf(refTo('RefusedEvent')),
    },
    handle: async () => json(await listRefusedEvents(context.states)),
  }),
  resolve(context, 'retry', 'Sends all refused events again, after the pending ones.'),
  resolve(context, 'drop', 'Drops all refused events.'),
];

const resolve = (context: AdminContext, name: 'retry' | 'drop', summary: string): AdminRoute =>
  orderRoute(`/events/${name}`, `${name}RefusedEvents`, {
    command: `events ${name}`,
    summary,
    answers: {
      description: 'Number of events that were sent again or dropped.',
      schema: object({ count: integerField }),
    },
    handle: async (_order, actor) => json({ count: await resolveRefusedEvents(context.states, name, actor) }),
  });
