// Routes of approvals: lists the changes that the guard holds, and stores decisions about them.
import { judgedAnew } from '../../../directory/guard/operator-hold.ts';
import { TOKEN_IDENTITY } from '../../../directory/guard/first-approvals.ts';
import { DESTRUCTIVE_KINDS, type DestructiveKind } from '../../../guard/judge.ts';
import { UnknownSelection, type ChangeSelection } from '../../../ops/approvals/approval-selection.ts';
import { decideApproval, listApprovals, showApproval } from '../../../ops/approvals/approvals.ts';
import { heldNow } from '../../../ops/approvals/approval-lookup.ts';
import { isUndecided } from '../../../ops/approvals/approvals-at.ts';
import { HELD_CAUSES, type HeldCause } from '../../../ops/approvals/held-change.ts';
import { Problem } from '../problem.ts';
import { json, policyOf, getRoute, type AdminContext, type AdminRoute, type JsonSchema } from '../route.ts';
import { firstApprovalList, kindCounts } from '../approval-schemas.ts';
import {
  eachOf,
  arrayOf,
  booleanField,
  dateTime,
  integerField,
  object,
  textField,
  toQuery,
  omittable,
} from '../schema-fields.ts';
import { refTo } from '../schemas.ts';
import { pageFields } from '../list-page.ts';
import { orderRoute } from '../operator-fields.ts';

/** One page of an approval, as `queryFields` describes it. */
interface PageQuery {
  offset?: number;
  limit?: number;
  ref?: string;
  person?: string;
  kind?: DestructiveKind;
  cause?: HeldCause;
  group?: string;
}

const DEFAULT_LIMIT = 100;

/** Schema of one field of a selection (ChangeSelection), which is a list of values. */
const selectionOf = (items: JsonSchema, description: string): JsonSchema => ({
  ...arrayOf(items),
  minItems: 1,
  maxItems: 1000,
  description,
});
const selectionFields = {
  refs: selectionOf(textField, 'Only changes of these resources, such as User:3f….'),
  persons: selectionOf(textField, 'Only changes of these persons: userName, mail or id.'),
  kinds: selectionOf({ enum: DESTRUCTIVE_KINDS }, 'Only these kinds of change.'),
  causes: selectionOf({ enum: HELD_CAUSES }, 'Only these causes.'),
  groups: selectionOf(
    textField,
    'Only changes of these groups, and of persons who are or were their members.',
  ),
};
const queryFields = {
  ...pageFields('changes', DEFAULT_LIMIT),
  ref: { ...textField, description: 'Only changes of this resource, such as User:3f….' },
  person: { ...textField, description: 'Only changes of this person: userName, mail or id.' },
  kind: { enum: DESTRUCTIVE_KINDS, description: 'Only this kind of change.' },
  cause: { enum: HELD_CAUSES, description: 'Only this cause.' },
  group: {
    ...textField,
    description: 'Only changes of this group, and of persons who are or were its members.',
  },
};

const params = { id: 'Id of the approval.' };
const CONFLICT =
  'The approval has expired and its changes are judged anew, or it is decided already, or this person has approved it already, or too many first approvals wait at the target.';
const UNKNOWN = 'No person or group has the given name.';
const refuses = { 404: 'There is no such approval.' };

export const approvalRoutes = (context: AdminContext): AdminRoute[] => [
  getRoute<{ all?: boolean }>('/approvals', 'listApprovals', {
    command: 'approvals list --json',
    summary: 'Lists the approvals without a decision, expired ones included. Their changes are left out.',
    query: { all: { description: 'Also approvals that were decided recently.', schema: booleanField } },
    answers: { description: 'Newest first.', schema: arrayOf(refTo('Approval')) },
    handle: async ({ query: { all } }) => {
      const found = await listApprovals(context.states, policyOf(context));
      const shown = found.filter((approval) => all || isUndecided(approval));
      return json(shown);
    },
  }),
  getRoute<PageQuery>('/approvals/{id}', 'showApproval', {
    command: 'approvals show ID --json',
    summary: 'Shows the limit that an approval exceeds, and its changes with name, mail and reason.',
    params,
    query: toQuery(queryFields),
    answers: {
      description:
        'The approval with one page of its changes; `matching` is the number of all changes that match the query.',
      schema: refTo('ShownApproval'),
    },
    refuses: { ...refuses, 400: UNKNOWN },
    handle: async ({ params: { id = '' }, query }) => {
      const { offset, limit = DEFAULT_LIMIT, ...only } = query;
      const selection = {
        // An absent field selects all.
        refs: only.ref && [only.ref],
        persons: only.person && [only.person],
        kinds: only.kind && [only.kind],
        causes: only.cause && [only.cause],
        groups: only.group && [only.group],
      } as ChangeSelection;
      const page = { ...selection, offset, limit };
      const shown = await showApproval(context.states, id, policyOf(context), page).catch(refuseUnknown);
      if (!shown) throw await unknownApproval(context, id);
      return json(shown);
    },
  }),
  decisionRoute(
    context,
    'approve',
    'Approves exactly the listed changes. When two persons have to approve, the approval of the first one is stored.',
  ),
  decisionRoute(
    context,
    'reject',
    'Rejects the changes: the platform stays as it is until the identity provider takes the change back.',
  ),
  decisionRoute(
    context,
    'withdraw',
    'Withdraws a rejection, so that the guard judges its changes anew, or a first approval.',
  ),
];

