// Routes of hold, release and resync, which apply to a whole target.
import { holdTargets, releaseTargets } from '../../../ops/hold.ts';
import { resync } from '../../../ops/resync.ts';
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

/** Returns the route of an order that holds or releases targets; its id is the name of the command. */
const holdRoute = (
  context: AdminContext,
  command: 'hold' | 'release',
  summary: string,
  run: typeof holdTargets,
): AdminRoute =>
  orderRoute<Order>(`/${command}`, command, {
    command: `${command} --json`,
    summary,
    fields,
    answers,
    refuses,
    handle: async ({ target }, actor) => {
      requireTarget(context, target);
      return json(await run(context.states, target, actor));
    },
  });

export const holdRoutes = (context: AdminContext): AdminRoute[] => [
  holdRoute(context, 'hold', 'Stops all writes to the platform. Pushes are still accepted.', holdTargets),
  holdRoute(
    context,
    'release',
    'Ends a hold. The changes that were pushed meanwhile are applied.',
    releaseTargets,
  ),
  orderRoute<Order>('/resync', 'resync', {
    command: 'resync',
    summary: 'Marks all users and groups for a sync, with the lowest priority.',
    fields,
    answers: {
      description: 'Number of marked resources, and of dropped dead letters, which are left out.',
      schema: object({ count: integerField, dropped: integerField }),
    },
    refuses,
    handle: async ({ target }, actor) => {
      requireTarget(context, target);
      return json(await resync(context.states, target, actor));
    },
  }),
];
