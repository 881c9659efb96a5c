// Compares the methods of the platform client with the OpenAPI document that the sandbox serves.
import { PlatformArgument, type PlatformCall, type WholePlatform } from '../../../src/platform/library.ts';
import { thrownBy } from './fake-platform.ts';
import { all, startClientRig, type ClientRig } from './sandbox-rig.ts';

let rig: ClientRig;
let client: WholePlatform;
const called = new Set<string>();

/** Replaces path parameters by one name, because the client's templates use other names. */
const normalised = (operation: string): string => operation.replace(/\{\w+\}/g, '{}');
const note = ({ method, route }: PlatformCall): unknown => called.add(normalised(`${method} ${route}`));

beforeAll(async () => {
  rig = await startClientRig();
  client = rig.clientWith({ onCall: note });
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

/** Operations without a method of the client, called by their path: the specification lists only their paths (contract 10). */
const BY_PATH = [
  'GET /api/v1/deployments/{deploymentId}/env-vars',
  'PUT /api/v1/deployments/{deploymentId}/env-vars',
  'GET /api/v1/deployments/{deploymentId}/dbt-sync',
  'POST /api/v1/deployments/{deploymentId}/dbt-sync',
  'GET /api/v1/deployments/{deploymentId}/notifications',
  'POST /api/v1/deployments/{deploymentId}/notifications',
  'GET /api/v1/regions',
  'GET /api/v1/github/status',
  'GET /api/v1/github/installations',
  'GET /api/v1/oauth-integrations',
  'POST /api/v1/oauth-integrations',
  'GET /api/v1/oauth-integrations/{id}',
  'DELETE /api/v1/oauth-integrations/{id}',
  'GET /api/v1/user-oauth-tokens',
  'GET /api/v1/user-oauth-tokens/{id}',
  'GET /api/v1/oidc-token-configs',
  'POST /api/v1/oidc-token-configs',
  'GET /api/v1/oidc-token-configs/{id}',
  'DELETE /api/v1/oidc-token-configs/{id}',
  'GET /api/v1/app-config',
  'POST /api/v1/embed/generate-session',
  'POST /api/v1/embed/session/token',
  'GET /api/v1/embed-tenants',
  'POST /api/v1/usage-analytics/token',
  'GET /api/v1/tenant/settings',
  'PUT /api/v1/tenant/settings',
  'POST /build/api/v1/deployments',
  'GET /build/api/v1/deployments/{deploymentId}/data-model/file-hashes',
  'POST /build/api/v1/deployments/{deploymentId}/github/connect',
] as const;

/** A console user for the calls below. */
const PERSON = { email: 'p@acme.example', username: 'p@acme.example' };
const IN_TENS = { count: 10 };
/** Id of the first deployment of the sandbox. */
const DEPLOYMENT = '1';

/** Calls every method once; unknown ids are enough, because only the address is compared. */
const CALLS: Record<string, (platform: WholePlatform) => unknown> = {
  'users.list': ({ users }) => users.list({}),
  'users.pages': ({ users }) => all(users.pages(IN_TENS)),
  'users.findBy': ({ users }) => users.findBy('userName', 'x'),
  'users.get': ({ users }) => users.get('x'),
  'users.create': ({ users }) => users.create({ userName: 'c@acme.example' }),
  'users.patch': ({ users }) => users.patch('x', []),
  'users.replace': ({ users }) => users.replace('x', { userName: 'x' }),
  'users.delete': ({ users }) => users.delete('x'),
  'groups.list': ({ groups }) => groups.list({}),
  'groups.pages': ({ groups }) => all(groups.pages(IN_TENS)),
  'groups.findByDisplayName': ({ groups }) => groups.findByDisplayName('x'),
  'groups.get': ({ groups }) => groups.get('x'),
  'groups.create': ({ groups }) => groups.create({ displayName: 'g' }),
  'groups.patch': ({ groups }) => groups.patch('x', []),
  'groups.replace': ({ groups }) => groups.replace('x', { displayName: 'g' }),
  'groups.delete': ({ groups }) => groups.delete('x'),
  'discovery.serviceProviderConfig': ({ discovery }) => discovery.serviceProviderConfig(),
  'discovery.resourceTypes': ({ discovery }) => discovery.resourceTypes(),
  'discovery.resourceType': ({ discovery }) => discovery.resourceType('User'),
  'discovery.schemas': ({ discovery }) => discovery.schemas(),
  'discovery.schema': ({ discovery }) => discovery.schema('x'),
  'accounts.search': ({ accounts }) => accounts.search('x'),
  'accounts.firstPage': ({ accounts }) => accounts.firstPage(),
  'accounts.me': ({ accounts }) => accounts.me(),
  'accounts.list': ({ accounts }) => all(accounts.list()),
  'accounts.create': ({ accounts }) => accounts.create(PERSON),
  'accounts.update': ({ accounts }) => accounts.update('99', {}),
  'accounts.delete': ({ accounts }) => accounts.delete('99'),
  'accounts.bulk': ({ accounts }) => accounts.bulk('ACTIVATE', ['99']),
  'accounts.updateMySettings': ({ accounts }) => accounts.updateMySettings({}),
  'roles.list': ({ roles }) => all(roles.list()),
  'roles.assign': ({ roles }) => roles.assign('99', '99'),
  'roles.remove': ({ roles }) => roles.remove('99', '99'),
  'userGroups.list': ({ userGroups }) => all(userGroups.list()),
  'userGroups.delete': ({ userGroups }) => userGroups.delete('99'),
  'attributes.list': ({ attributes }) => attributes.list(),
  'attributes.create': ({ attributes }) => attributes.create({ name: 'a', type: 'string' }),
  'attributes.update': ({ attributes }) => attributes.update('99', {}),
  'attributes.delete': ({ attributes }) => attributes.delete('99'),
  'values.list': ({ values }) => values.list('1'),
  'values.set': ({ values }) => values.set('1', '99', null),
  'deployments.list': ({ deployments }) => all(deployments.list()),
  'deployments.get': ({ deployments }) => deployments.get(DEPLOYMENT),
  'deployments.update': ({ deployments }) => deployments.update(DEPLOYMENT, {}),
  'deployments.versions': ({ deployments }) => deployments.versions(DEPLOYMENT),
  'deployments.switchVersion': ({ deployments }) => deployments.switchVersion(DEPLOYMENT, {}),
  'environments.list': ({ environments }) => all(environments.list(DEPLOYMENT)),
  'environments.createMetaToken': ({ environments }) =>
    environments.createMetaToken({ deploymentId: DEPLOYMENT, environmentId: 'x' }, { securityContext: {} }),
  'branches.list': ({ branches }) => all(branches.list(DEPLOYMENT)),
  'branches.setStaging': ({ branches }) => branches.setStaging(DEPLOYMENT, { branchName: 'x' }, true),
  'auditLog.export': ({ auditLog }) => all(auditLog.export()),
  'workspace.feed': ({ workspace }) => all(workspace.feed(DEPLOYMENT)),
  'workspace.folders': ({ workspace }) => all(workspace.folders(DEPLOYMENT)),
  'workspace.createFolder': ({ workspace }) => workspace.createFolder(DEPLOYMENT, { name: 'f' }),
  'workspace.updateFolder': ({ workspace }) => workspace.updateFolder(DEPLOYMENT, '99', {}),
  'workspace.deleteFolder': ({ workspace }) => workspace.deleteFolder(DEPLOYMENT, '99'),
  'workspace.ancestors': ({ workspace }) => workspace.ancestors(DEPLOYMENT, '99'),
  'workspace.workbooks': ({ workspace }) => all(workspace.workbooks(DEPLOYMENT)),
  'workspace.workbook': ({ workspace }) => workspace.workbook(DEPLOYMENT, '99'),
  'workspace.createWorkbook': ({ workspace }) => workspace.createWorkbook(DEPLOYMENT),
  'workspace.embedAccess': ({ workspace }) => workspace.embedAccess(DEPLOYMENT, '99'),
  'workspace.setEmbedAccess': ({ workspace }) => workspace.setEmbedAccess(DEPLOYMENT, '99', {}),
  'workspace.reports': ({ workspace }) => all(workspace.reports(DEPLOYMENT)),
  'workspace.createReport': ({ workspace }) => workspace.createReport(DEPLOYMENT),
  'workspace.move': ({ workspace }) =>
    workspace.move(DEPLOYMENT, { type: 'FOLDER', id: '99', folderId: null }),
  'resources.operations': ({ resources }) => resources.operations(),
  'resources.call': () => undefined,
  'resources.list': () => undefined,
};

const methodsOf = (platform: WholePlatform): string[] =>
  Object.entries(platform).flatMap(([family, methods]: [string, object]) =>
    typeof methods === 'function' ? [] : Object.keys(methods).map((name) => `${family}.${name}`),
  );

test("each operation of the platform's specification is sent by a method of the client or listed in BY_PATH", async () => {
  expect(Object.keys(CALLS).sort()).toEqual(methodsOf(client).sort());
  for (const call of Object.values(CALLS)) await Promise.resolve(call(client)).catch(() => undefined);
  const byPath = BY_PATH.map(normalised);
  expect(byPath.filter((operation) => called.has(operation))).toEqual([]);
  const served = await client.resources.operations();
  expect([...called, ...byPath].sort()).toEqual(served.map(({ name }) => normalised(name)).sort());
});

test('resources.call and resources.list call an operation by method, path and path parameters; a missing resource throws 404', async () => {
  const { resources } = client;
  const params = { deploymentId: DEPLOYMENT };
  const variables = 'api/v1/deployments/{deploymentId}/env-vars';
  const body = { items: [{ name: 'DB_HOST', value: 'db' }] };
  expect(await resources.call(`PUT /${variables}`, { params, body })).toMatchObject(body);
  expect(await all(resources.list(`GET /${variables}`, { params }))).toEqual(body.items);
  const made = await resources.call('POST /api/v1/oauth-integrations', {
    body: { name: 'one' },
    read: (answer, refuse) => {
      const { id } = answer as { id?: unknown };
      if (typeof id !== 'number') throw refuse('no id');
      return { id: String(id) };
    },
  });
  const one = 'api/v1/oauth-integrations/{id}';
  expect(await all(resources.list('GET /api/v1/oauth-integrations', {}))).toMatchObject([{ name: 'one' }]);
  expect(await resources.call(`GET /${one}`, { params: made })).toMatchObject({ name: 'one' });
  expect(await resources.call(`DELETE /${one}`, { params: made })).toBeUndefined();
  expect(await thrownBy(resources.call(`GET /${one}`, { params: made }))).toMatchObject({
    name: 'PlatformResponse',
    status: 404,
    route: `/${one}`,
  });
});

test('resources.call reaches the endpoint of every operation that has no method in the client', async () => {
  const params = { deploymentId: DEPLOYMENT, id: '1' };
  await client.resources.call('POST /api/v1/oauth-integrations', { body: {} });
  await client.resources.call('POST /api/v1/oidc-token-configs', { body: {} });
  for (const name of BY_PATH) {
    const body = name.startsWith('GET') || name.startsWith('DELETE') ? undefined : { items: [] };
    const failure: any = await client.resources.call(name, { params, body }).catch((fault: unknown) => fault);
    const status = failure instanceof Error ? (failure as { status?: number }).status : 200;
    // An invalid body answers 400, an unknown token or session 404.
    const isReached = status === 200 || status === 400 || /oauth-tokens\/|session\/token/.test(name);
    expect([name, status, isReached]).toEqual([name, status, true]);
  }
});

test('resources.list reads 231 folders to the end, page by page', async () => {
  const params = { deploymentId: '2' };
  const folders = Array.from({ length: 230 }, (_, place) => ({ deploymentId: '2', name: `f${place}` }));
  await rig.fixtures({ folders });
  const listed = await all(
    client.resources.list('GET /api/v1/deployments/{deploymentId}/folders', { params }),
  );
  expect(new Set(listed.map(({ id }) => id)).size).toBe(231);
});

test('resources.call with an unknown path, or a parameter that changes the path, throws PlatformArgument and sends no request', async () => {
  await rig.control('DELETE', '/requests');
  const { resources } = client;
  for (const path of [
    '/',
    '/state',
    '//evil.example/api/v1/x',
    '/api/v1/../../x',
    '/api/v1/x?y=1',
    '/api/v1/x#y',
    '/api/v1/x y',
    '/api/v1/',
    '/api/v2/x',
  ])
    expect(await thrownBy(resources.call(`GET ${path}` as 'GET /', {}))).toBeInstanceOf(PlatformArgument);
  for (const id of ['', '.', '..'])
    expect(
      await thrownBy(resources.call('GET /api/v1/oauth-integrations/{id}', { params: { id } })),
    ).toBeInstanceOf(PlatformArgument);
  expect((await rig.control('GET', '/requests')).body).toEqual([]);
});

test('accounts are created, changed, listed, given roles and deleted', async () => {
  const { accounts, roles } = client;
  const made = await accounts.create({ ...PERSON, firstName: 'P' });
  expect((await accounts.update(made.id, { title: 'Analyst', isDeactivated: true })).isDeactivated).toBe(
    true,
  );
  expect((await all(accounts.list())).map(({ id }) => id)).toContain(made.id);
  expect(await accounts.bulk('ACTIVATE', [made.id, '999'])).toEqual({
    succeeded: [made.id],
    failed: [{ userId: '999', status: 404, message: 'User not found' }],
  });
  expect(await thrownBy(accounts.bulk('DELETE', [made.id, 'abc']))).toBeInstanceOf(PlatformArgument);
  const [role] = await all(roles.list());
  await roles.assign(role?.id ?? '', made.id);
  expect((await rig.stored(PERSON.username)).roles).toContain(role?.name);
  await roles.remove(role?.id ?? '', made.id);
  expect((await rig.stored(PERSON.username)).roles).not.toContain(role?.name);
  await accounts.delete(made.id);
  expect(await rig.stored(PERSON.username)).toBeUndefined();
});

test('a SCIM user and a SCIM group are replaced by PUT, and the group is found and deleted through userGroups', async () => {
  const { users, groups, userGroups } = client;
  const user = await users.create({ userName: 'r@acme.example', displayName: 'Before' });
  expect(await users.replace(user.id, { userName: 'r@acme.example', active: false })).toMatchObject({
    active: false,
  });
  const group = await groups.create({ displayName: 'crew' });
  const replaced = await groups.replace(group.id, { displayName: 'crew', members: [{ value: user.id }] });
  expect(replaced.members).toMatchObject([{ value: user.id }]);
  const [listed] = await all(userGroups.list({ search: 'CREW' }));
  expect(listed).toMatchObject({ name: 'crew', userCount: 1 });
  await userGroups.delete(listed?.id ?? '');
  expect(await rig.storedGroup('crew')).toBeUndefined();
});

test('the SCIM discovery documents are read, and a schema read by its id equals its entry in the list', async () => {
  const { discovery } = client;
  expect(await discovery.serviceProviderConfig()).toMatchObject({ patch: { supported: true } });
  expect((await discovery.resourceTypes()).map(({ endpoint }) => endpoint)).toEqual(['/Users', '/Groups']);
  const [schema] = await discovery.schemas();
  expect(await discovery.schema(schema?.id ?? '')).toEqual(schema);
});

test('an attribute definition is created, changed and deleted', async () => {
  const { attributes } = client;
  const definition = await attributes.create({ name: 'level', type: 'number' });
  expect(await attributes.update(definition.id, { displayName: 'Level' })).toMatchObject({
    displayName: 'Level',
  });
  await attributes.delete(definition.id);
  expect((await attributes.list()).map(({ name }) => name)).not.toContain('level');
});

test('dashboards are returned with their kind and ids as text, and the embed access of a workbook is read and changed', async () => {
  const config = { kind: 'CLASSIC', widgets: [] };
  const snapshot = { id: 5, reportId: 6, versionNumber: 1, kind: 'kpi' };
  const publishedDashboard = {
    id: 3,
    deploymentId: 1,
    workbookId: 4,
    versionNumber: 2,
    versionId: 9,
    publicId: 'p',
    status: 'published',
    allowEmbed: false,
    config,
    reportSnapshots: [snapshot],
  };
  const { workbooks } = await rig.fixtures({
    workbooks: [{ deploymentId: DEPLOYMENT, name: 'w', dashboardDraft: config, publishedDashboard }],
  });
  const { workspace, deployments } = client;
  const item = await workspace.workbook(DEPLOYMENT, String(workbooks[0].id));
  expect(item.dashboardDraft?.kind).toBe('CLASSIC');
  expect(item.dashboardPublished).toBeUndefined();
  expect(item.publishedDashboard).toMatchObject({
    id: '3',
    workbookId: '4',
    versionId: '9',
    versionNumber: 2,
  });
  expect(item.publishedDashboard?.reportSnapshots[0]).toMatchObject({ id: '5', reportId: '6', kind: 'kpi' });
  const access = { allowEmbed: true, allEmbedUsers: false, tenants: ['acme'] };
  expect(
    await workspace.setEmbedAccess(DEPLOYMENT, item.id, { allowEmbed: true, tenants: ['acme'] }),
  ).toEqual(access);
  expect(await workspace.embedAccess(DEPLOYMENT, item.id)).toEqual(access);
  expect((await workspace.workbook(DEPLOYMENT, item.id)).publishedDashboard?.allowEmbed).toBe(true);
  await deployments.update(DEPLOYMENT, { name: 'renamed' });
  expect(await deployments.get(DEPLOYMENT)).toMatchObject({
    id: DEPLOYMENT,
    name: 'renamed',
    deployBranchName: 'main',
  });
});
