// Tests folders, workbooks, reports and the feed: access and both paging styles (contract 4.7 and 10).
import { BASE, startWorkspaceRig, type WorkspaceRig } from './workspace-rig.ts';

let rig: WorkspaceRig;

beforeAll(async () => {
  rig = await startWorkspaceRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const get = async (path: string, key?: string) => rig.call('GET', `${BASE}/${path}`, key ? { key } : {});
const names = (items: { name: string }[]) => items.map((item) => item.name);
const listed = async (path: string, key?: string) => names((await get(path, key)).body.items);

test('PATH-08 PATH-09 PATH-10 PATH-12 GET of folders, reports, workbooks and the workspace answers 200, and POST of a folder, report or workbook too', async () => {
  for (const path of ['folders', 'reports', 'workbooks', 'workspace']) {
    const { status, body } = await get(path);
    expect([path, status, Array.isArray(body.items)]).toEqual([path, 200, true]);
    expect((await rig.call('GET', `${BASE}/${path}`, { key: null })).status).toBe(401);
  }
  for (const path of ['folders', 'reports', 'workbooks']) {
    expect((await rig.post(`${BASE}/${path}`, { name: 'new' })).status).toBe(200);
  }
  for (const path of ['reports', 'workbooks']) {
    expect((await rig.call('POST', `${BASE}/${path}`)).body.name).toBe('Untitled');
  }
});

test('PATH-24 embed access of a workbook can be read and changed, and the change applies to its published dashboard', async () => {
  const { workbooks } = await rig.tree();
  const path = `${BASE}/workbooks/${workbooks[0].id}/embed-access`;
  expect((await rig.call('GET', path)).body).toEqual({
    allowEmbed: false,
    allEmbedUsers: false,
    tenants: [],
  });
  const { body } = await rig.call('PUT', path, { body: { allowEmbed: true, tenants: ['a'] } });
  expect(body).toEqual({ allowEmbed: true, allEmbedUsers: false, tenants: ['a'] });
  const workbook = await get(`workbooks/${workbooks[0].id}`);
  expect(workbook.body.publishedDashboard.allowEmbed).toBe(true);
  expect((await rig.call('PUT', path, { body: { allowEmbed: 'yes' } })).status).toBe(400);
  expect((await rig.call('PUT', path, { key: rig.key('viewer'), body: {} })).status).toBe(403);
});

test('PATH-28 a folder can be created, listed, renamed, reordered and deleted, and with content DELETE answers 400', async () => {
  const parent = await rig.folder(null, 'parent');
  expect(parent).toMatchObject({ type: 'FOLDER', parentId: null, deploymentId: 1, folderPath: [] });
  const first = await rig.folder(parent.id, 'first');
  await rig.folder(parent.id, 'second');
  const level = `folders?parentId=${parent.id}`;
  expect(await listed(level)).toEqual(['first', 'second']);
  const path = `${BASE}/folders/${first.id}`;
  const { body } = await rig.call('PUT', path, { body: { name: 'last', position: 9, parentId: null } });
  expect(body).toMatchObject({ name: 'last', position: 9, parentId: parent.id, updatedBy: 1 });
  expect(await listed(level)).toEqual(['second', 'last']);
  expect((await rig.call('DELETE', `${BASE}/folders/${parent.id}`)).status).toBe(400);
  expect((await rig.call('DELETE', path)).status).toBe(204);
  expect((await rig.call('DELETE', path)).status).toBe(404);
  expect(await listed(level)).toEqual(['second']);
});

test('PATH-28 workbooks and reports of a deleted folder move to the root', async () => {
  const outer = await rig.folder();
  const { id } = await rig.folder(outer.id);
  const [workbook, report] = [await rig.workbook(id), await rig.report(id)];
  await rig.call('DELETE', `${BASE}/folders/${id}`);
  const { workbooks, reports } = await rig.tree();
  const placeOf = (items: { id: number; folderId: unknown }[], wanted: number) =>
    items.find((item) => item.id === wanted)?.folderId;
  expect([placeOf(workbooks, workbook.id), placeOf(reports, report.id)]).toEqual([null, null]);
});

test('creating a folder answers 400 without a name of 1 to 255 characters, and 404 below an unknown folder', async () => {
  const create = async (body: object) => (await rig.post(`${BASE}/folders`, body)).status;
  for (const name of [undefined, null, '', '  ', 5, 'x'.repeat(256)])
    expect(await create({ name })).toBe(400);
  expect(await create({ name: 'x'.repeat(255) })).toBe(200);
  expect(await create({ name: 'x', parentId: 999_999 })).toBe(404);
  expect(await create({ name: 'x', parentId: 'root' })).toBe(400);
  expect((await get('folders?parentId=999999')).status).toBe(404);
  expect((await get('folders/x/ancestors')).status).toBe(400);
});

test('PATH-29 workbooks and reports that are created in a folder are listed for this folder, and found by search', async () => {
  const { id } = await rig.folder();
  const workbook = await rig.workbook(id, { name: 'numbers' });
  const report = await rig.report(id, {
    name: 'chart',
    title: 'A chart',
    workbookId: workbook.id,
    sqlQuery: 'SELECT 1',
  });
  expect(report).toMatchObject({
    publicId: expect.stringMatching(/^[0-9A-Za-z]{12}$/),
    type: 'REPORT',
    workbookId: workbook.id,
    user: { id: 1, email: 'admin@acme.example' },
    refreshedByUser: { id: 1 },
    sqlQuery: 'SELECT 1',
  });
  expect(await listed(`workbooks?folderId=${id}`)).toEqual(['numbers']);
  expect(await listed(`reports?folderId=${id}`)).toEqual(['chart']);
  expect(await listed(`reports?workbookId=${workbook.id}`)).toEqual(['chart']);
  expect(await listed('reports?search=CHAR')).toEqual(['chart']);
  expect(await listed('reports?search=nothing')).toEqual([]);
  expect(await listed('workbooks?folderId=0')).toEqual(['Campaigns']);
  expect((await get(`workbooks/${report.id}`)).status).toBe(404);
});

test('creating a report answers 400 or 409 for a bad or taken publicId, and 404 for an unknown workbook or folder', async () => {
  const create = async (body: object) => (await rig.post(`${BASE}/reports`, body)).status;
  expect(await create({ publicId: 'abcDEF012345' })).toBe(200);
  expect(await create({ publicId: 'abcDEF012345' })).toBe(409);
  for (const publicId of ['short', 'abcDEF01234!', 5]) expect(await create({ publicId })).toBe(400);
  expect(await create({ workbookId: 999_999 })).toBe(404);
  expect(await create({ folderId: 999_999 })).toBe(404);
  expect(await create({ meta: 'text' })).toBe(400);
});

test('PATH-30 the workspace feed of a folder lists sub-folders first, whatever the order asked for', async () => {
  const { id } = await rig.folder();
  await rig.report(id, { name: 'a report' });
  await rig.workbook(id, { name: 'b workbook' });
  await rig.folder(id, 'z folder');
  await rig.folder(id, 'c folder');
  const feed = async (query = '') => listed(`workspace?folderId=${id}${query}`);
  expect(await feed()).toEqual(['c folder', 'z folder', 'a report', 'b workbook']);
  expect(await feed('&orderByField=name&orderByDirection=DESC')).toEqual([
    'z folder',
    'c folder',
    'b workbook',
    'a report',
  ]);
  expect(await feed('&orderByField=created_at')).toEqual(['z folder', 'c folder', 'a report', 'b workbook']);
  expect(await feed('&types=REPORT')).toEqual(['a report']);
  expect(await feed('&types=REPORT&types=WORKBOOK')).toEqual(['a report', 'b workbook']);
  expect(await feed('&types=REPORT,WORKBOOK')).toEqual(['a report', 'b workbook']);
  const { body } = await get(`workspace?folderId=${id}`);
  expect(body.items[2]).toMatchObject({ type: 'REPORT', meta: {}, calculatedFields: {}, folderId: id });
  for (const bad of ['types=CHART', 'orderByField=size', 'orderByDirection=up', 'folderId=x']) {
    expect((await get(`workspace?${bad}`)).status).toBe(400);
  }
});

test('a search of the workspace feed finds items in all folders', async () => {
  const [, inner] = await rig.chain(2);
  await rig.workbook(inner, { name: 'Deep Needle' });
  expect(await listed('workspace?search=needle')).toEqual(['Deep Needle']);
  expect(await listed('workspace')).not.toContain('Deep Needle');
});

test('lists of folders and workbooks have only items that the user may read, and another item answers 403', async () => {
  expect(await listed('folders', rig.key('viewer'))).toEqual(['Sales']);
  expect(await listed('workbooks', rig.key('viewer'))).toEqual(['Revenue']);
  expect(await listed('workspace?search=o', rig.key('viewer'))).not.toContain('Orders per month');
  const { workbooks, folders } = await rig.tree();
  const status = async (path: string) => (await get(path, rig.key('viewer'))).status;
  expect(await status(`workbooks/${workbooks[0].id}`)).toBe(200);
  expect(await status(`workbooks/${workbooks[1].id}`)).toBe(403);
  expect(await status(`folders/${folders[3].id}/ancestors`)).toBe(403);
});

test('creating in a folder and renaming it answer 403 with the read right and 200 with the edit right, and deleting it with the edit right 403', async () => {
  const { id } = await rig.folder();
  const inside = await rig.workbook(id);
  const attempt = async (action: 'read' | 'edit' | 'manage') => {
    const key = await rig.person([{ type: 'FOLDER', id, action }]);
    const made = [];
    for (const [path, body] of [
      ['folders', { name: 'x', parentId: id }],
      ['workbooks', { folderId: id }],
      ['reports', { folderId: id }],
      ['reports', { workbookId: inside.id }],
    ] as const) {
      made.push((await rig.call('POST', `${BASE}/${path}`, { key, body })).status);
    }
    const rename = await rig.call('PUT', `${BASE}/folders/${id}`, { key, body: { name: 'renamed' } });
    return [...made, rename.status];
  };
  expect(await attempt('read')).toEqual([403, 403, 403, 403, 403]);
  expect(await attempt('edit')).toEqual([200, 200, 200, 200, 200]);
  const editor = await rig.person([{ type: 'FOLDER', id, action: 'edit' }]);
  expect((await rig.call('DELETE', `${BASE}/folders/${id}`, { key: editor })).status).toBe(403);
});

test('PAGE-05 PAGE-06 PAGE-07 PAGE-08 PAGE-09 PAGE-10 a list of folders has pages by offset and by cursor, and answers 400 to invalid ones', async () => {
  const { id } = await rig.folder();
  for (let place = 0; place < 25; place += 1) await rig.folder(id, `f${place}`);
  const level = `folders?parentId=${id}`;
  const { body } = await get(level);
  expect([body.items.length, body.data.length, body.count]).toEqual([25, 20, 25]);
  expect(body.pagination).toEqual({ offset: 0, limit: 20, total: 25 });
  expect(names((await get(`${level}&offset=20&limit=10`)).body.data)).toHaveLength(5);
  expect((await get(`${level}&limit=0`)).body).toMatchObject({ data: [], count: 25 });
  const walked: string[] = [];
  let after = '';
  for (;;) {
    const page = (await get(`${level}&first=7${after}`)).body;
    walked.push(...names(page.items));
    if (!page.pageInfo.hasNextPage) break;
    after = `&after=${page.pageInfo.endCursor}`;
  }
  expect(walked).toEqual(names(body.items));
  for (const bad of ['offset=-1', 'limit=x', 'first=0', 'after=abc']) {
    expect((await get(`${level}&${bad}`)).status).toBe(400);
  }
  const noNumbers = Buffer.from('workspace:NaN:NaN').toString('base64url');
  expect((await get(`workspace?first=7&after=${noNumbers}`)).status).toBe(400);
  expect((await get(`folders/?parentId=${id}`)).body).toEqual(body);
});

test('LIM-05 with the page cap set to 2, a page of the workspace has two items and hasNextPage true', async () => {
  await rig.control('PATCH', '/settings', { pageCap: 2 });
  const { body } = await get('workspace?first=50');
  expect([body.items.length, body.pageInfo.hasNextPage]).toEqual([2, true]);
});

test('a cursor still leads to the next page after the last folder of its page was deleted', async () => {
  const { id } = await rig.folder();
  const made = [];
  for (const name of ['a', 'b', 'c', 'd']) made.push(await rig.folder(id, name));
  const first = (await get(`folders?parentId=${id}&first=2`)).body;
  await rig.call('DELETE', `${BASE}/folders/${made[1].id}`);
  const second = (await get(`folders?parentId=${id}&first=2&after=${first.pageInfo.endCursor}`)).body;
  expect([names(first.items), names(second.items)]).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});
