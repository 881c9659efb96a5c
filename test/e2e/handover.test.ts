// Tests that the work of closed accounts is moved to the handover folder, and comes back.
import '../support/load-modules.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { createCommands } from '../support/command.ts';
import { createPlatformView } from '../support/platform-view.ts';
import { createScenario } from '../support/scenario.ts';
import { handoverSettings, openWorkspace, ownedBy, placeOf } from '../support/workspace.ts';

const test = createScenario(openWorkspace, ({ stop }) => stop());

test('plan and explain list the items of a closed account with owner, time and destination, and reconcile moves each with one log entry', async ({
  bridge,
  commands,
  pathOf,
  bring,
  close,
}) => {
  const { id, userName } = await bring('ann');
  await close(id, userName);
  const plan = await commands.run('plan');
  expect(plan.code).toBe(2);
  expect(plan.text).toContain('1 person due');
  expect(plan.text).toContain(
    'default → main: no changes of accounts and groups, but the work of 1 person to hand over',
  );
  expect(plan.text).not.toContain('The platform is as desired');
  for (const each of ['ann book', 'ann report', 'ann top', `Team/${userName}`])
    expect(plan.text).toContain(each);
  expect(plan.text).not.toContain('ann inner');
  const drift = await commands.run('plan', '--drift-only');
  expect(drift.code).toBe(0);
  expect(drift.text).toContain('default → main: no changes by others.');
  const missing = createCommands(
    handoverSettings(bridge, { deployment: 1, folder: 'Nowhere', afterDays: 0 }),
  );
  const prevented = await missing.run('plan');
  missing.remove();
  expect(prevented.code).toBe(0);
  expect(prevented.text).toContain(
    'no changes. Accounts and groups are as desired, but the work of closed accounts is not handed over, see below.',
  );
  expect((await commands.run('explain', userName, '--all')).text).toMatch(
    /handover: the next reconcile moves/,
  );
  await expect(pathOf('ann book')).resolves.toBe('');

  const ran = await commands.run('reconcile', '--yes');
  expect(ran.text).toContain('handed over 3 items');
  expect(ran.code).toBe(0);
  for (const each of ['ann book', 'ann report', 'ann top'])
    await expect(pathOf(each)).resolves.toBe(`Team/${userName}`);
  await expect(pathOf('ann inner')).resolves.toBe(`Team/${userName}/ann top`);
  const log = await commands.run('log', '--action', 'handOver', '--json');
  expect(log.text.match(/ann (book|report|top)/g)?.length).toBe(3);
  expect((await commands.run('explain', userName, '--all')).text).toMatch(/3 items moved to the folder/);
  expect((await commands.run('plan')).code).toBe(0);
  const again = await commands.run('reconcile', '--yes');
  expect(again.text).not.toContain('handed over');
});

test('the configured address leads to another platform → handover undo neither reads nor moves anything there, and the items stay handed over', async ({
  bridge,
  commands,
}) => {
  const other = await startSandbox();
  const { platformUrl: url, controlUrl, fixtures } = other.ready;
  const settings = { deployment: 1, folder: 'Team', afterDays: 0 };
  const moved = createCommands(handoverSettings(bridge, settings, { url, token: fixtures.apiKeys.admin }));
  const { code, text } = await moved.run('handover', 'undo', 'ann@acme.example', '--yes');
  expect([code, text]).toEqual([
    1,
    expect.stringContaining(
      'Not complete at main: main was not read at its new address: the address of main changed',
    ),
  ]);
  expect(await createPlatformView(controlUrl).requests()).toEqual([]);
  expect((await commands.run('handover', 'list', '--json')).json[0]).toMatchObject({ state: 'moved' });
  moved.remove();
  await other.stop();
});

test('handover undo asks for confirmation, moves all items back and leaves an audit entry → the next run moves nothing', async ({
  runs,
  commands,
  items,
  pathOf,
}) => {
  const userName = 'ann@acme.example';
  const refused = await commands.run('handover', 'undo', userName);
  expect(refused.code).toBe(1);
  expect(refused.text).toContain('--yes');
  await expect(pathOf('ann book')).resolves.toBe(`Team/${userName}`);
  const undone = await commands.run('handover', 'undo', userName, '--yes', '--by', 'kim', '--note', 'asked');
  expect(undone.text).toContain('3 items of ann@acme.example moved back');
  for (const each of ['ann book', 'ann report', 'ann top']) await expect(pathOf(each)).resolves.toBe('');
  expect((await items()).filter(({ name }) => name === userName)).toEqual([]);
  expect((await commands.run('acts')).text).toMatch(/undoHandover/);
  await runs.run();
  await expect(pathOf('ann book')).resolves.toBe('');
  const [listed] = (await commands.run('handover', 'list', '--json')).json;
  expect(listed).toMatchObject({ name: userName, state: 'returned', by: 'kim', counts: { returned: 3 } });
  expect((await commands.run('handover', 'undo', userName, '--yes')).code).toBe(1);
  expect((await commands.run('handover', 'undo', 'unknown@acme.example', '--yes')).code).toBe(4);
});

