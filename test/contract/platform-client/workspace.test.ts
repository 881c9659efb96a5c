// Tests the workspace client against the sandbox: folders, workbooks, reports, feed and move.
import { thrownBy } from './fake-platform.ts';
import { all, startClientRig, type ClientRig } from './sandbox-rig.ts';

let rig: ClientRig;

beforeAll(async () => {
  rig = await startClientRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

test('a call with an id that is no whole number throws PlatformArgument and sends no request', async () => {
  const { workspace, branches } = rig.client;
  const folder = await workspace.createFolder('1', { name: 'kept' });
  const workbook = await workspace.createWorkbook('1', { name: 'w', folderId: folder.id });
  await rig.control('DELETE', '/requests');
  for (const id of ['abc', '', ' ', '1.5', '-1', '0x10', '1e3', '99999999999999999999']) {
    for (const call of [
      workspace.move('1', { type: 'WORKBOOK', id: workbook.id, folderId: id }),
      workspace.move('1', { type: 'WORKBOOK', id, folderId: folder.id }),
      workspace.createFolder('1', { name: 'x', parentId: id }),
      workspace.createReport('1', { workbookId: id }),
      all(workspace.feed('1', { folderId: id })),
      all(workspace.folders('1', id)),
      branches.setStaging('1', { branchId: id }, true),
    ])
      expect(await thrownBy(call)).toMatchObject({ name: 'PlatformArgument', mayHaveCommitted: false });
  }
  expect((await rig.control('GET', '/requests')).body).toEqual([]);
  expect((await workspace.workbook('1', workbook.id)).folderId).toBe(folder.id);
});

const names = (items: { name: string }[]) => items.map(({ name }) => name);

test('folders are created, renamed and deleted, ancestors lists the path of a folder, and deleting a folder with content throws 400', async () => {
  const { workspace } = rig.client;
  const outer = await workspace.createFolder('1', { name: 'outer' });
  const inner = await workspace.createFolder('1', { name: 'inner', parentId: outer.id });
  expect(inner).toMatchObject({ type: 'FOLDER', folderId: outer.id, ownerId: '1' });
  await workspace.updateFolder('1', inner.id, { name: 'renamed' });
  expect(names(await all(workspace.folders('1', outer.id)))).toEqual(['renamed']);
  expect(names(await workspace.ancestors('1', inner.id))).toEqual(['outer', 'renamed']);
  expect(await thrownBy(workspace.deleteFolder('1', outer.id))).toMatchObject({ status: 400 });
  await workspace.deleteFolder('1', inner.id);
  expect(await all(workspace.folders('1', outer.id))).toEqual([]);
});

test('workspace.move moves a workbook into a folder and back to the root, and throws 404 for a missing item', async () => {
  const { workspace } = rig.client;
  const folder = await workspace.createFolder('1', { name: 'target' });
  const workbook = await workspace.createWorkbook('1', { name: 'numbers' });
  const moved = await workspace.move('1', { type: 'WORKBOOK', id: workbook.id, folderId: folder.id });
  expect(moved).toMatchObject({ folderId: folder.id, folderPath: [{ id: folder.id, name: 'target' }] });
  expect(await workspace.workbook('1', workbook.id)).toEqual(moved);
  expect(names(await all(workspace.workbooks('1', { folderId: folder.id })))).toEqual(['numbers']);
  const back = await workspace.move('1', { type: 'WORKBOOK', id: workbook.id, folderId: null });
  expect(back.folderId).toBeNull();
  const missing = await thrownBy(workspace.move('1', { type: 'REPORT', id: workbook.id, folderId: null }));
  expect(missing).toMatchObject({ status: 404, route: expect.stringContaining('workspace/move') });
});

test('created reports are found by search, and the feed of a folder lists folders first', async () => {
  const { workspace } = rig.client;
  const folder = await workspace.createFolder('1', { name: 'z' });
  await workspace.createReport('1', { name: 'a chart', folderId: folder.id });
  await workspace.createFolder('1', { name: 'y', parentId: folder.id });
  expect(names(await all(workspace.reports('1', { search: 'CHART' })))).toEqual(['a chart']);
  expect(names(await all(workspace.feed('1', { folderId: folder.id })))).toEqual(['y', 'a chart']);
  const reports = await all(workspace.feed('1', { folderId: folder.id, types: ['REPORT', 'WORKBOOK'] }));
  expect(reports).toMatchObject([{ name: 'a chart', record: { calculatedFields: {} } }]);
});

test('a list of 231 folders that spans several pages is read to its end', async () => {
  const folders = Array.from({ length: 230 }, (_, place) => ({ deploymentId: '2', name: `f${place}` }));
  await rig.fixtures({ folders });
  const listed = await all(rig.client.workspace.folders('2'));
  expect(names(listed)).toEqual(['Operations', ...names(folders)]);
  expect(new Set(listed.map(({ id }) => id)).size).toBe(231);
});
