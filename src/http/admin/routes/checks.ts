// Routes of doctor and verify-access. Both read from Redis and the platform and write nothing.
import type { AccessQuestion } from '../../../verify-access/verify-access.ts';
import { Problem } from '../problem.ts';
import {
  json,
  requireTarget,
  route,
  type AdminAnswer,
  type AdminContext,
  type AdminRoute,
} from '../route.ts';
import { arrayOf, body, textField } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';

/**
 * The options that the API offers. The command line also takes a platform address and the API secret of a deployment. They
 * are left out here: with an address a client could send the token of the service anywhere, and secrets must not be sent
 * to the bridge.
 */
type AccessBody = Pick<
  AccessQuestion,
  'user' | 'connection' | 'target' | 'deployment' | 'environment' | 'query'
>;

/** Schema of a field that takes a name or an id. */
const named = (description: string) => ({ ...textField, minLength: 1, maxLength: 1000, description });

export const checkRoutes = (context: AdminContext): AdminRoute[] => [
  route({
    method: 'get',
    path: '/doctor',
    id: 'doctor',
    command: 'doctor --json',
    summary: 'Checks Redis, every target, clocks and settings, and says what to do.',
    answers: {
      status: 200,
      description: 'One finding for each check; a finding of level error has to be mended.',
      schema: arrayOf(refTo('Finding')),
    },
    handle: async ({ signal }) => json(await context.check(signal)),
  }),
  route<AccessBody>({
    method: 'post',
    path: '/verify-access',
    id: 'verifyAccess',
    right: 'read',
    command: 'verify-access USER --json',
    summary: 'Reads one person from the platform and reports what this person can see there.',
    body: body(
      {
        user: named('userName, externalId, address, id, or a ref such as User:3f…'),
        connection: named('Needed when several connections have pushed the person.'),
        target: named('Needed when the person is synced to several targets.'),
        deployment: named('Id or name; default: the first deployment that the platform key reaches.'),
        environment: named('Id or name; default: production.'),
        query: { type: 'object', description: 'JSON query to run; default: a query that counts rows.' },
      },
      ['user'],
    ),
    answers: {
      status: 200,
      description:
        'The chain push → stored → applied → visible; ok is false when a link of the chain is missing.',
      schema: refTo('AccessReport'),
    },
    refuses: {
      404: 'No person has this name, or there is no such target.',
      409: 'The request fits several people or targets, or names an unknown deployment or environment.',
      502: 'The platform cannot be read.',
    },
    handle: ({ body, signal }) => verify(context, body, signal),
  }),
];

async function verify(context: AdminContext, body: AccessBody, signal: AbortSignal): Promise<AdminAnswer> {
  requireTarget(context, body.target);
  // Loaded at the first request, so that a process that only receives pushes does not keep the module in memory.
  const { askAccess } = await import('../../../verify-access/verify-access.ts');
  const scopes = context.scopes.map(({ scope }) => scope);
  const answer = await askAccess({ scopes, addresses: context.addresses }, body, signal);
  switch (answer.kind) {
    case 'report':
      return json(answer.report);
    case 'unknown':
      throw new Problem(404, 'No person has this name: the identity provider has not pushed this person.');
    case 'unclear':
      throw new Problem(409, answer.message);
    case 'unread':
      throw new Problem(
        502,
        `The platform cannot be read: ${answer.message}. GET /admin/v1/doctor tells more.`,
      );
  }
}
