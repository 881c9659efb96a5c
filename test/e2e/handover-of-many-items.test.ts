// Tests that a person with more items than one run moves is handed over by several runs.
import '../support/load-modules.ts';
import { openWorkspace, ownedBy, placeOf } from '../support/workspace.ts';

/** As in handover-place.ts: items of a person that one run moves. */
const MOST_ITEMS = 5000;

test('a person owns one item more than a run moves → the handover is not complete after the first run, the second one moves the last item', async () => {
  const { bridge, runs, commands, items, find, fixtures, active, close, stop } = await openWorkspace();
  const userName = 'many@acme.example';
  const id = await bridge.idp.createUser(userName);
  await active(userName, true);
  await fixtures({
    workbooks: Array.from({ length: MOST_ITEMS + 1 }, (_, at) => ownedBy(userName, `many ${at}`)),
  });
  await close(id, userName);
  const movedTo = async (folder: number | null): Promise<number> =>
    (await items()).filter((item) => item.name.startsWith('many ') && placeOf(item) === folder).length;

  const first = (await runs.run()).report.message;
  expect(first).toContain(`handed over ${MOST_ITEMS} items, the next run moves the rest of 1 person`);
  expect((await commands.run('explain', userName, '--all')).text).toMatch(/the next reconcile continues/);
  const { id: folder } = await find(userName);
  await expect(movedTo(folder)).resolves.toBe(MOST_ITEMS);
  expect((await commands.run('plan')).text).toContain('1 person due');

  expect((await runs.run()).report.message).toMatch(/handed over 1 item$/);
  await expect(movedTo(folder)).resolves.toBe(MOST_ITEMS + 1);
  expect((await commands.run('explain', userName, '--all')).text).toContain(
    `${MOST_ITEMS + 1} items moved to`,
  );
  expect((await commands.run('plan')).code).toBe(0);
  await stop();
}, 300_000);
