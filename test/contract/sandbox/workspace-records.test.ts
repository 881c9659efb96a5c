// Tests the fields of a moved or read workspace item (rows WSI).
import { BASE, startWorkspaceRig, type WorkspaceRig } from './workspace-rig.ts';

let rig: WorkspaceRig;

beforeAll(async () => {
  rig = await startWorkspaceRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

/** Moves one item of each type into a folder and back to the root; returns the last three answers. */
async function movedItems(folderId: number | null = null) {
  const folder = await rig.folder(null, 'target');
  const items: [string, { id: number }][] = [
    ['WORKBOOK', await rig.workbook()],
    ['REPORT', await rig.report()],
    ['FOLDER', await rig.folder()],
  ];
  const answers = [];
  for (const [type, { id }] of items) {
    await rig.move({ type, id, folderId: folder.id });
    const { status, body } = await rig.move({ type, id, folderId });
    expect(status).toBe(200);
    answers.push(body);
  }
  return answers;
}

test('WSI-01 WSI-02 WSI-03 a moved workbook, report and folder have all required keys, with meta and calculatedFields as {}', async () => {
  const items = await movedItems();
  expect(items.map((item) => item.type)).toEqual(['WORKBOOK', 'REPORT', 'FOLDER']);
  for (const item of items) {
    expect(item).toMatchObject({
      id: expect.any(Number),
      deploymentId: 1,
      name: expect.any(String),
      meta: {},
      calculatedFields: {},
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect([item.id, item.createdBy].every(Number.isInteger)).toBe(true);
  }
});

test('WSI-03 a moved workbook has meta and calculatedFields as they were stored', async () => {
  const meta = { colour: 'blue', nested: { deep: [1] } };
  const calculatedFields = { margin: 'revenue - cost' };
  const { id } = await rig.workbook(null, { meta, calculatedFields });
  const { body } = await rig.move({ type: 'WORKBOOK', id, folderId: (await rig.folder()).id });
  expect(body).toMatchObject({ meta, calculatedFields });
});

test("WSI-04 createdAt and updatedAt of a moved folder are ISO times of the sandbox's clock", async () => {
  const folder = await rig.folder();
  await rig.control('POST', '/clock', { advanceMs: 86_400_000 });
  const { body } = await rig.move({ type: 'FOLDER', id: folder.id, folderId: (await rig.folder()).id });
  for (const date of [body.createdAt, body.updatedAt]) expect(new Date(date).toISOString()).toBe(date);
  const days = (Date.parse(body.updatedAt) - Date.parse(body.createdAt)) / 86_400_000;
  expect(days).toBeCloseTo(1, 3);
});

test('WSI-05 folderId of an item at the root is null', async () => {
  expect((await movedItems()).map((item) => item.folderId)).toEqual([null, null, null]);
});

test('WSI-06 folderPath of an item has id and name of each folder above it, outermost first', async () => {
  const outer = await rig.folder(null, 'outer');
  const inner = await rig.folder(outer.id, 'inner');
  for (const item of await movedItems(inner.id)) {
    expect(item.folderPath).toEqual([
      { id: outer.id, name: 'outer' },
      { id: inner.id, name: 'inner' },
    ]);
  }
});

test('WSI-07 user of an item has id, email, firstName and picture of its owner', async () => {
  for (const item of await movedItems()) {
    expect(item.user).toEqual({ id: 1, email: 'admin@acme.example', firstName: 'Ada Admin', picture: null });
    expect(item.userId).toBe(1);
  }
});

test('WSI-08 WSI-09 owner, dashboards, isFavorite and slug of an item may be null', async () => {
  const { users, workbooks } = await rig.fixtures({
    users: [{ userName: 'leaver@acme.example' }],
    workbooks: [{ deploymentId: '1', name: 'left behind', owner: 'leaver@acme.example', slug: 'left' }],
  });
  await rig.call('DELETE', `/api/v1/users/${users[0].id}`);
  const { body } = await rig.call('GET', `${BASE}/workbooks/${workbooks[0].id}`);
  expect(body).toMatchObject({ user: null, userId: null, isFavorite: null, slug: 'left' });
  expect(body).toMatchObject({ dashboardDraft: null, dashboardPublished: null, publishedDashboard: null });
  const [folder] = (await movedItems()).slice(-1);
  expect(folder).toMatchObject({ slug: null, dashboardDraft: null });
});

test('the workspace of the seed has four folders, two workbooks and two reports in deployment 1', async () => {
  const { folders, workbooks, reports, grants } = await rig.tree();
  const inFirst = (items: { deploymentId: number; name: string }[]) =>
    items.filter((item) => item.deploymentId === 1).map((item) => item.name);
  expect(inFirst(folders)).toEqual(['Sales', 'Europe', 'Germany', 'Marketing']);
  expect(inFirst(workbooks)).toEqual(['Revenue', 'Campaigns']);
  expect(inFirst(reports)).toEqual(['Orders by country', 'Orders per month']);
  expect(grants).toMatchObject([{ user: 'viewer@acme.example', type: 'FOLDER', action: 'read' }]);
});

test('workspace fixtures that refer to missing objects answer 400 or 404, and valid ones 200', async () => {
  const statusOf = async (body: object) => (await rig.control('POST', '/fixtures', body)).status;
  const place = { deploymentId: '1', name: 'x' };
  expect(await statusOf({ folders: [{ ...place, deploymentId: '99' }] })).toBe(400);
  expect(await statusOf({ folders: [{ ...place, parentId: 999_999 }] })).toBe(404);
  expect(await statusOf({ workbooks: [{ ...place, owner: 'nobody' }] })).toBe(400);
  const grant = { user: 'viewer@acme.example', type: 'FOLDER', id: 1, action: 'read' };
  for (const wrong of [{ user: 'nobody' }, { type: 'CHAT' }, { id: 999_999 }, { action: 'own' }]) {
    expect(await statusOf({ grants: [{ ...grant, ...wrong }] })).toBe(400);
  }
  expect(await statusOf({ grants: [grant, { ...grant, type: 'deployment', id: '2' }] })).toBe(200);
});
