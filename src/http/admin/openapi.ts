// Generates the OpenAPI document of the admin API from its routes.
import { rightFor, type AdminRoute, type JsonSchema } from './route.ts';
import { ROLE_FOR } from './sign-in/rights.ts';
import { SCHEMAS } from './schemas.ts';

/** Error statuses that every route may answer, with their descriptions. */
const ALWAYS: Record<number, string> = {
  400: 'The request is not valid; errors lists every fault with its place.',
  401: 'Nobody is signed in, or the admin token is wrong.',
  403: 'The caller does not have the role that this route needs.',
  429: 'Too many requests; Retry-After says how long to wait.',
  500: 'An unexpected error; a line of the log has the errorId.',
  503: 'Redis does not answer, or takes no writes; Retry-After says when to retry.',
};

/** Returns the document as OpenAPI 3.1. */
export function openApiDocument(routes: readonly AdminRoute[]): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method] = operationOf(route);
  return {
    openapi: '3.1.0',
    info: {
      title: 'scim-bridge admin API',
      version: '1',
      summary: 'The functions of the command scim-bridge, as JSON over HTTP.',
      description:
        'For operators and their tools, with the admin token. Answers are equal to the output of the command with --json. ' +
        'Refusals are problem documents (RFC 9457) whose detail says what to do.',
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/admin/v1' }],
    // One of the two is enough; neither has OAuth scopes.
    security: [{ adminToken: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-scim-bridge-session',
          description: 'Session of a person who signed in at /admin/; only the page sends it.',
        },
      },
      schemas: SCHEMAS,
    },
  };
}

function operationOf(route: AdminRoute): JsonSchema {
  const role = ROLE_FOR[rightFor(route)];
  const { status = 200, description, schema, contentType = 'application/json', headers } = route.answers;
  const refusals = { ...ALWAYS, ...route.refuses };
  return {
    operationId: route.id,
    summary: route.summary,
    description: [
      `Needs the role ${role}.`,
      ...(route.command === undefined ? [] : [`Same as the command \`scim-bridge ${route.command}\`.`]),
    ].join(' '),
    parameters: parametersOf(route),
    ...(route.body && {
      requestBody: {
        required: !route.bodyOptional,
        content: { 'application/json': { schema: route.body } },
      },
    }),
    responses: {
      [status]: {
        description,
        ...(headers && { headers: headersOf(headers) }),
        ...(schema && { content: contentOf([contentType].flat(), schema) }),
      },
      ...Object.fromEntries(
        Object.entries(refusals).map(([code, reason]) => [
          code,
          { description: reason, content: { 'application/problem+json': { schema: problem } } },
        ]),
      ),
    },
  };
}

const headersOf = (headers: Readonly<Record<string, string>>): JsonSchema =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );

const contentOf = (types: readonly string[], schema: JsonSchema): JsonSchema =>
  Object.fromEntries(types.map((type) => [type, { schema }]));

const problem = { $ref: '#/components/schemas/Problem' };

function parametersOf({ params = {}, query = {} }: AdminRoute): JsonSchema[] {
  return [
    ...Object.entries(params).map(([name, description]) => ({
      name,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    ...Object.entries(query).map(([name, { description, schema, required = false }]) => ({
      name,
      in: 'query',
      required,
      description,
      schema,
    })),
  ];
}
