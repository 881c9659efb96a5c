// Route of the live status: server-sent events.
import { route, type AdminContext, type AdminRoute } from '../route.ts';
import { textField } from '../schema-fields.ts';

export const liveRoutes = ({ openLive }: AdminContext): AdminRoute[] => [
  route({
    method: 'get',
    path: '/live',
    id: 'watchStatus',
    summary: 'Streams the status when it changes, as server-sent events.',
    answers: {
      status: 200,
      description:
        'Event status: the answer of /status, sent when it has changed. Event beat, every two seconds: statusAgeMs is ' +
        'the age of the status; null before the first read. The stream ends after five minutes, with the session, and ' +
        'when this process stops.',
      contentType: 'text/event-stream',
      schema: textField,
    },
    refuses: { 503: 'Too many streams are open at this process, or Redis does not answer.' },
    handle: ({ caller, signal }) => Promise.resolve(openLive(caller, signal)),
  }),
];
