// Long work that was started: how far it is, what came out, and its end before time.
import type { Operation } from '../../../directory/operations.ts';
import { Problem } from '../problem.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, refTo } from '../schemas.ts';

const params = { id: 'As answered when it was started.' };
const refuses = { 404: 'There is no such operation.' };

export function operationRoutes({ operations }: AdminContext): AdminRoute[] {
  async function find(id: string): Promise<Operation> {
    const operation = await operations.get(id);
    if (operation) return operation;
    throw new Problem(404, `There is no operation ${id}, or it is more than a day ago.`);
  }

  return [
    route({
      method: 'get',
      path: '/operations',
      id: 'listOperations',
      summary: 'What was started lately, without results.',
      answers: { status: 200, description: 'Newest first.', schema: arrayOf(refTo('Operation')) },
      handle: async () => json(await operations.all()),
    }),
    route({
      method: 'get',
      path: '/operations/{id}',
      id: 'readOperation',
      summary: 'How far it is, and what came out.',
      params,
      answers: {
        status: 200,
        description: 'With the result, once there is one.',
        schema: refTo('Operation'),
      },
      refuses,
      handle: async ({ params: { id = '' } }) => {
        const operation = await find(id);
        const result = operation.state === 'succeeded' ? await operations.result(id) : null;
        return json(result === null ? operation : { ...operation, result: JSON.parse(result) as unknown });
      },
    }),
    route({
      method: 'post',
      path: '/operations/{id}/cancel',
      id: 'cancelOperation',
      summary: 'Asks for its end; what is marked already is still applied.',
      params,
      answers: { status: 202, description: 'It ends at its next step.', schema: refTo('Operation') },
      refuses,
      handle: async ({ params: { id = '' } }) => {
        const operation = await find(id);
        if (operation.state === 'running') await operations.cancel(id);
        return json(operation, 202);
      },
    }),
  ];
}
