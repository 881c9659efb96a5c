// Defines the JSON Schemas of approvals for the OpenAPI document of the admin API.
import { DESTRUCTIVE_KINDS } from '../../guard/judge.ts';
import { HELD_CAUSES } from '../../ops/held-change.ts';
import { arrayOf, dateTime, integerField, object, textField } from './schema-fields.ts';

/** Numbers of changes by kind. */
export const kindCounts = object(Object.fromEntries(DESTRUCTIVE_KINDS.map((kind) => [kind, integerField])));

const approvalFields = {
  ...{ id: textField, connection: textField, target: textField },
  state: { enum: ['held', 'approved', 'rejected', 'withdrawn'] },
  ...{ openedAt: dateTime, expiresAt: dateTime, at: dateTime, by: textField, note: textField },
  selection: { ...textField, description: 'Which part of the list was decided; absent: all.' },
  ...{ kinds: kindCounts, total: integerField },
  stillRejected: {
    ...integerField,
    description: 'Changes of a rejection that are still rejected; absent: it is none.',
  },
  firstApprovals: {
    ...arrayOf(
      object(
        {
          id: textField,
          by: textField,
          at: dateTime,
          total: integerField,
          note: textField,
          selection: textField,
        },
        ['id', 'by', 'at', 'total'],
      ),
    ),
    description: 'Approvals that wait for a second person, who approves the id.',
  },
};
const APPROVAL_REQUIRED = ['id', 'connection', 'target', 'state', 'kinds', 'total'];

export const APPROVAL_SCHEMAS = {
  Approval: object(approvalFields, APPROVAL_REQUIRED),
  ShownApproval: object(
    {
      ...approvalFields,
      limits: { ...arrayOf({ $ref: '#/components/schemas/ExplainedLimit' }), description: 'Why it is held.' },
      approvers: { ...integerField, description: 'Number of persons who have to approve.' },
      matching: { ...integerField, description: 'Changes that the query fits.' },
      items: arrayOf({ $ref: '#/components/schemas/HeldChange' }),
    },
    [...APPROVAL_REQUIRED, 'limits', 'approvers', 'matching', 'items'],
  ),
  ExplainedLimit: object(
    {
      kind: { enum: DESTRUCTIVE_KINDS },
      ...{ count: integerField, percent: { type: 'number' }, windowMs: integerField },
      ...{ population: integerField, allowance: integerField },
      ...{ used: integerField, waiting: integerField, held: integerField, usedSince: dateTime },
      usedBy: arrayOf(
        object({ ref: textField, name: textField, member: textField, at: dateTime }, ['ref', 'name', 'at']),
      ),
    },
    [
      ...['kind', 'count', 'percent', 'windowMs', 'population', 'allowance'],
      ...['used', 'waiting', 'held', 'usedBy'],
    ],
  ),
  HeldChange: object(
    {
      kind: { enum: DESTRUCTIVE_KINDS },
      ...{
        ref: textField,
        subject: textField,
        name: textField,
        mail: textField,
        member: textField,
        cause: { enum: HELD_CAUSES },
        reason: textField,
        since: dateTime,
      },
    },
    ['kind', 'ref', 'name', 'reason'],
  ),
};
