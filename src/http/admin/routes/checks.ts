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
 * The options that the API offers. The command line has more: an address in a request would let a client send the
 * service's token anywhere, and API secrets of a deployment must not travel to the bridge.
 */
type AccessBody = Pick<
  AccessQuestion,
  'user' | 'connection' | 'target' | 'deployment' | 'environment' | 'query'
>;

const named = (description: string) => ({ ...textField, minLength: 1, maxLength: 1000, description });

export const checkRoutes = (context: AdminContext): AdminRoute[] => [
  route({
    method: 'get',
    path: '/doctor',
    id: 'doctor',
    command: 'doctor --json',
    summary: 'Examines Redis, every target, clocks and settings, and says what to do.',
    answers: {
      status: 200,
      description: 'One finding each; something must be done where a level is error.',
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
    summary: 'Reads one person back from the platform and tells what this person really sees.',
    body: body(
      {
        user: named('userName, externalId, address, id, or a ref such as User:3f…'),
        connection: named('Where the same person came through several.'),
        target: named('Where the person is brought to several.'),
        deployment: named('Id or name; the first that the platform key reaches if left out.'),
        environment: named('Id or name; production if left out.'),
        query: { type: 'object', description: 'JSON query to run; a count that fits if left out.' },
      },
      ['user'],
    ),
    answers: {
      status: 200,
      description: 'The chain push → stored → applied → visible; ok is false where a link is missing.',
      schema: refTo('AccessReport'),
    },
    refuses: {
      404: 'Nobody is known so, or there is no such target.',
      409: 'It means several people or targets, or names a deployment or environment that is not there.',
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
      throw new Problem(404, 'Nobody is known so: the identity provider has not pushed this person.');
    case 'unclear':
      throw new Problem(409, answer.message);
    case 'unread':
      throw new Problem(
        502,
        `The platform cannot be read: ${answer.message}. GET /admin/v1/doctor tells more.`,
      );
  }
}
