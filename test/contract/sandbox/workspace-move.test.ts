// Tests the move of workspace items: refusals, effects, and the order of the checks (contract 4.7, rows MOVE).
import { BASE, MOVE, startWorkspaceRig, type WorkspaceRig } from './workspace-rig.ts';

let rig: WorkspaceRig;

beforeAll(async () => {
  rig = await startWorkspaceRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const WORKBOOK = (id: number, folderId: number | null = null) => ({ type: 'WORKBOOK', id, folderId });
const REPORT = (id: number, folderId: number | null = null) => ({ type: 'REPORT', id, folderId });
const FOLDER = (id: number, folderId: number | null = null) => ({ type: 'FOLDER', id, folderId });
const statusOf = async (body: object, key?: string) => (await rig.move(body, key)).status;

test('MOVE-01 a move in a deployment whose id is no number answers 400', async () => {
  expect((await rig.post('/api/v1/deployments/x/workspace/move', WORKBOOK(1))).status).toBe(400);
});

test('MOVE-02 a move without type or id answers 400 with an error text', async () => {
  const { id } = await rig.workbook();
  for (const body of [{}, { type: 'WORKBOOK' }, { id }, { type: null, id }, { type: 'WORKBOOK', id: null }]) {
    const answer = await rig.move(body);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.any(String) }]);
  }
});

test('MOVE-03 a move of an unknown type answers 400', async () => {
  const { id } = await rig.workbook();
  for (const type of ['DASHBOARD', 'workbook', '', 5, ['WORKBOOK']]) {
    expect(await statusOf({ type, id })).toBe(400);
  }
});

test('MOVE-04 a move of an id that is no integer answers 400', async () => {
  const { id } = await rig.workbook();
  for (const wrong of ['x', String(id), id + 0.5, [id], { id }, true]) {
    expect(await statusOf({ type: 'WORKBOOK', id: wrong })).toBe(400);
  }
});

test('a move to a folderId that is neither an integer nor null answers 400', async () => {
  const { id } = await rig.workbook();
  for (const folderId of ['1', 1.5, [], {}, false]) {
    expect(await statusOf({ type: 'WORKBOOK', id, folderId })).toBe(400);
  }
});

test('MOVE-05 a move without a body answers 400', async () => {
  expect((await rig.call('POST', MOVE)).status).toBe(400);
  expect((await rig.call('POST', MOVE, { raw: '[]' })).status).toBe(400);
});

test('MOVE-06 a move with folderId null moves the workbook, report or folder to the root', async () => {
  const folder = await rig.folder();
  for (const [type, item] of [
    ['WORKBOOK', await rig.workbook(folder.id)],
    ['REPORT', await rig.report(folder.id)],
    ['FOLDER', await rig.folder(folder.id)],
  ]) {
    const { status, body } = await rig.move({ type, id: item.id, folderId: null });
    expect([status, body.folderId, body.folderPath]).toEqual([200, null, []]);
  }
});

test('MOVE-07 a folder that is moved to another folder has that folder as its parent', async () => {
  const [parent, child] = [await rig.folder(null, 'parent'), await rig.folder(null, 'child')];
  expect(await statusOf(FOLDER(child.id, parent.id))).toBe(200);
  const { body } = await rig.call('GET', `${BASE}/folders/${child.id}/ancestors`);
  expect(body.map((folder: { name: string }) => folder.name)).toEqual(['parent', 'child']);
});

test('MOVE-08 a move returns the item with its new folder, as a later GET returns it', async () => {
  const folder = await rig.folder();
  const workbook = await rig.workbook();
  await rig.control('POST', '/clock', { advanceMs: 1000 });
  const { body } = await rig.move(WORKBOOK(workbook.id, folder.id));
  expect(body).toMatchObject({ id: workbook.id, folderId: folder.id, createdAt: workbook.createdAt });
  expect(body.updatedAt > workbook.updatedAt).toBe(true);
  expect((await rig.call('GET', `${BASE}/workbooks/${workbook.id}`)).body).toEqual(body);
});

