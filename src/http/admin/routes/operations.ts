// Routes of operations: shows their progress and result, and cancels them.
import type { Operation } from '../../../directory/logs/operations.ts';
import { Problem } from '../problem.ts';
import { json, getRoute, type AdminAnswer, type AdminContext, type AdminRoute } from '../route.ts';
import { orderRoute } from '../operator-fields.ts';
import { arrayOf } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

/** Description of the answer of a route that starts an operation. */
export const startedAnswer = {
  status: 202,
  description: 'The operation runs. The header Location has the address of its progress.',
  schema: refTo('Operation'),
};

/** Returns the answer of a route that has started the operation. */
export const accepted = (operation: Operation): AdminAnswer =>
  json(operation, 202, { Location: `/admin/v1/operations/${operation.id}` });

const params = { id: 'Id in the answer of the route that started the operation.' };
const refuses = { 404: 'There is no such operation.' };

/** Streams the operation and its result as one JSON document, without building the text in memory. */
async function* withResult(
  operation: Operation,
  result: AsyncIterable<Buffer>,
): AsyncGenerator<string | Buffer> {
  const withoutBrace = JSON.stringify(operation).slice(0, -1);
  yield `${withoutBrace},"result":`;
  yield* result;
  yield '}';
}

export function operationRoutes({ operations }: AdminContext): AdminRoute[] {
  async function find(id: string): Promise<Operation> {
    const operation = await operations.get(id);
    if (operation) return operation;
    throw new Problem(404, `There is no operation ${id}, or it is more than a day old.`);
  }

  return [
    getRoute('/operations', 'listOperations', {
      summary: 'Lists the recent operations, without their results.',
      answers: { description: 'Newest first.', schema: arrayOf(refTo('Operation')) },
      handle: async () => json(await operations.all()),
    }),
    getRoute('/operations/{id}', 'readOperation', {
      summary: 'Shows the progress of an operation, and its result.',
      params,
      answers: {
        description: 'The operation, with its result when it has succeeded.',
        schema: refTo('Operation'),
      },
      refuses,
      handle: async ({ params: { id = '' } }) => {
        const operation = await find(id);
        const bytes = operation.state === 'succeeded' ? await operations.resultBytes(id) : 0;
        if (bytes === 0) return json(operation);
        const pieces = withResult(operation, operations.result(id, bytes));
        return { kind: 'pieces', contentType: 'application/json', pieces };
      },
    }),
    orderRoute('/operations/{id}/cancel', 'cancelOperation', {
      summary:
        'Cancels an operation, whose message then names the operator and the reason. Resources that it has already marked are still synced.',
      params,
      answers: {
        status: 202,
        description: 'The operation ends at its next step.',
        schema: refTo('Operation'),
      },
      refuses,
      handle: async (_order, operator, { params: { id = '' } }) => {
        const operation = await find(id);
        if (operation.state === 'running') await operations.cancel(id, operator);
        return json(operation, 202);
      },
    }),
  ];
}
