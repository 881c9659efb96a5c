// Defines the JSON Schemas of approvals for the OpenAPI document of the admin API. The TypeScript type that each schema names
// explains its fields.
import { DESTRUCTIVE_KINDS } from '../../guard/judge.ts';
import type { ExplainedLimit } from '../../ops/approvals/approval-limits.ts';
import type { Approval, WaitingApproval } from '../../ops/approvals/approval-lookup.ts';
import type { ShownApproval } from '../../ops/approvals/approvals.ts';
import { HELD_CAUSES, type HeldChange } from '../../ops/approvals/held-change.ts';
import {
  arrayOf,
  booleanField,
  dateTime,
  eachOf,
  integerField,
  object,
  objectOf,
  textField,
} from './schema-fields.ts';

/** Numbers of changes by kind. */
export const kindCounts = object(eachOf(DESTRUCTIVE_KINDS, integerField));

const approvalFields = {
  ...eachOf(['id', 'connection', 'target'], textField),
  state: { enum: ['held', 'approved', 'rejected', 'withdrawn'] },
  ...eachOf(['openedAt', 'expiresAt', 'at'], dateTime),
  by: textField,
  note: textField,
  selection: { ...textField, description: 'The part of the list that was decided; absent: all of it.' },
  kinds: kindCounts,
  total: integerField,
  stillRejected: {
    ...integerField,
    description: 'Number of changes of a rejection that are still rejected; absent for other states.',
  },
  firstApprovals: {
    ...arrayOf(
      objectOf<WaitingApproval>()(
        {
          id: textField,
          by: textField,
          withToken: {
            ...booleanField,
            description: 'Whether the admin token gave it; all holders of the token count as one person.',
          },
          at: dateTime,
          total: integerField,
          note: textField,
          selection: textField,
        },
        ['note', 'selection'],
      ),
    ),
    description: 'First approvals, which wait until a second person approves them by their id.',
  },
};
const OPTIONAL = [
  'openedAt',
  'expiresAt',
  'at',
  'by',
  'note',
  'selection',
  'stillRejected',
  'firstApprovals',
] as const;

export const APPROVAL_SCHEMAS = {
  Approval: objectOf<Approval>()(approvalFields, OPTIONAL),
  ShownApproval: objectOf<ShownApproval>()(
    {
      ...approvalFields,
      limits: {
        ...arrayOf({ $ref: '#/components/schemas/ExplainedLimit' }),
        description: 'The limits that hold the changes.',
      },
      approvers: { ...integerField, description: 'Number of persons who have to approve.' },
      matching: { ...integerField, description: 'Number of changes that match the query.' },
      items: arrayOf({ $ref: '#/components/schemas/HeldChange' }),
    },
    OPTIONAL,
  ),
  ExplainedLimit: objectOf<ExplainedLimit>()(
    {
      kind: { enum: DESTRUCTIVE_KINDS },
      count: integerField,
      percent: { type: 'number' },
      ...eachOf(['windowMs', 'population', 'allowance'], integerField),
      used: {
        ...integerField,
        description: 'Changes that the guard allowed within the window; the log tells which were written.',
      },
      waiting: integerField,
      held: integerField,
      usedSince: dateTime,
      usedBy: {
        ...arrayOf(
          objectOf<ExplainedLimit['usedBy'][number]>()(
            { ref: textField, name: textField, member: textField, at: dateTime },
            ['member'],
          ),
        ),
        description: 'The newest changes that count, with the time when the guard last allowed each.',
      },
    },
    ['usedSince'],
  ),
  HeldChange: objectOf<HeldChange>()(
    {
      kind: { enum: DESTRUCTIVE_KINDS },
      ...eachOf(['ref', 'subject', 'name', 'mail', 'member'], textField),
      cause: { enum: HELD_CAUSES },
      reason: textField,
      since: dateTime,
    },
    ['subject', 'mail', 'member', 'cause', 'since'],
  ),
};
