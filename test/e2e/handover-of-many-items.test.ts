// Tests that work beyond the limits of one run is handed over by later runs, also behind work that cannot be moved.
import '../support/load-modules.ts';
import type { CallOptions } from '../../src/platform/client.ts';
import type { ConsoleUser } from '../../src/platform/wire.ts';
import { createScenario } from '../support/scenario.ts';
import { openWorkspace, ownedBy, placeOf } from '../support/workspace.ts';

/** As in owned-items.ts: items of a person that one run moves. */
const MOST_ITEMS = 5000;
/** As in plan-handover.ts: people whose items one run moves. */
const MOST_PEOPLE = 1000;

const test = createScenario(openWorkspace, ({ stop }) => stop());

test('a person owns one item more than a run moves → the handover is not complete after the first run, the second one moves the last item', async ({
  bridge,
  runs,
  commands,
  items,
  find,
  fixtures,
  active,
  close,
}) => {
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
}, 300_000);

test('the user list lacks the accounts of as many leavers as one run serves → the run moves the work of a later leaver', async ({
  bridge,
  runs,
  bring,
  close,
  pathOf,
}) => {
  const { main } = bridge.config.targets;
  if (main) main.guard.deactivate = { count: 10_000, percent: 100 };
  const names = Array.from({ length: MOST_PEOPLE }, (_, at) => `unlisted${at}@acme.example`);
  const ids: string[] = [];
  for (const name of names) ids.push(await bridge.idp.createUser(name));
  const zoe = await bring('zoe');
  await bridge.idle();
  for (const id of ids) await bridge.idp.patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
  await bridge.idle();
  await close(zoe.id, zoe.userName);
  for (const { scope } of runs.scopes) {
    const { accounts } = scope.target.client;
    const whole = { ...accounts };
    const isListed = ({ username }: ConsoleUser): boolean => !username.startsWith('unlisted');
    Object.assign(accounts, {
      list: async function* (options?: CallOptions) {
        for await (const account of whole.list(options)) if (isListed(account)) yield account;
      },
      search: async (text: string, options?: CallOptions) =>
        (await whole.search(text, options)).filter(isListed),
    });
  }
  await runs.run();
  await expect(pathOf('zoe book')).resolves.toBe(`Team/${zoe.userName}`);
}, 300_000);