function decisionRoute(
  context: AdminContext,
  action: 'approve' | 'reject' | 'withdraw',
  summary: string,
): AdminRoute {
  return orderRoute<ChangeSelection>(`/approvals/{id}/${action}`, `${action}HeldChanges`, {
    right: 'approve',
    command: `approvals ${action} ID --json`,
    summary,
    params,
    fields: selectionFields,
    answers: {
      description:
        'Number of changes that the decision reached, 0 when none matches, and of those still held.',
      schema: object({
        outcome: {
          enum: ['decided', 'noted', 'retracted'],
          description:
            'noted: the first of two approvals, nothing is written yet; retracted: a first approval was taken back.',
        },
        ...eachOf(['id', 'action', 'by'], textField),
        items: integerField,
        expiresAt: omittable({
          ...dateTime,
          description: 'noted: time before which the second person has to approve.',
        }),
        kinds: omittable(kindCounts),
        remaining: omittable(integerField),
        endOfHold: omittable({
          ...textField,
          description: 'decided: how the hold of the target ends, before which nothing is written.',
        }),
        endedFirstApprovals: omittable({
          ...firstApprovalList,
          description: 'decided: other first approvals that ended with this decision.',
        }),
      }),
    },
    refuses: { ...refuses, 400: UNKNOWN, 409: CONFLICT },
    handle: async (selection, operator, { params: { id = '' }, caller }) => {
      // All holders of the admin token count as one person.
      const identity = caller.person ?? TOKEN_IDENTITY;
      const decision = { action, identity, ...operator, selection };
      const decided = await decideApproval(context.states, id, policyOf(context), decision).catch(
        refuseUnknown,
      );
      switch (decided.kind) {
        case 'decided':
        case 'noted':
        case 'retracted': {
          const { kind: outcome, ...rest } = decided;
          return json({ outcome, ...rest, action, by: operator.by });
        }
        case 'unknown':
          throw await unknownApproval(context, id);
        case 'settled':
          throw new Problem(409, decided.message);
        case 'samePerson': {
          const isSameToken = decided.isSameIdentity && identity === TOKEN_IDENTITY;
          throw new Problem(409, samePersonText(id, isSameToken ? decided.by : undefined));
        }
        case 'expired':
        case 'full':
          throw new Problem(409, REFUSALS[decided.kind](id));
      }
    },
  });
}

/**
 * Returns why the caller cannot be the second person.
 * @param by name of the first approver, if first approver and caller used the admin token; undefined: the caller approved first
 */
const samePersonText = (id: string, by: string | undefined): string =>
  by === undefined
    ? `You have approved ${id} already: another person has to approve it too.`
    : `${by} has approved ${id} already with the admin token. All holders of the admin token count as one person: another person has to approve it too, signed in or with the command.`;

const REFUSALS = {
  expired: (id: string) =>
    `Approval ${id} has expired: ${judgedAnew(undefined)}. List the approvals again then.`,
  full: (id: string) =>
    `The approval of ${id} was not stored: too many first approvals of its target wait for a second person. Approve some of them as that person, or withdraw some: GET /admin/v1/approvals lists them.`,
};

/** Converts the error for a name without person or group. @throws Problem 400, or any other error unchanged */
function refuseUnknown(error: unknown): never {
  if (error instanceof UnknownSelection) throw new Problem(400, error.message);
  throw error;
}

async function unknownApproval({ states }: AdminContext, id: string): Promise<Problem> {
  const { present, expired } = await heldNow(states, id);
  const next = [
    ...(present === undefined ? [] : [`what is held now has the id ${present}`]),
    ...(expired === null ? [] : [expired]),
  ];
  return new Problem(
    404,
    `There is no approval ${id}, or nothing of it waits any more. It may have expired, with its first approval: ${next.join('; ') || 'GET /admin/v1/approvals?all=true lists them'}.`,
  );
}
