// Tells by the request id of a change who caused it: a push, a reconcile, an order of an operator, or the bridge itself.
import { NO_REQUEST } from '../../directory/records.ts';

export type InitiatorType = 'identityProvider' | 'reconcile' | 'operator' | 'system';

/** Request ids of orders: one word, or the kind of the order, a colon, and the operator or an id. */
const OF_OPERATORS =
  /^(resync|repair|restore|(sync|retry|import|links|forget|approval|rejection|withdrawal|handover):.*)$/;

/** Returns the kind of initiator. A push cannot bring an id of another kind (http/middleware/request-context.ts accepts none). */
export function initiatorTypeOf(request: string): InitiatorType {
  // The bridge itself caused the change, for example by a sync that was due at a set time (`alarmAt`), without a push or an order.
  if (request === NO_REQUEST) return 'system';
  // Reconcile runs and applied plans have ids that begin with `plan:`.
  if (request.startsWith('plan:')) return 'reconcile';
  return OF_OPERATORS.test(request) ? 'operator' : 'identityProvider';
}

/** Returns who caused a change. `id`: the connection of a push, `scim-bridge` of the bridge itself, else the request id. */
export function initiatorOf(request: string, connection: string): { type: InitiatorType; id: string } {
  const type = initiatorTypeOf(request);
  const ids = { system: 'scim-bridge', identityProvider: connection, reconcile: request, operator: request };
  return { type, id: ids[type] };
}
