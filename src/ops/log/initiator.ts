// Tells by the request id of a change who caused it: a push, a reconcile, an order of an operator, or the bridge itself.
import { NO_REQUEST } from '../../directory/records.ts';

export type InitiatorType = 'identityProvider' | 'reconcile' | 'operator' | 'system';

/** Ids of orders: whole, or with the operator or the decision behind the colon. */
const OF_OPERATORS =
  /^(resync|repair|restore|(sync|retry|import|approval|rejection|withdrawal|handover):.*)$/;

/** Returns the kind of initiator. Clients cannot send ids of the other kinds (request-context.ts), so that no push appears as an order. */
export function initiatorTypeOf(request: string): InitiatorType {
  // For example the mark of an alarm.
  if (request === NO_REQUEST) return 'system';
  // Reconcile runs and applied plans have ids that begin with `plan:`.
  if (request.startsWith('plan:')) return 'reconcile';
  return OF_OPERATORS.test(request) ? 'operator' : 'identityProvider';
}

/** Returns who caused a change, by the id of its request. @param connection connection that a push came from */
export function initiatorOf(request: string, connection: string): { type: InitiatorType; id: string } {
  const type = initiatorTypeOf(request);
  const ids = { system: 'scim-bridge', identityProvider: connection, reconcile: request, operator: request };
  return { type, id: ids[type] };
}
