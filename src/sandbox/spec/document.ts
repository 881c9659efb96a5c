// The OpenAPI document of the Platform and SCIM paths, as `/api/v1/spec` serves it (contract 4.9, ASSUMED-77).
import { CONTROL_PLANE_SCHEMAS } from './control-plane-schemas.ts';
import type { OperationText } from './operation-text.ts';
import { OPERATIONS } from './operations.ts';
import { PEOPLE_SCHEMAS } from './people-schemas.ts';
import type { ServedOperation } from './served.ts';
import { anything, integer, ref, text, type Schema } from './schema-words.ts';
import { WORKSPACE_SCHEMAS } from './workspace-schemas.ts';

const count = { type: 'integer', minimum: 0 };
const positive = { type: 'integer', minimum: 1 };
const PARAMETERS: Readonly<Record<string, Schema>> = {
  offset: { ...count, default: 0 },
  limit: { ...count, default: 20 },
  first: positive,
  startIndex: { ...positive, default: 1 },
  count: { ...count, default: 20 },
  parentId: integer,
  folderId: integer,
  workbookId: integer,
  type: ref('UserAttributeType'),
  environmentType: ref('EnvironmentType'),
};
/** Parameters whose name in the query is another than their name here. */
const QUERY_NAMES: Readonly<Record<string, string>> = { environmentType: 'type' };
const REFUSALS: readonly [status: string, meaning: string][] = [
  ['400', 'The request cannot be read, or breaks a rule.'],
  ['401', 'The credential is missing, malformed or expired.'],
  ['403', 'The credential is valid, but not for this.'],
  ['404', 'Not found.'],
];
const CONFLICT: readonly [status: string, meaning: string] = ['409', 'What must be unique is taken.'];

const isScim = (path: string): boolean => path.startsWith('/api/scim/');
/** SCIM speaks its own media type too, to whoever asks for it. */
const bodyOf = (path: string, schema: Schema): Schema => ({
  'application/json': { schema },
  ...(isScim(path) ? { 'application/scim+json': { schema } } : {}),
});
const schemaOf = (name: string | undefined): Schema => (name === undefined ? anything : ref(name));

/** An id and a sentence for an operation that has none of its own. */
function plainText({ method, path }: ServedOperation): OperationText {
  const words = path.split('/').filter((part) => part !== '' && !/^(build|api|v\d+|\{.*\})$/.test(part));
  const target = path.endsWith('}') ? 'One of' : '';
  const id = [method, ...words, ...(target ? ['one'] : []), ...(path.startsWith('/build') ? ['build'] : [])]
    .join('-')
    .replace(/[-_](\w)/g, (_match, letter: string) => letter.toUpperCase());
  return { id, summary: `${target} ${words.join(' ').replaceAll('-', ' ')}`.trim() };
}

function tagOf(path: string): string {
  if (isScim(path)) return 'SCIM';
  if (/\/(users|roles|user-|groups)/.test(path)) return 'Users';
  return /\/(folders|workbooks|reports|workspace)/.test(path) ? 'Workspace' : 'Control plane';
}

function parametersOf(path: string, query: readonly string[]): Schema[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: text,
  }));
  const inQuery = query.map((name) => ({
    name: QUERY_NAMES[name] ?? name,
    in: 'query',
    schema: PARAMETERS[name] ?? text,
  }));
  return [...inPath, ...inQuery];
}

function answersOf(path: string, operation: OperationText): Schema {
  const status = operation.status ?? 200;
  const media = operation.media;
  const content =
    media === undefined ? bodyOf(path, schemaOf(operation.answer)) : { [media]: { schema: text } };
  const error = bodyOf(path, ref(isScim(path) ? 'ScimError' : 'Error'));
  const refusals = operation.mayConflict ? [...REFUSALS, CONFLICT] : REFUSALS;
  return {
    [status]: { description: operation.summary, ...(status === 204 ? {} : { content }) },
    ...Object.fromEntries(refusals.map(([code, description]) => [code, { description, content: error }])),
  };
}

function describe(served: ServedOperation): Schema {
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

/** The document for these operations on this host. */
export function toDocument(operations: readonly ServedOperation[], url: string): Schema {
  const paths: Record<string, Record<string, Schema>> = {};
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
