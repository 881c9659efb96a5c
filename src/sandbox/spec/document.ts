// Serves `GET /api/v1/spec`: the OpenAPI document of the Platform and SCIM paths, for every authenticated caller
// (contract 4.9, ASSUMED-77).
import type { ApiFamily } from '../family.ts';
import type { Route } from '../routes.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { CONTROL_PLANE_SCHEMAS } from './control-plane.ts';
import { OPERATIONS, type OperationText } from './operations.ts';
import { anything, integer, ref, textSchema, type SpecSchema } from './parts.ts';
import { PEOPLE_SCHEMAS } from './user-schemas.ts';
import { WORKSPACE_SCHEMAS } from './workspace.ts';

const count = { type: 'integer', minimum: 0 };
const positive = { type: 'integer', minimum: 1 };
const PARAMETERS: Readonly<Record<string, SpecSchema>> = {
  offset: { ...count, default: 0 },
  limit: { ...count, default: DEFAULT_SETTINGS.pageDefault },
  first: positive,
  startIndex: { ...positive, default: 1 },
  count: { ...count, default: DEFAULT_SETTINGS.pageDefault },
  parentId: integer,
  folderId: integer,
  workbookId: integer,
  type: ref('UserAttributeType'),
  environmentType: ref('EnvironmentType'),
};
/**
 * Parameters whose name in the query is not their key in PARAMETERS: two parameters with different schemas are called
 * `type`.
 */
const QUERY_NAMES: Readonly<Record<string, string>> = { environmentType: 'type' };
const REFUSALS: readonly (readonly [status: string, meaning: string])[] = [
  ['400', 'The request cannot be read, or breaks a rule.'],
  ['401', 'The credential is missing, malformed or expired.'],
  ['403', 'The credential is valid, but not for this.'],
  ['404', 'Not found.'],
];
const CONFLICT = ['409', 'A value that must be unique is in use.'] as const;

const isScim = (path: string): boolean => path.startsWith('/api/scim/');
/** Returns the content of a body; SCIM also has its own media type. */
const bodyOf = (path: string, schema: SpecSchema): SpecSchema => ({
  'application/json': { schema },
  ...(isScim(path) ? { 'application/scim+json': { schema } } : {}),
});
const schemaOf = (name: string | undefined): SpecSchema => (name === undefined ? anything : ref(name));

interface ServedOperation {
  /** In lower case. */
  readonly method: string;
  /** With parameters in braces, as in OpenAPI. */
  readonly path: string;
}

/** Returns a description made from the path, for an operation without one. */
function plainText({ method, path }: ServedOperation): OperationText {
  // All segments except `build`, `api`, version, parameters.
  const words = path.split('/').filter((part) => part !== '' && !/^(build|api|v\d+|\{.*\})$/.test(part));
  const isOne = path.endsWith('}');
  // The same path may be served below `/api` and below `/build/api`, and an id must be unique.
  const isBuild = path.startsWith('/build');
  const id = [method, ...words, ...(isOne ? ['one'] : []), ...(isBuild ? ['build'] : [])]
    .join('-')
    .replace(/[-_](\w)/g, (_match, letter: string) => letter.toUpperCase());
  return { id, summary: `${isOne ? 'One of' : ''} ${words.join(' ').replaceAll('-', ' ')}`.trim() };
}

function tagOf(path: string): string {
  if (isScim(path)) return 'SCIM';
  if (/\/(users|roles|user-|groups)/.test(path)) return 'Users';
  return /\/(folders|workbooks|reports|workspace)/.test(path) ? 'Workspace' : 'Control plane';
}

function parametersOf(path: string, query: readonly string[]): SpecSchema[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: textSchema,
  }));
  const inQuery = query.map((name) => ({
    name: QUERY_NAMES[name] ?? name,
    in: 'query',
    schema: PARAMETERS[name] ?? textSchema,
  }));
  return [...inPath, ...inQuery];
}

function answersOf(path: string, operation: OperationText): SpecSchema {
  const { answer: named, status = '200' } = operation;
  // A name with a slash is a media type.
  const content = named?.includes('/') ? { [named]: { schema: textSchema } } : bodyOf(path, schemaOf(named));
  const error = bodyOf(path, ref(isScim(path) ? 'ScimError' : 'Error'));
  const refusals = operation.mayConflict ? [...REFUSALS, CONFLICT] : REFUSALS;
  return {
    [status]: { description: operation.summary, ...(status === '204' ? {} : { content }) },
    ...Object.fromEntries(refusals.map(([code, description]) => [code, { description, content: error }])),
  };
}

function describe(served: ServedOperation): SpecSchema {
  const operation = OPERATIONS.get(`${served.method} ${served.path}`) ?? plainText(served);
  const takesBody = operation.body !== undefined;
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: [tagOf(served.path)],
    parameters: parametersOf(served.path, operation.query ?? []),
    ...(takesBody
      ? { requestBody: { required: true, content: bodyOf(served.path, schemaOf(operation.body)) } }
      : {}),
    responses: answersOf(served.path, operation),
  };
}

/** Returns the document for these operations; `url` is the address of the platform. */
function toDocument(operations: readonly ServedOperation[], url: string): SpecSchema {
  const paths: Record<string, Record<string, SpecSchema>> = {};
  for (const served of operations) {
    paths[served.path] = { ...paths[served.path], [served.method]: describe(served) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Platform and SCIM', version: '1.0.0', description: 'As served by the sandbox.' },
    servers: [{ url }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key or an OAuth access token.' },
      },
      schemas: { ...PEOPLE_SCHEMAS, ...CONTROL_PLANE_SCHEMAS, ...WORKSPACE_SCHEMAS },
    },
  };
}

/** Returns the operations of all routers in the order of registration, so that the document lists what is served. */
function servedOperations(families: readonly ApiFamily[]): ServedOperation[] {
  return families
    .flatMap((family) => family.routers)
    .flatMap(({ mount, router }) =>
      router.stack.flatMap(({ route }) => {
        if (!route) return [];
        const path = `${mount}${route.path}`.replace(/:(\w+)/g, '{$1}');
        const methods = new Set(route.stack.map((layer) => layer.method));
        return [...methods].map((method) => ({ method, path }));
      }),
    );
}

/** Returns the route. `families` is called at each request, because this route belongs to one of them. */
export const specificationRoute = (families: () => readonly ApiFamily[]): Route => [
  'get',
  '/spec',
  ({ platformUrl }) => ({ status: 200, body: toDocument(servedOperations(families()), platformUrl) }),
];
