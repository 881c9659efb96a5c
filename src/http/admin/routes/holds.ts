// Routes of hold, release and resync, which apply to a whole target.
import { holdTargets, releaseTargets, resync } from '../../../ops/hold.ts';
import { orderRoute } from '../operator-fields.ts';
import { json, requireTarget, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, integerField, object, onlyTarget } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

interface Order {
  target?: string;
}

const fields = { target: onlyTarget };
const answers = {
  description: 'Every target of the order, and whether its hold changed.',
  schema: arrayOf(refTo('HoldChange')),
};
const refuses = { 404: 'There is no such target.' };

export const holdRoutes = (context: AdminContext): AdminRoute[] => [
  orderRoute<Order>('/hold', 'hold', {
    command: 'hold --json',
    summary: 'Stops all writes to the platform. Pushes are still accepted.',
    fields,
    answers,
    refuses,
    handle: async ({ target }, by) => {
      requireTarget(context, target);
      return json(await holdTargets(context.states, target, by));
    },
  }),
  orderRoute<Order>('/release', 'release', {
    command: 'release --json',
    summary: 'Ends a hold. The changes that were pushed meanwhile are applied.',
    fields,
    answers,
    refuses,
    handle: async ({ target }, by) => {
      requireTarget(context, target);
      return json(await releaseTargets(context.states, target, by));
    },
  }),
  orderRoute<Order>('/resync', 'resync', {
    command: 'resync',
    summary: 'Marks all users and groups for a sync, with the lowest priority.',
    fields,
    answers: { description: 'Number of marked resources.', schema: object({ count: integerField }) },
    refuses,
    handle: async ({ target }, by) => {
      requireTarget(context, target);
      return json({ count: await resync(context.states, target, by) });
    },
  }),
];
