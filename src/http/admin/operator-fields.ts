// Defines the routes of orders: their body names the operator and the reason, for the audit log.
import type { Actor } from '../../directory/logs/acts.ts';
import { postRoute, type AdminAnswer, type AdminCall, type AdminRoute, type JsonSchema } from './route.ts';
import { body, textField } from './schema-fields.ts';

export interface OperatorFields {
  /** Name of the operator. */
  by?: string;
  /** Reason. */
  note?: string;
}

/** Schemas of OperatorFields. */
export const operatorFields = {
  by: {
    ...textField,
    minLength: 1,
    maxLength: 200,
    description:
      'Name of the operator, for the audit log. For a signed-in person it is ignored: the log has the name of the sign-in.',
  },
  note: { ...textField, minLength: 1, maxLength: 1000, description: 'Reason, for the audit log.' },
};

/** Name of the operator when the caller gives none. */
const DEFAULT_NAME = 'admin API';

/**
 * Returns the actor for the audit log: the signed-in person, or for a holder of the admin token the name in the order. Nothing
 * proves that name, so `caller.mark` follows it.
 */
export const actor = (
  { by = DEFAULT_NAME, note }: OperatorFields,
  { via, caller }: Pick<AdminCall, 'via' | 'caller'>,
): Actor => ({
  by: caller.name ?? `${by}${caller.mark}`,
  via,
  ...(note === undefined ? {} : { note }),
});

/**
 * Returns the route of an order, with the fields of the operator beside its own. The body may be left out unless a field is
 * required.
 * @param definition.oneOf lists of fields: a body must have the fields of exactly one list
 */
export function orderRoute<Order = object>(
  path: string,
  id: string,
  definition: Omit<AdminRoute, 'method' | 'path' | 'id' | 'body' | 'bodyOptional' | 'handle'> & {
    fields?: Record<string, JsonSchema>;
    required?: string[];
    oneOf?: { required: string[] }[];
    handle: (order: Order, actor: Actor, call: AdminCall) => Promise<AdminAnswer>;
  },
): AdminRoute {
  const { fields, required = [], oneOf, handle, ...rest } = definition;
  return postRoute<Order & OperatorFields>(path, id, {
    ...rest,
    body: { ...body({ ...fields, ...operatorFields }, required), ...(oneOf && { oneOf }) },
    ...(required.length === 0 && !oneOf && { bodyOptional: true }),
    handle: (call) => {
      // The handler gets the operator as an actor, not as fields.
      const { by: _, note: __, ...order } = call.body;
      return handle(order as Order, actor(call.body, call), call);
    },
  });
}