test('MOVE-09 moving a workbook without the manage right on it answers 403', async () => {
  const { id } = await rig.workbook();
  expect(await statusOf(WORKBOOK(id), await rig.person([]))).toBe(403);
  expect(await statusOf(WORKBOOK(id), await rig.person([{ type: 'WORKBOOK', id, action: 'edit' }]))).toBe(
    403,
  );
});

test('MOVE-10 moving a workbook answers 403 without the edit right on the destination folder, and 200 with it', async () => {
  const [{ id }, folder] = [await rig.workbook(), await rig.folder()];
  const own = { type: 'WORKBOOK', id, action: 'manage' } as const;
  const attempt = async (action?: 'read' | 'edit') =>
    statusOf(
      WORKBOOK(id, folder.id),
      await rig.person(action ? [own, { type: 'FOLDER', id: folder.id, action }] : [own]),
    );
  expect([await attempt(), await attempt('read'), await attempt('edit')]).toEqual([403, 403, 200]);
});

test('MOVE-11 moving a workbook to the root answers 200 without a right on the root', async () => {
  const folder = await rig.folder();
  const { id } = await rig.workbook(folder.id);
  const key = await rig.person([{ type: 'WORKBOOK', id, action: 'manage' }]);
  expect(await statusOf(WORKBOOK(id), key)).toBe(200);
});

test('MOVE-12 moving a report answers 200 with its edit right and ReportManage, whatever the destination, and 403 if one is missing', async () => {
  const [{ id }, folder] = [await rig.report(), await rig.folder()];
  const edit = { type: 'REPORT', id, action: 'edit' } as const;
  const attempt = async (grants: (typeof edit)[], permissions: string[]) =>
    statusOf(REPORT(id, folder.id), await rig.person(grants, permissions));
  expect(await attempt([edit], [])).toBe(403);
  expect(await attempt([], ['ReportManage'])).toBe(403);
  expect(await attempt([edit], ['ReportManage'])).toBe(200);
});

test('MOVE-13 moving a folder answers 403 with the edit right on it, and 200 with the manage right', async () => {
  const { id } = await rig.folder();
  expect(await statusOf(FOLDER(id), await rig.person([{ type: 'FOLDER', id, action: 'edit' }]))).toBe(403);
  expect(await statusOf(FOLDER(id), await rig.person([{ type: 'FOLDER', id, action: 'manage' }]))).toBe(200);
});

test('MOVE-14 moving a folder answers 403 with the read right on the destination, and 200 with edit or manage', async () => {
  const parent = await rig.folder();
  for (const [action, expected] of [
    ['read', 403],
    ['edit', 200],
    ['manage', 200],
  ] as const) {
    const { id } = await rig.folder();
    const key = await rig.person([
      { type: 'FOLDER', id, action: 'manage' },
      { type: 'FOLDER', id: parent.id, action },
    ]);
    expect(await statusOf(FOLDER(id, parent.id), key)).toBe(expected);
  }
});

test('MOVE-15 MOVE-16 MOVE-17 MOVE-20 moving a folder into itself, a child or a deeper descendant answers 400 and moves nothing', async () => {
  const chain = await rig.chain(4);
  const before = await rig.tree();
  for (const folderId of [chain[0], chain[1], chain[3]]) {
    const answer = await rig.move({ type: 'FOLDER', id: chain[0], folderId });
    expect([answer.status, answer.body]).toEqual([400, { error: expect.any(String) }]);
  }
  expect(await rig.tree()).toEqual(before);
});

