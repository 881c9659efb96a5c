// Routes of refused security events: lists them, and sends or drops them.
import { listRefusedEvents, resolveRefusedEvents } from '../../../ops/events.ts';
import { actor, operatorFields, type OperatorFields } from '../operator-fields.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, object, integerField } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

export const eventRoutes = (context: AdminContext): AdminRoute[] => [
  route({
    method: 'get',
    path: '/events/refused',
    id: 'listRefusedEvents',
    command: 'events refused --json',
    summary: 'Lists the security events that a receiver refused, with the reason that the receiver gave.',
    answers: {
      status: 200,
      description: 'All refused events that are kept.',
      schema: arrayOf(refTo('RefusedEvent')),
    },
    handle: async () => json(await listRefusedEvents(context.states)),
  }),
  resolve(context, 'retry', 'Sends all refused events again, after the pending ones.'),
  resolve(context, 'drop', 'Drops all refused events.'),
];

/** Returns the route that sends or drops all refused events. */
const resolve = (context: AdminContext, name: 'retry' | 'drop', summary: string): AdminRoute =>
  route<OperatorFields>({
    method: 'post',
    path: `/events/${name}`,
    id: `${name}RefusedEvents`,
    command: `events ${name}`,
    summary,
    body: body({ ...operatorFields }),
    bodyOptional: true,
    answers: {
      status: 200,
      description: 'Number of events that were sent again or dropped.',
      schema: object({ count: integerField }),
    },
    handle: async (call) =>
      json({ count: await resolveRefusedEvents(context.states, name, actor(call.body, call)) }),
  });
