// Routes of the status of each target and of the effective settings.
import { readStatus } from '../../../ops/status.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

export const statusRoutes = (context: AdminContext): AdminRoute[] => [
  route({
    method: 'get',
    path: '/status',
    id: 'readStatus',
    command: 'status --json',
    summary: 'Shows the backlog of each target, and what needs a person.',
    answers: {
      status: 200,
      description: 'One row for each connection and target.',
      schema: arrayOf(refTo('TargetStatus')),
    },
    handle: async () => json(await readStatus(context.states, context, context.coverageOf)),
  }),
  route({
    method: 'get',
    path: '/config',
    id: 'readConfig',
    command: 'check-config --print --json',
    summary: 'Shows the effective settings, with secrets masked.',
    answers: { status: 200, description: 'All settings with their values.', schema: { type: 'object' } },
    handle: () => Promise.resolve(json(context.settings())),
  }),
];
