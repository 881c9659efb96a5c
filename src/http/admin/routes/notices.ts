// Route that sends a sample message to the receivers of notices.
import { Problem } from '../problem.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, textField } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';
import { actor, operatorFields, type OperatorFields } from '../operator-fields.ts';

interface TestOrder extends OperatorFields {
  channel?: string;
}

export const noticeRoutes = ({ notices }: AdminContext): AdminRoute[] => [
  route<TestOrder>({
    method: 'post',
    path: '/notices/test',
    id: 'testNotices',
    command: 'notices test --json',
    summary: 'Sends a sample message to the receivers of notices.',
    body: body({ channel: { ...textField, description: 'Only this channel.' }, ...operatorFields }),
    bodyOptional: true,
    answers: {
      status: 200,
      description: 'The answer of each receiver.',
      schema: arrayOf(refTo('NoticeTestResult')),
    },
    refuses: { 404: 'There is no such channel.' },
    handle: async (call) => {
      const { channel, ...order } = call.body;
      if (channel !== undefined && !notices.channels.includes(channel))
        throw new Problem(404, `There is no channel ${channel}. The settings have: ${namesOf(notices)}.`);
      const names = channel === undefined ? notices.channels : [channel];
      return json(await notices.test(names, actor(order, call), call.signal));
    },
  }),
];

const namesOf = ({ channels }: AdminContext['notices']): string => channels.join(', ') || 'none';
