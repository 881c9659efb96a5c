// Routes of dead letters: lists resources that cannot be synced without an operator, and retries or drops them.
import type { Actor } from '../../../directory/logs/acts.ts';
import type { DesiredState } from '../../../directory/desired-state.ts';
import {
  dropDeadLetters,
  findDeadLetters,
  listDeadLetters,
  retryDeadLetters,
  type DeadLetter,
  type DeadLetterPage,
  type DeadLetterSelection,
} from '../../../ops/dead-letters.ts';
import { Problem } from '../problem.ts';
import { json, getRoute, requireFed, type AdminContext, type AdminRoute } from '../route.ts';
import { orderRoute } from '../operator-fields.ts';
import { arrayOf, onlyConnection, onlyTarget, textField, toQuery } from '../schema-fields.ts';
import { MOST_OF_A_PAGE, pageFields } from '../list-page.ts';
import { refTo } from '../schemas.ts';

const letters = arrayOf(refTo('DeadLetter'));
const refuses = { 404: 'There is no such dead letter.' };
const orderRefuses = { 404: 'There is no such dead letter, connection or target.' };

export const deadLetterRoutes = (context: AdminContext): AdminRoute[] => [
  getRoute<DeadLetterPage>('/dead-letters', 'listDeadLetters', {
    command: 'dead-letters list --json',
    summary: 'Lists the dead letters with the reason that the platform gave.',
    query: toQuery(pageFields('dead letters')),
    answers: {
      description: 'By connection and target, the oldest first. GET /status has their numbers.',
      schema: letters,
    },
    handle: async ({ query: { offset, limit = MOST_OF_A_PAGE } }) =>
      json(await listDeadLetters(context.states, { offset, limit })),
  }),
  getRoute('/dead-letters/{ref}', 'showDeadLetter', {
    command: 'dead-letters show NAME',
    summary: 'Shows the dead letters of one resource, at every target that has one.',
    params: { ref: 'A ref such as User:3f…, or a name, mail or id.' },
    answers: { description: 'One dead letter for each target.', schema: letters },
    refuses,
    handle: async ({ params }) => {
      const found = await findDeadLetters(context.states, [params.ref ?? '']);
      if (found.length === 0)
        throw new Problem(404, `${params.ref} is no dead letter: see /admin/v1/dead-letters.`);
      return json(found);
    },
  }),
  decisionRoute(context, 'retry', 'Syncs dead letters again now.', retryDeadLetters),
  decisionRoute(
    context,
    'drop',
    'Removes dead letters from the list. The desired state stays, and the next change of the resource is synced.',
    dropDeadLetters,
  ),
];

function decisionRoute(
  context: AdminContext,
  name: 'retry' | 'drop',
  summary: string,
  run: (
    states: readonly DesiredState[],
    selection: DeadLetterSelection,
    actor: Actor,
  ) => Promise<DeadLetter[]>,
): AdminRoute {
  return orderRoute<{ refs?: string[]; all?: true; connection?: string; target?: string }>(
    `/dead-letters/${name}`,
    `${name}DeadLetters`,
    {
      command: `dead-letters ${name}`,
      summary,
      fields: {
        refs: {
          ...arrayOf(textField),
          minItems: 1,
          description: 'The resources: refs such as User:3f…, names, mails or ids.',
        },
        all: { const: true, description: 'All dead letters.' },
        connection: onlyConnection,
        target: onlyTarget,
      },
      oneOf: [{ required: ['refs'] }, { required: ['all'] }],
      answers: {
        description: 'The number of dead letters that were retried or dropped, and their resources.',
        schema: refTo('Selection'),
      },
      refuses: orderRefuses,
      handle: async ({ refs, connection, target }, actor) => {
        requireFed(context, { connection, target });
        const selection = { ...(refs ? { refs } : { all: true as const }), connection, target };
        const reached = await run(context.states, selection, actor);
        if (reached.length === 0 && refs)
          throw new Problem(404, 'None of these is a dead letter: see /admin/v1/dead-letters.');
        return json({ count: reached.length, resources: [...new Set(reached.map(({ ref }) => ref))] });
      },
    },
  );
}
