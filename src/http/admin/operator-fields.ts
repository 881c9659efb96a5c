// Defines the fields of a body that name the operator of an order and the reason, and the actor for the audit log.
import type { Actor } from '../../directory/logs/acts.ts';
import type { AdminCall } from './route.ts';
import { textField } from './schema-fields.ts';

export interface OperatorFields {
  /** Name of the operator. */
  by?: string;
  /** Reason. */
  note?: string;
}

/** JSON Schemas of the fields. */
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
 * Returns the actor for the audit log: the signed-in person. A holder of the admin token acts under the name in the
 * order, which is not verified.
 */
export const actor = (
  { by = DEFAULT_NAME, note }: OperatorFields,
  { via, caller }: Pick<AdminCall, 'via' | 'caller'>,
): Actor => ({
  by: caller.name ?? `${by}${caller.mark}`,
  via,
  ...(note === undefined ? {} : { note }),
});