test('MOVE-18 MOVE-20 MOVE-21 moving a folder below the tenth level answers 400 and moves nothing', async () => {
  const chain = await rig.chain(10);
  const { id } = await rig.folder();
  expect((await rig.post(`${BASE}/folders`, { name: 'eleventh', parentId: chain[9] })).status).toBe(400);
  const before = await rig.tree();
  expect(await statusOf(FOLDER(id, chain[9]))).toBe(400);
  expect(await rig.tree()).toEqual(before);
  expect(await statusOf(FOLDER(id, chain[8]))).toBe(200);
  expect(await statusOf(WORKBOOK((await rig.workbook()).id, chain[9]))).toBe(200);
});

test('MOVE-19 moving a folder so deep that its sub-folder exceeds the maximum depth answers 400', async () => {
  const chain = await rig.chain(9);
  const upper = await rig.folder();
  await rig.folder(upper.id);
  expect(await statusOf(FOLDER(upper.id, chain[8]))).toBe(400);
  expect(await statusOf(FOLDER(upper.id, chain[7]))).toBe(200);
});

test('MOVE-21 LIM-05 with maxFolderDepth 3, moving a folder to the fourth level answers 400, and to the third 200', async () => {
  await rig.control('PATCH', '/settings', { maxFolderDepth: 3 });
  const chain = await rig.chain(3);
  const { id } = await rig.folder();
  expect(await statusOf(FOLDER(id, chain[2]))).toBe(400);
  expect(await statusOf(FOLDER(id, chain[1]))).toBe(200);
});

test('MOVE-22 a right on a folder applies to its content at any depth, and manage includes edit and read', async () => {
  const outer = await rig.folder();
  const inner = await rig.folder(outer.id);
  const [workbook, report] = [await rig.workbook(inner.id), await rig.report(inner.id)];
  const manager = await rig.person([{ type: 'FOLDER', id: outer.id, action: 'manage' }], ['ReportManage']);
  expect((await rig.call('GET', `${BASE}/workbooks/${workbook.id}`, { key: manager })).status).toBe(200);
  expect(await statusOf(REPORT(report.id, outer.id), manager)).toBe(200);
  expect(await statusOf(WORKBOOK(workbook.id, outer.id), manager)).toBe(200);
  expect(await statusOf(FOLDER(inner.id), manager)).toBe(200);
  const editor = await rig.person([{ type: 'FOLDER', id: outer.id, action: 'edit' }]);
  expect((await rig.call('GET', `${BASE}/workbooks/${workbook.id}`, { key: editor })).status).toBe(200);
  expect(await statusOf(WORKBOOK(workbook.id), editor)).toBe(403);
});

test('an owner may move own workbooks without a grant, and deleting the user leaves them without an owner', async () => {
  const made = await rig.fixtures({
    users: [{ userName: 'owner@acme.example' }],
    apiKeys: [{ name: 'owner', owner: 'owner@acme.example' }],
    workbooks: [{ deploymentId: '1', name: 'mine', owner: 'owner@acme.example' }],
  });
  const [{ key }] = made.apiKeys;
  const [{ id }] = made.workbooks;
  expect(await statusOf(WORKBOOK(id), key)).toBe(200);
  await rig.call('DELETE', `/api/v1/users/${made.users[0].id}`);
  const { body } = await rig.call('GET', `${BASE}/workbooks/${id}`);
  expect([body.user, body.userId]).toEqual([null, null]);
});

test('MOVE-23 a move without folderId moves the workbook to the root', async () => {
  const { id } = await rig.workbook((await rig.folder()).id);
  const { status, body } = await rig.move({ type: 'WORKBOOK', id });
  expect([status, body.folderId]).toEqual([200, null]);
});

