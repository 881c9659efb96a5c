// Route that sends a sample message to the receivers of notices.
import { Problem } from '../problem.ts';
import { json, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, textField } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';
import { orderRoute } from '../operator-fields.ts';

export const noticeRoutes = ({ notices }: AdminContext): AdminRoute[] => [
  orderRoute<{ channel?: string }>('/notices/test', 'testNotices', {
    command: 'notices test --json',
    summary: 'Sends a sample message to the receivers of notices.',
    fields: { channel: { ...textField, description: 'Only this channel.' } },
    answers: {
      description: 'The answer of each receiver.',
      schema: arrayOf(refTo('NoticeTestResult')),
    },
    refuses: { 404: 'There is no such channel.' },
    handle: async ({ channel }, actor, { signal }) => {
      if (channel !== undefined && !notices.channels.includes(channel))
        throw new Problem(404, `There is no channel ${channel}. The settings have: ${namesOf(notices)}.`);
      const names = channel === undefined ? notices.channels : [channel];
      return json(await notices.test(names, actor, signal));
    },
  }),
];

const namesOf = ({ channels }: AdminContext['notices']): string => channels.join(', ') || 'none';
