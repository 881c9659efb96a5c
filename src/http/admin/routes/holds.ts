// Routes of hold, release and resync, which apply to a whole target.
import type { Actor } from '../../../directory/logs/acts.ts';
import { holdTargets, releaseTargets } from '../../../ops/hold.ts';
import { resync } from '../../../ops/resync.ts';
import { json, requireTarget, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, object, refTo, textField, integerField } from '../schemas.ts';

interface Order {
  target?: string;
  by?: string;
  note?: string;
}

/** Name of the operator where the caller gives none. */
export const NOBODY_NAMED = 'admin API';

/** Returns the actor for the audit log. The API does not verify the name: all operators share the admin token. */
export const actor = (by = NOBODY_NAMED): Actor => ({ by, via: 'admin API' });

/** Schema of the field `by` of a body. */
export const byField = {
  ...textField,
  minLength: 1,
  maxLength: 200,
  description: 'Who acts, for the record.',
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
    twin: 'hold --json',
    summary: 'Stops all writes to the platform; pushes are still accepted.',
    body: body({
      target,
      by: byField,
      note: { ...textField, maxLength: 1000, description: 'Why, for those who look at status.' },
    }),
    bodyOptional: true,
    answers: given,
    refuses,
    handle: async ({ body: { target: name, by, note } }) => {
      requireTarget(context, name);
      return json(await holdTargets(context.states, name, { ...actor(by), note }));
    },
  }),
  route<Order>({
    method: 'post',
    path: '/release',
    id: 'release',
    twin: 'release --json',
    summary: 'Ends a hold; what has gathered meanwhile is applied.',
    body: body({ target, by: byField }),
    bodyOptional: true,
    answers: given,
    refuses,
    handle: async ({ body: { target: name, by } }) => {
      requireTarget(context, name);
      return json(await releaseTargets(context.states, name, actor(by)));
    },
  }),
  route<Order>({
    method: 'post',
    path: '/resync',
    id: 'resync',
    twin: 'resync',
    summary: 'Marks all users and groups for another look, behind everything else.',
    body: body({ target, by: byField }),
    bodyOptional: true,
    answers: { status: 200, description: 'How many were marked.', schema: object({ count: integerField }) },
    refuses,
    handle: async ({ body: { target: name, by } }) => {
      requireTarget(context, name);
      return json({ count: await resync(context.states, name, actor(by)) });
    },
  }),
];
