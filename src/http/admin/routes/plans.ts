// plans: what the guard holds, and a person's decision about it.
import {
  decideStagedPlan,
  findStagedPlan,
  listStagedPlans,
  type StagedPlanView,
} from '../../../ops/staged-plans.ts';
import { Problem } from '../problem.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, flag, object, refTo, text, whole } from '../schemas.ts';
import { actor, byField, NOBODY_NAMED } from './holds.ts';

interface Decision {
  by?: string;
  refs?: string[];
}

const params = { id: 'As listed.' };
const refuses = { 404: 'There is no such plan.' };

export const planRoutes = (context: AdminContext): AdminRoute[] => [
  route<undefined, { all?: boolean }>({
    method: 'get',
    path: '/plans',
    id: 'listPlans',
    twin: 'plans list --json',
    summary: 'What waits for a decision, without its items.',
    query: { all: { description: 'What was decided lately, too.', schema: flag } },
    answers: { status: 200, description: 'Newest first.', schema: arrayOf(refTo('StagedPlan')) },
    handle: async ({ query: { all } }) => {
      const found = await listStagedPlans(context.states);
      const shown = found.filter(({ state }) => all || state === 'staged');
      return json(shown.map(({ items: _, ...plan }) => plan));
    },
  }),
  route({
    method: 'get',
    path: '/plans/{id}',
    id: 'showPlan',
    twin: 'plans show ID --json',
    summary: 'Everything a plan holds.',
    params,
    answers: { status: 200, description: 'The plan with its items.', schema: refTo('StagedPlan') },
    refuses,
    handle: async ({ params: { id = '' } }) => json(await find(context, id)),
  }),
  decision(context, 'approve', 'Carries out exactly what the plan lists.'),
  decision(context, 'reject', 'Leaves the platform as it is, until the source takes the change back.'),
];

function decision(context: AdminContext, action: 'approve' | 'reject', summary: string): AdminRoute {
  return route<Decision>({
    method: 'post',
    path: `/plans/{id}/${action}`,
    id: `${action}Plan`,
    twin: `plans ${action} ID --json`,
    summary,
    params,
    body: body({
      by: byField,
      refs: { ...arrayOf(text), minItems: 1, description: 'Only what concerns these, such as User:3f…' },
    }),
    bodyOptional: true,
    answers: {
      status: 200,
      description: 'How many items the decision reached; 0 when they were decided already.',
      schema: object({ id: text, action: text, by: text, items: whole }),
    },
    refuses: { ...refuses, 409: 'The plan has expired; what it held is judged anew.' },
    handle: async ({ params: { id = '' }, body: { by = NOBODY_NAMED, refs } }) => {
      const decided = await decideStagedPlan(context.states, id, { action, ...actor(by), refs });
      if (decided.kind === 'unknown') throw unknownPlan(id);
      if (decided.kind === 'expired')
        throw new Problem(409, `Plan ${id} has expired: what it held is judged anew, list the plans again.`);
      return json({ id: decided.id, action, by, items: decided.items });
    },
  });
}

async function find({ states }: AdminContext, id: string): Promise<StagedPlanView> {
  const plan = await findStagedPlan(states, id);
  if (!plan) throw unknownPlan(id);
  return plan;
}

const unknownPlan = (id: string): Problem =>
  new Problem(404, `There is no plan ${id}: GET /admin/v1/plans?all=true lists them.`);