test('MOVE-24 a move with several faults answers the first of credential, scope, deployment, body, item, folder, rights and loop', async () => {
  const chain = await rig.chain(2);
  const path = (deployment: string) => `/api/v1/deployments/${deployment}/workspace/move`;
  // Each request has the fault that is expected and all later ones that it can have beside it.
  const attempt = async (deployment: string, key: string | null, body: object) => {
    const answer = await rig.call('POST', path(deployment), { key, body });
    return [answer.status, answer.body.error];
  };
  const nobody = await rig.person([]);
  const admin = rig.key('admin');
  const top = chain[0] ?? 0;
  const loop = FOLDER(top, chain[1]);
  const error = (status: number, text: string) => [status, expect.stringContaining(text)];
  expect(await attempt('99', null, {})).toEqual(error(401, 'Authorization header'));
  expect(await attempt('99', rig.key('scoped'), {})).toEqual(error(403, 'does not reach'));
  expect(await attempt('99', admin, {})).toEqual(error(404, 'Deployment not found'));
  const badBody = { type: 'FOLDER', id: 'x', folderId: 999_999 };
  expect(await attempt('1', nobody, badBody)).toEqual(error(400, 'id'));
  expect(await attempt('1', nobody, FOLDER(999_999, 999_999))).toEqual(error(404, 'Item not found'));
  expect(await attempt('1', nobody, FOLDER(top, 999_999))).toEqual(error(404, 'Folder not found'));
  expect(await attempt('1', nobody, loop)).toEqual(error(403, 'right'));
  expect(await attempt('1', admin, loop)).toEqual(error(400, 'into itself'));
});

test('MOVE-25 moving a missing item answers 404', async () => {
  for (const id of [999_999, 0, -1]) {
    for (const type of ['WORKBOOK', 'REPORT', 'FOLDER']) expect(await statusOf({ type, id })).toBe(404);
  }
});

test('MOVE-26 moving an item of another deployment answers 404', async () => {
  const { workbooks } = await rig.fixtures({ workbooks: [{ deploymentId: '2', name: 'theirs' }] });
  expect(await statusOf(WORKBOOK(workbooks[0].id))).toBe(404);
  expect((await rig.post('/api/v1/deployments/2/workspace/move', WORKBOOK(workbooks[0].id))).status).toBe(
    200,
  );
});

test('MOVE-27 moving to a missing folder answers 404', async () => {
  expect(await statusOf(WORKBOOK((await rig.workbook()).id, 999_999))).toBe(404);
});

test('MOVE-28 moving to a folder of another deployment answers 404', async () => {
  const { folders } = await rig.fixtures({ folders: [{ deploymentId: '2', name: 'theirs' }] });
  expect(await statusOf(WORKBOOK((await rig.workbook()).id, folders[0].id))).toBe(404);
});

test('moving to a destination that is no folder answers 404', async () => {
  expect(await statusOf(WORKBOOK((await rig.workbook()).id, (await rig.report()).id))).toBe(404);
});

test('MOVE-29 a move whose type does not fit the id answers 404', async () => {
  const items: [string, { id: number }][] = [
    ['WORKBOOK', await rig.workbook()],
    ['REPORT', await rig.report()],
    ['FOLDER', await rig.folder()],
  ];
  for (const [type, { id }] of items) {
    for (const other of ['WORKBOOK', 'REPORT', 'FOLDER']) {
      expect(await statusOf({ type: other, id })).toBe(other === type ? 200 : 404);
    }
  }
});

test('MOVE-30 moving an item to its current folder answers 200 and changes nothing', async () => {
  const folder = await rig.folder();
  const { id } = await rig.workbook();
  const first = await rig.move(WORKBOOK(id, folder.id));
  await rig.control('POST', '/clock', { advanceMs: 1000 });
  const second = await rig.move(WORKBOOK(id, folder.id));
  expect([second.status, second.body]).toEqual([200, first.body]);
  const inner = await rig.folder(folder.id);
  expect(await statusOf(FOLDER(inner.id, folder.id))).toBe(200);
});

test('MOVE-31 a move with a key that is not scoped to the deployment answers 403 before the body is checked', async () => {
  const path = '/api/v1/deployments/2/workspace/move';
  for (const raw of ['{"type":', '[]', '{}', JSON.stringify(WORKBOOK(999_999))]) {
    expect((await rig.call('POST', path, { key: rig.key('scoped'), raw })).status).toBe(403);
  }
});
