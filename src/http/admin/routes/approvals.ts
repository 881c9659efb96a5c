// Routes of approvals: lists the changes that the guard holds, and stores decisions about them.
import { decideApproval, findApproval, listApprovals, type Approval } from '../../../ops/approvals.ts';
import { Problem } from '../problem.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, booleanField, object, refTo, textField, integerField } from '../schemas.ts';
import { actor, operatorFields, type OperatorFields } from './holds.ts';

interface Decision extends OperatorFields {
  refs?: string[];
}

const params = { id: 'As listed.' };
const refuses = { 404: 'There is no such approval.' };

export const approvalRoutes = (context: AdminContext): AdminRoute[] => [
  route<undefined, { all?: boolean }>({
    method: 'get',
    path: '/approvals',
    id: 'listApprovals',
    twin: 'approvals list --json',
    summary: 'What waits for a decision, without its items.',
    query: { all: { description: 'What was decided lately, too.', schema: booleanField } },
    answers: { status: 200, description: 'Newest first.', schema: arrayOf(refTo('Approval')) },
    handle: async ({ query: { all } }) => {
      const found = await listApprovals(context.states);
      const shown = found.filter(({ state }) => all || state === 'held');
      return json(shown.map(({ items: _, ...approval }) => approval));
    },
  }),
  route({
    method: 'get',
    path: '/approvals/{id}',
    id: 'showApproval',
    twin: 'approvals show ID --json',
    summary: 'Everything that an approval lists.',
    params,
    answers: { status: 200, description: 'The approval with its items.', schema: refTo('Approval') },
    refuses,
    handle: async ({ params: { id = '' } }) => json(await find(context, id)),
  }),
  decision(context, 'approve', 'Carries out exactly what the approval lists.'),
  decision(context, 'reject', 'Leaves the platform as it is, until the source takes the change back.'),
  decision(context, 'withdraw', 'Takes a rejection back, so that the guard judges its changes anew.'),
];

function decision(
  context: AdminContext,
  action: 'approve' | 'reject' | 'withdraw',
  summary: string,
): AdminRoute {
  return route<Decision>({
    method: 'post',
    path: `/approvals/{id}/${action}`,
    id: `${action}HeldChanges`,
    twin: `approvals ${action} ID --json`,
    summary,
    params,
    body: body({
      ...operatorFields,
      refs: { ...arrayOf(textField), minItems: 1, description: 'Only what concerns these, such as User:3f…' },
    }),
    bodyOptional: true,
    answers: {
      status: 200,
      description: 'How many items the decision reached; 0 when they were decided already.',
      schema: object({ id: textField, action: textField, by: textField, items: integerField }),
    },
    refuses: { ...refuses, 409: 'The approval has expired; what it held is judged anew.' },
    handle: async (call) => {
      const { id = '' } = call.params;
      const { refs, ...order } = call.body;
      const operator = actor(order, call);
      const decided = await decideApproval(context.states, id, { action, ...operator, refs });
      if (decided.kind === 'unknown') throw unknownApproval(id);
      if (decided.kind === 'expired')
        throw new Problem(
          409,
          `Approval ${id} has expired: what it held is judged anew, list the approvals again.`,
        );
      return json({ id: decided.id, action, by: operator.by, items: decided.items });
    },
  });
}

async function find({ states }: AdminContext, id: string): Promise<Approval> {
  const approval = await findApproval(states, id);
  if (!approval) throw unknownApproval(id);
  return approval;
}

const unknownApproval = (id: string): Problem =>
  new Problem(404, `There is no approval ${id}: GET /admin/v1/approvals?all=true lists them.`);