test('forget of a person whose workbooks and folders are not handed over is refused, and says what happens to these', async ({
  bridge,
  runs,
  commands,
  pathOf,
  active,
  bring,
}) => {
  for (const [person, runsFirst] of [
    ['gil', false],
    ['hal', true],
  ] as const) {
    const { id, userName } = await bring(person);
    await bridge.idp.send('DELETE', `/Users/${id}`);
    await active(userName, false);
    await bridge.idle();
    const refused = await commands.run('forget', userName, '--yes');
    expect(refused.code).toBe(1);
    expect(refused.text).toMatch(
      /account \S+ at main has work that the first reconcile after \S+ hands over\. Wait until a reconcile has handed it over, or say --leave-account/,
    );
    if (runsFirst) await runs.run();
    const forgotten = await commands.run(
      'forget',
      userName,
      '--yes',
      ...(runsFirst ? [] : ['--leave-account']),
    );
    expect(forgotten.code).toBe(0);
    expect(forgotten.text).toContain(
      runsFirst
        ? `its work stays handed over (3 items in the folder ${userName}): scim-bridge handover undo cannot take it back any more`
        : 'its work is not handed over any more: it stays where it is, owned by this account',
    );
    await runs.run();
    await expect(pathOf(`${person} book`)).resolves.toBe(runsFirst ? `Team/${userName}` : '');
  }
}, 60_000);

test('a reactivated user gets the handed-over items back in their folders, also when a folder was renamed or deleted', async ({
  bridge,
  runs,
  commands,
  pathOf,
  fixtures,
  active,
  bring,
  close,
}) => {
  const { id, userName } = await bring('bob');
  const place = Number(
    (await runs.meddle('POST', '/api/v1/deployments/1/folders', { name: 'bob shared' })).id,
  );
  const gone = Number((await runs.meddle('POST', '/api/v1/deployments/1/folders', { name: 'bob gone' })).id);
  await fixtures({
    workbooks: [
      ownedBy(userName, 'bob in shared', { folderId: place }),
      ownedBy(userName, 'bob in gone', { folderId: gone }),
    ],
  });
  await close(id, userName);
  await runs.run();
  await expect(pathOf('bob in shared')).resolves.toBe(`Team/${userName}`);
  await runs.meddle('DELETE', `/api/v1/deployments/1/folders/${gone}`);
  await bridge.idp.patch(`/Users/${id}`, { op: 'replace', value: { active: true } });
  await active(userName, true);
  await bridge.idle();
  expect((await commands.run('plan')).text).toContain(`${userName} is active again`);
  const { report } = await runs.run();
  expect(report.message).toContain('gave back 5 items');
  await expect(pathOf('bob in shared')).resolves.toBe('bob shared');
  await expect(pathOf('bob in gone')).resolves.toBe('');
  await expect(pathOf('bob inner')).resolves.toBe('bob top');
  // A second deactivation begins a new handover.
  await close(id, userName);
  await runs.run();
  await expect(pathOf('bob book')).resolves.toBe(`Team/${userName}`);
});

test("an existing folder with the user's name is not used for the items, and a folder that would nest too deep is reported once and not moved", async ({
  runs,
  team,
  commands,
  pathOf,
  bring,
  close,
}) => {
  const { id, userName, top } = await bring('eve');
  await runs.meddle('POST', '/api/v1/deployments/1/folders', { name: userName, parentId: team });
  let parent = top;
  for (let depth = 0; depth < 8; depth++)
    parent = Number(
      (await runs.meddle('POST', '/api/v1/deployments/1/folders', { name: `eve ${depth}`, parentId: parent }))
        .id,
    );
  await close(id, userName);
  const { report } = await runs.run();
  expect(report.message).toContain('the platform refused the move of 1 item');
  await expect(pathOf('eve book')).resolves.toBe(`Team/${userName} (2)`);
  await expect(pathOf('eve top')).resolves.toBe('');
  await runs.run();
  const log = await commands.run('log', '--resource', userName, '--action', 'handOver', '--json');
  const entries: object[] = log.json ?? log.text.split('\n').map((line) => JSON.parse(line) as object);
  expect(entries.filter((entry) => JSON.stringify(entry).includes('"failure"')).length).toBe(1);
  expect((await commands.run('handover', 'list')).text).toMatch(/refused: folder "eve top" .*depth/);
});

test('500 items of one user are moved by the handover, and moved back after the reactivation', async ({
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
  await fixtures({ workbooks: Array.from({ length: 500 }, (_, at) => ownedBy(userName, `many ${at}`)) });
  await close(id, userName);
  expect((await runs.run()).report.message).toContain('handed over 500 items');
  const folder = await find(userName);
  expect((await items()).filter((item) => placeOf(item) === folder.id).length).toBe(500);
  expect((await commands.run('handover', 'undo', userName, '--yes')).text).toContain('500 items');
  expect(
    (await items()).filter(({ name, folderId }) => name.startsWith('many ') && folderId === null).length,
  ).toBe(500);
}, 120_000);
