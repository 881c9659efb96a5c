// Routes of hold, release and resync, which apply to a whole target.
import { holdTargets, releaseTargets } from '../../../ops/hold.ts';
import { resync } from '../../../ops/resync.ts';
import { actor, operatorFields, type OperatorFields } from '../operator-fields.ts';
import { json, requireTarget, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, object, textField, integerField } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

interface Order extends OperatorFields {
  target?: string;
}

const target = { ...textField, description: 'Only this target.' };
const answers = {
  status: 200,
  description: 'Every target of the order, and whether its hold changed.',
  schema: arrayOf(refTo('HoldChange')),
};
const refuses = { 404: 'There is no such target.' };

export const holdRoutes = (context: AdminContext): AdminRoute[] => [
  route<Order>({
    method: 'post',
    path: '/hold',
    id: 'hold',
    command: 'hold --json',
    summary: 'Stops all writes to the platform. Pushes are still accepted.',
    body: body({ target, ...operatorFields }),
    bodyOptional: true,
    answers,
    refuses,
    handle: async (call) => {
      const { target: name, ...order } = call.body;
      requireTarget(context, name);
      return json(await holdTargets(context.states, name, actor(order, call)));
    },
  }),
  route<Order>({
    method: 'post',
    path: '/release',
    id: 'release',
    command: 'release --json',
    summary: 'Ends a hold. The changes that were pushed meanwhile are applied.',
    body: body({ target, ...operatorFields }),
    bodyOptional: true,
    answers,
    refuses,
    handle: async (call) => {
      const { target: name, ...order } = call.body;
      requireTarget(context, name);
      return json(await releaseTargets(context.states, name, actor(order, call)));
    },
  }),
  route<Order>({
    method: 'post',
    path: '/resync',
    id: 'resync',
    command: 'resync',
    summary: 'Marks all users and groups for a sync, with the lowest priority.',
    body: body({ target, ...operatorFields }),
    bodyOptional: true,
    answers: {
      status: 200,
      description: 'Number of marked resources.',
      schema: object({ count: integerField }),
    },
    refuses,
    handle: async (call) => {
      const { target: name, ...order } = call.body;
      requireTarget(context, name);
      return json({ count: await resync(context.states, name, actor(order, call)) });
    },
  }),
];
