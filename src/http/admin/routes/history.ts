// Route of the history: numbers of the last hour, day or month of one target, for plots.
import { HISTORY_RANGES, type HistoryRange } from '../../../directory/history/slots.ts';
import { PRIORITIES } from '../../../directory/records.ts';
import { HISTORY_SERIES, readTargetHistory } from '../../../ops/target-history.ts';
import { json, requireTarget, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, integerField, object, textField, unixMs } from '../schema-fields.ts';

const series = arrayOf({ type: ['integer', 'null'] });
const seriesOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, series]));

export const historyRoutes = (context: AdminContext): AdminRoute[] => [
  route<unknown, { target: string; range?: HistoryRange }>({
    method: 'get',
    path: '/history',
    id: 'readHistory',
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
      status: 200,
      description:
        'One number for each slot, the oldest first; null: no process ran. Lag, backlog, held, dead letters, exceptions ' +
        'and drift are the largest value within the slot. The last slot is not complete yet.',
      schema: object({
        target: textField,
        range: { enum: Object.keys(HISTORY_RANGES) },
        from: unixMs,
        now: unixMs,
        stepMs: integerField,
        requestsPerSecond: { type: 'number', description: 'Rate limit of the target.' },
        series: object({ ...seriesOf(HISTORY_SERIES), backlog: object(seriesOf(PRIORITIES)) }),
      }),
    },
    refuses: { 404: 'There is no such target.' },
    handle: async ({ query: { target, range = '1h' } }) => {
      requireTarget(context, target);
      return json(await readTargetHistory(context.history, target, range));
    },
  }),
];
