// Routes of hold, release and resync, which apply to a whole target.
import type { Actor } from '../../../directory/logs/acts.ts';
import { holdTargets, releaseTargets } from '../../../ops/hold.ts';
import { resync } from '../../../ops/resync.ts';
import { json, requireTarget, route, type AdminCall, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, object, textField, integerField } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

interface Order extends OperatorFields {
  target?: string;
}

/** Name of the operator where the caller gives none. */
const NOBODY_NAMED = 'admin API';

/** The operator of an order and the reason. */
export interface OperatorFields {
  by?: string;
  note?: string;
}

/**
 * Returns the actor for the audit log: the signed-in person. A holder of the admin token acts under the name in the
 * order, which is not verified.
 */
export const actor = (
  { by = NOBODY_NAMED, note }: OperatorFields,
  { via, caller }: Pick<AdminCall, 'via' | 'caller'>,
): Actor => ({
  by: caller.name ?? `${by}${caller.mark}`,
  via,
  ...(note === undefined ? {} : { note }),
});

/** Schema of the field `by` of a body. */
const byField = {
  ...textField,
  minLength: 1,
  maxLength: 200,
  description: 'Who acts, for the record; a signed-in person acts under the own name whatever this says.',
};

/** Fields of a body that gives an order. */
export const operatorFields = {
  by: byField,
  note: { ...textField, minLength: 1, maxLength: 1000, description: 'Why, for the record.' },
};

const target = { ...textField, description: 'Only this target.' };
const given = {
  status: 200,
  description: 'Every target that was meant, and whether anything changed.',
  schema: arrayOf(refTo('HoldChange')),
};
const refuses = { 404: 'There is no such target.' };

export const holdRoutes = (context: AdminContext): AdminRoute[] => [
  route<Order>({
    method: 'post',
    path: '/hold',
    id: 'hold',
    command: 'hold --json',
    summary: 'Stops all writes to the platform; pushes are still accepted.',
    body: body({ target, ...operatorFields }),
    bodyOptional: true,
    answers: given,
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
    summary: 'Ends a hold; what has gathered meanwhile is applied.',
    body: body({ target, ...operatorFields }),
    bodyOptional: true,
    answers: given,
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
    summary: 'Marks all users and groups for another look, behind everything else.',
    body: body({ target, ...operatorFields }),
    bodyOptional: true,
    answers: { status: 200, description: 'How many were marked.', schema: object({ count: integerField }) },
    refuses,
    handle: async (call) => {
      const { target: name, ...order } = call.body;
      requireTarget(context, name);
      return json({ count: await resync(context.states, name, actor(order, call)) });
    },
  }),
];
