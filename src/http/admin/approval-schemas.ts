// Defines the JSON Schemas of approvals for the OpenAPI document of the admin API. The TypeScript type that each schema names
// explains its fields.
import { DESTRUCTIVE_KINDS } from '../../guard/judge.ts';
import type { ExplainedLimit } from '../../ops/approvals/approval-limits.ts';
import type { Approval, WaitingApproval } from '../../ops/approvals/approvals-at.ts';
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
  omittable,
  textField,
} from './schema-fields.ts';

/** Numbers of changes by kind. */
export const kindCounts = object(eachOf(DESTRUCTIVE_KINDS, integerField));

/** First approvals, each of which waits for a second person. */
export const firstApprovalList = arrayOf(
  objectOf<WaitingApproval>()({
    id: textField,
    by: textField,
    withToken: {
      ...booleanField,
      description: 'Whether the admin token gave it; all holders of the token count as one person.',
    },
    at: dateTime,
    expiresAt: { ...dateTime, description: 'Time before which the second person has to approve.' },
    total: integerField,
    note: omittable(textField),
    selection: omittable(textField),
  }),
);

const approvalFields = {
  ...eachOf(['id', 'connection', 'target'], textField),
  state: {
    enum: ['held', 'expired', 'approved', 'rejected', 'withdrawn'],
    description:
      'held: it waits for a decision; expired: nobody decided in time, and the guard has not judged all its changes anew.',
  },
  ...eachOf(['openedAt', 'expiresAt', 'at'], omittable(dateTime)),
  leftMs: omittable({
    ...integerField,
    description: 'Milliseconds until `expiresAt` by the clock of Redis; 0 or less: it has passed.',
  }),
  ...eachOf(['by', 'note'], omittable(textField)),
  endOfHold: omittable({
    ...textField,
    description: 'How the hold of the target ends, before which an expired list is not judged anew.',
  }),
  selection: omittable({
    ...textField,
    description: 'The part of the list that was decided; absent: all of it.',
  }),
  kinds: kindCounts,
  total: integerField,
  stillRejected: omittable({
    ...integerField,
    description: 'Number of changes of a rejection that are still rejected; absent for other states.',
  }),
  unwritten: omittable({
    ...integerField,
    description:
      'Number of changes of an approval that are not written; absent for none. After `expiresAt` the guard judges them anew.',
  }),
  firstApprovals: omittable({
    ...firstApprovalList,
    description: 'First approvals, which wait until a second person approves them by their id.',
  }),
};

export const APPROVAL_SCHEMAS = {
  Approval: objectOf<Approval>()(approvalFields),
  ShownApproval: objectOf<ShownApproval>()({
    ...approvalFields,
    limits: {
      ...arrayOf({ $ref: '#/components/schemas/ExplainedLimit' }),
      description: 'The limits that hold the changes.',
    },
    approvers: { ...integerField, description: 'Number of persons who have to approve.' },
    matching: { ...integerField, description: 'Number of changes that match the query.' },
    items: arrayOf({ $ref: '#/components/schemas/HeldChange' }),
  }),
  ExplainedLimit: objectOf<ExplainedLimit>()({
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
    usedSince: omittable(dateTime),
    usedBy: {
      ...arrayOf(
        objectOf<ExplainedLimit['usedBy'][number]>()({
          ref: textField,
          name: textField,
          member: omittable(textField),
          at: dateTime,
        }),
      ),
      description: 'The newest changes that count, with the time when the guard last allowed each.',
    },
  }),
  HeldChange: objectOf<HeldChange>()({
    kind: { enum: DESTRUCTIVE_KINDS },
    ref: textField,
    subject: omittable(textField),
    name: textField,
    ...eachOf(['mail', 'member'], omittable(textField)),
    cause: omittable({ enum: HELD_CAUSES }),
    reason: textField,
    since: omittable(dateTime),
  }),
};
