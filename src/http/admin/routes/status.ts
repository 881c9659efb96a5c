// Routes of the state of each target: status, its stream and history, waiting changes and exceptions; and of the settings.
import { readStatus } from '../../../ops/status/status.ts';
import { type AdminContext, type AdminRoute, getRoute, json, requireFed, requireTarget } from '../route.ts';
import {
  eachOf,
  arrayOf,
  dateTime,
  integerField,
  kindField,
  nullable,
  object,
  onlyConnection,
  onlyTarget,
  textField,
  toQuery,
  unixMs,
} from '../schema-fields.ts';
import { refTo } from '../schemas.ts';
import { HISTORY_RANGES, type HistoryRange } from '../../../directory/history/slots.ts';
import { PRIORITIES } from '../../../directory/records.ts';
import { HISTORY_SERIES, readTargetHistory } from '../../../ops/status/target-history.ts';
import { listWaiting, type WaitingFilter } from '../../../ops/status/waiting.ts';
import { MOST_OF_A_PAGE, pageFields } from '../list-page.ts';
import { EXCEPTION_REASONS } from '../../../directory/outbox/exceptions.ts';
import { listExceptions, type ExceptionFilter } from '../../../ops/approvals/exceptions.ts';

const series = arrayOf(nullable('integer'));

const exceptionFields = {
  connection: onlyConnection,
  target: onlyTarget,
  reason: { enum: [...EXCEPTION_REASONS], description: 'Only this reason.' },
};

export const statusRoutes = (context: AdminContext): AdminRoute[] => [
  getRoute('/status', 'readStatus', {
    command: 'status --json',
    summary: 'Shows the backlog of each target, and what needs a person.',
    answers: {
      description: 'One row for each connection and target.',
      schema: arrayOf(refTo('TargetStatus')),
    },
    handle: async () => json(await readStatus(context.states, context, context.coverageOf)),
  }),
  getRoute('/config', 'readConfig', {
    command: 'check-config --print --json',
    summary: 'Shows the effective settings, with secrets masked.',
    answers: { description: 'All settings with their values.', schema: { type: 'object' } },
    handle: () => json(context.settings()),
  }),
  getRoute('/live', 'watchStatus', {
    summary: 'Streams the status when it changes, as server-sent events.',
    answers: {
      description:
        'Event status: the answer of /status, sent when it has changed. Event beat, every two seconds: statusAgeMs is ' +
        'the age of the status; null before the first read. The stream ends after five minutes, with the session, and ' +
        'when this process stops.',
      contentType: 'text/event-stream',
      schema: textField,
    },
    refuses: { 503: 'Too many streams are open at this process, or Redis does not answer.' },
    handle: ({ caller, signal }) => context.openLive(caller, signal),
  }),
  getRoute<{ target: string; range?: HistoryRange }>('/history', 'readHistory', {
    summary:
      'Reads the numbers of a target over time: pushes, calls, lag, backlog, and changes that need a person.',
    query: {
      target: { description: 'Name of the target.', schema: textField, required: true },
      range: {
        description: 'The last hour, day or month, in slots of 10 seconds, 5 minutes or 2 hours.',
        schema: { enum: Object.keys(HISTORY_RANGES), default: '1h' },
      },
    },
    answers: {
      description:
        'One number for each slot, the oldest first; null: no process ran. Pushes and calls are counts within the slot. Lag, backlog, held, dead letters, exceptions ' +
        'and drift are the largest value within the slot. The last slot is not complete yet.',
      schema: object({
        target: textField,
        range: { enum: Object.keys(HISTORY_RANGES) },
        from: unixMs,
        now: unixMs,
        stepMs: integerField,
        requestsPerSecond: { type: 'number', description: 'Rate limit of the target.' },
        series: object({ ...eachOf(HISTORY_SERIES, series), backlog: object(eachOf(PRIORITIES, series)) }),
      }),
    },
    refuses: { 404: 'There is no such target.' },
    handle: async ({ query: { target, range = '1h' } }) => {
      requireTarget(context, target);
      return json(await readTargetHistory(context.history, target, range));
    },
  }),
  getRoute<Partial<WaitingFilter>>('/waiting', 'listWaiting', {
    summary: 'Lists people and groups whose newest change is not applied yet, in the order of their syncs.',
    query: toQuery({ target: onlyTarget, ...pageFields('resources') }),
    answers: {
      description: 'By connection and target. GET /status has their number as dirty.',
      schema: arrayOf(
        object({
          ...eachOf(['connection', 'target', 'ref'], textField),
          kind: kindField,
          name: textField,
          since: dateTime,
          priority: { enum: [...PRIORITIES, null] },
          state: { enum: ['due', 'queued', 'running'], description: 'due: not yet in the queue' },
          nextTry: {
            ...nullable('string'),
            description: 'Time at which it enters the queue; null: it is already there.',
          },
        }),
      ),
    },
    refuses: { 404: 'There is no such target.' },
    handle: async ({ query: { target, offset, limit = MOST_OF_A_PAGE } }) => {
      requireTarget(context, target);
      return json(await listWaiting(context.states, { target, offset, limit }));
    },
  }),
  getRoute<Partial<ExceptionFilter>>('/exceptions', 'listExceptions', {
    command: 'exceptions --json',
    summary: 'Lists people and groups that differ from the desired state until a person acts.',
    query: toQuery({ ...exceptionFields, ...pageFields('exceptions') }),
    answers: {
      description: 'By connection, target and reason, the oldest first. GET /status has their numbers.',
      schema: arrayOf(refTo('Exception')),
    },
    refuses: { 404: 'There is no such connection or target.' },
    handle: async ({ query }) => {
      requireFed(context, query);
      return json(await listExceptions(context.states, { ...query, limit: query.limit ?? MOST_OF_A_PAGE }));
    },
  }),
];
