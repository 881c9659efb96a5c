// Compares the sandbox's OpenAPI document with its answers (contract 4.9).
import { Ajv2020 } from 'ajv/dist/2020.js';
import { startRig, type Rig } from './rig.ts';

const SPEC = '/api/v1/spec';
let rig: Rig;
let document: any;
let operations: { method: string; path: string; operation: any }[];

beforeAll(async () => {
  rig = await startRig();
  document = (await rig.call('GET', SPEC)).body;
  operations = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
});
afterAll(() => rig.stop());

/** Returns the path with ids of the seed. */
function filled(path: string, ids: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_match, name: string) => ids[name] ?? '1');
}

test('PATH-26 EVT-06 the OpenAPI document answers 401 without a credential, and 200 with the API key of a viewer', async () => {
  expect((await rig.call('GET', SPEC, { key: null })).status).toBe(401);
  expect((await rig.call('GET', SPEC, { key: rig.key('viewer') })).status).toBe(200);
});

test("EVT-04 the sandbox's API document is OpenAPI 3.1 and has the version 1.0.0", () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(document.info).toMatchObject({ title: expect.any(String), version: '1.0.0' });
  expect(document.servers).toEqual([{ url: rig.ready.platformUrl }]);
});

test('EVT-03 each path of the OpenAPI document has its version: v1 of the platform, v2 of SCIM', () => {
  for (const path of Object.keys(document.paths)) {
    expect(path).toMatch(/^(\/build)?\/api\/v1\/|^\/api\/scim\/v2\//);
  }
});

test('EVT-05 the OpenAPI document lists the endpoints of SCIM, users, attributes, deployments, branches, workspace and audit log', () => {
  const listed = operations.map(({ method, path }) => `${method} ${path}`);
  const deployment = '/api/v1/deployments/{deploymentId}';
  const build = '/build/api/v1/deployments';
  expect(listed).toEqual(
    expect.arrayContaining([
      ...['get', 'post'].flatMap((method) => [
        `${method} /api/scim/v2/Users`,
        `${method} /api/scim/v2/Groups`,
      ]),
      ...['get', 'put', 'patch', 'delete'].map((method) => `${method} /api/scim/v2/Users/{id}`),
      'get /api/v1/users',
      'post /api/v1/users/bulk',
      'patch /api/v1/users/me/settings',
      'put /api/v1/user-attributes/{id}',
      'get /api/v1/user-attribute-values/{userId}',
      'get /api/v1/deployments',
      `put ${deployment}`,
      `get ${deployment}/versions`,
      `get ${deployment}/environments`,
      `post ${deployment}/environments/{environmentId}/tokens-for-meta-sync`,
      `get ${build}/{deploymentId}/branches`,
      `put ${build}/{deploymentId}/branches/staging-environment`,
      `post ${build}`,
      `post ${deployment}/workspace/move`,
      'get /api/v1/audit-logs/export',
      'get /api/v1/regions',
      'post /api/v1/usage-analytics/token',
      'get /api/v1/spec',
    ]),
  );
});

test('EVT-05 every endpoint that the OpenAPI document lists is served', async () => {
  for (const { method, path } of operations) {
    const { status, body } = await rig.call(method.toUpperCase(), filled(path, {}), { raw: '[]' });
    // An unknown path has this answer; a missing object has an answer that names it.
    const isNowhere = status === 404 && (body.error ?? body.detail) === 'Not found';
    const mayBeMissing = /\{(id|integrationId)\}$/.test(path);
    expect([method, path, isNowhere && !mayBeMissing]).toEqual([method, path, false]);
  }
  await rig.reset();
});

test('the OpenAPI document has unique operation ids, declares all path parameters, and refers to existing schemas', () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, operation } of operations) {
    const declared = operation.parameters
      .filter((one: { in: string }) => one.in === 'path')
      .map((one: { name: string }) => one.name);
    expect(declared).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    expect(operation.summary).not.toBe('');
  }
  for (const [, name = ''] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    expect(document.components.schemas).toHaveProperty(name);
  }
});

test('the OpenAPI document lists 409 for each POST that answers 409 to a taken name, and application/scim+json for SCIM', async () => {
  const twice: [path: string, template: string, body: object][] = [
    ['/api/scim/v2/Users', '/api/scim/v2/Users', { userName: 'taken@acme.example' }],
    ['/api/scim/v2/Groups', '/api/scim/v2/Groups', { displayName: 'taken' }],
    ['/api/v1/users', '/api/v1/users', { email: 'x@acme.example', username: 'taken' }],
    ['/api/v1/user-attributes', '/api/v1/user-attributes', { name: 'taken', type: 'string' }],
    [
      '/api/v1/deployments/1/reports',
      '/api/v1/deployments/{deploymentId}/reports',
      { publicId: 'abcdefABCD12' },
    ],
  ];
  for (const [path, template, body] of twice) {
    await rig.post(path, body);
    expect([path, (await rig.post(path, body)).status]).toEqual([path, 409]);
    expect(document.paths[template].post.responses).toHaveProperty('409');
  }
  const accept = { headers: { accept: 'application/scim+json' } };
  const { headers } = await rig.call('GET', '/api/scim/v2/Users/nobody', accept);
  const [media = ''] = String(headers['content-type']).split(';');
  const { responses } = document.paths['/api/scim/v2/Users/{id}'].get;
  for (const status of ['200', '404']) expect(Object.keys(responses[status].content)).toContain(media);
  await rig.reset();
});

test('GET answers of the seeded tenant are valid by the schemas of the OpenAPI document', async () => {
  const user = await rig.user('s@acme.example', {
    name: { givenName: 'S' },
    emails: [{ value: 's@acme.example' }],
  });
  const group = await rig.group('analysts', [user]);
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'spec');
  let checked = 0;
  for (const { path, operation, method } of operations) {
    const schema = operation.responses['200']?.content['application/json']?.schema;
    if (method !== 'get' || !schema?.$ref) continue;
    const workbooks = (await rig.call('GET', '/api/v1/deployments/1/workbooks')).body.items;
    const id = path.includes('/Users/') ? user.id : group.id;
    const address = filled(path, { id, workbookId: String(workbooks[0].id) });
    const { status, body } = await rig.call('GET', address);
    const isValid = ajv.validate({ $ref: `spec${schema.$ref}` }, body);
    expect([address, status, isValid || ajv.errors]).toEqual([address, 200, true]);
    checked += 1;
  }
  expect(checked).toBeGreaterThan(20);
});
