// Tests when the items of a closed account are not moved to the handover folder, or only later.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { createCommands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import type { Reconciling } from '../support/reconciling.ts';
import { createScenario } from '../support/scenario.ts';
import { handoverSettings, openWorkspace, ownedBy, placeOf } from '../support/workspace.ts';

const test = createScenario(openWorkspace, ({ stop }) => stop());
/** A run after a killed one waits 30 s for its lease; other runs do not wait. */
const afterKill = createScenario(openWorkspace, ({ stop }) => stop());

test('no workbook or folder is moved while the target is on hold, the user list is incomplete, or the account is not linked', async ({
  bridge,
  runs,
  pathOf,
  fixtures,
  bring,
  close,
}) => {
  const { id, userName } = await bring('pat');
  await fixtures({
    users: [{ userName: 'stranger@acme.example', active: false }],
    workbooks: [ownedBy('stranger@acme.example', 'stranger book')],
  });
  const { scope } = runs.scopes[0] as Reconciling['scopes'][0];
  await close(id, userName);
  await scope.outbox.guardStore.hold('kim');
  expect((await runs.run()).report.message).toContain('on hold');
  await expect(pathOf('pat book')).resolves.toBe('');
  await scope.outbox.guardStore.release();
  for (const [list, word] of [
    ['/api/v1/deployments/1/workbooks', 'the handover stopped'],
    ['/api/scim/v2/Users', ''],
  ]) {
    await bridge.platform.control('PATCH', '/faults', {
      rules: [{ path: list, status5xx: 1 }],
    });
    const ran = await runs.run().catch((error: Error) => error);
    if (word && !(ran instanceof Error)) expect(ran.report.message).toContain(word);
    await expect(pathOf('pat book')).resolves.toBe('');
    await bridge.platform.control('PATCH', '/faults', { rules: [] });
  }
  await eventually('the target answers', async () => !(await scope.target.breaker.read()).open, 30_000);
  await runs.run();
  await expect(pathOf('pat book')).resolves.toBe(`Team/${userName}`);
  await expect(pathOf('stranger book')).resolves.toBe('');
}, 120_000);

test('no workbook or folder is moved while the deactivation is held or rejected, or the user is protected', async ({
  bridge,
  runs,
  commands,
  pathOf,
  bring,
  close,
}) => {
  const { id, userName } = await bring('lee');
  const { main } = bridge.config.targets;
  if (!main) throw new Error('no target');
  const { deactivate } = main.guard;
  main.guard.deactivate = { count: 0, percent: 0 };
  await bridge.idp.patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
  await bridge.idle();
  expect((await bridge.platform.user(userName))?.active).toBe(true);
  await runs.run();
  await expect(pathOf('lee book')).resolves.toBe('');
  const [{ id: approval }] = (await commands.run('approvals', 'list', '--json')).json;
  expect((await commands.run('approvals', 'reject', approval, '--yes')).code).toBe(0);
  await bridge.idle();
  await runs.run();
  await expect(pathOf('lee book')).resolves.toBe('');
  main.guard.deactivate = deactivate;

  const { id: other, userName: kept } = await bring('kay');
  await close(other, kept);
  main.users.protected = [kept];
  await runs.run();
  await expect(pathOf('kay book')).resolves.toBe('');
  main.users.protected = [];
  // The first run marks the person who is no longer protected.
  await runs.run();
  await bridge.idle();
  await runs.run();
  await expect(pathOf('kay book')).resolves.toBe(`Team/${kept}`);
}, 60_000);

test('the platform refuses to move items with 403 → they are reported once, and are moved after the API key gets the right', async ({
  bridge,
  runs,
  commands,
  pathOf,
  bring,
  close,
}) => {
  const { id, userName } = await bring('eli');
  await close(id, userName);
  await bridge.platform.control('PATCH', '/faults', {
    rules: [{ path: '/workspace/move', status5xx: { share: 1, status: 403 } }],
  });
  const refused = await commands.run('reconcile', '--yes');
  expect(refused.text).toMatch(/the platform refused the move of \d+ items/);
  await expect(pathOf('eli book')).resolves.toBe('');
  const log = async () =>
    (await commands.run('log', '--resource', userName, '--action', 'handOver', '--json')).text.split('\n');
  const named = await log();
  expect(new Set(named.join().match(/eli (book|report|top)/g)).size).toBe(3);
  await runs.run();
  expect(await log()).toHaveLength(named.length);
  await bridge.platform.control('PATCH', '/faults', { rules: [] });
  await runs.run();
  await expect(pathOf('eli book')).resolves.toBe(`Team/${userName}`);
}, 60_000);

test('the platform refuses to move one item back with 403 → all other items are moved, undo and handover list name the refusal, it is logged once, and the next run moves the item back', async ({
  bridge,
  runs,
  commands,
  pathOf,
  bring,
  close,
}) => {
  const [una, vic, wim] = [await bring('una'), await bring('vic'), await bring('wim')];
  for (const { id, userName } of [una, vic]) await close(id, userName);
  await commands.run('reconcile', '--yes');
  for (const { id } of [una, vic])
    await bridge.idp.patch(`/Users/${id}`, { op: 'replace', value: { active: true } });
  await close(wim.id, wim.userName);
  const refuse = (times: number) =>
    bridge.platform.control('PATCH', '/faults', {
      rules: [{ path: '/workspace/move', times, status5xx: { share: 1, status: 403 } }],
    });
  await refuse(1);
  expect((await commands.run('reconcile', '--yes')).text).toContain(
    'handed over 3 items, gave back 5 items, the platform refused the move of 1 item',
  );
  for (const each of ['vic book', 'vic report', 'vic top']) await expect(pathOf(each)).resolves.toBe('');
  await expect(pathOf('wim book')).resolves.toBe(`Team/${wim.userName}`);

  await refuse(1);
  const undone = await commands.run('handover', 'undo', una.userName, '--yes');
  expect([undone.code, undone.errors]).toEqual([
    1,
    expect.stringContaining(
      'refused the move of 1 item: see scim-bridge handover list. Give the order again.',
    ),
  ]);
  expect((await commands.run('handover', 'list')).text).toMatch(/^ {2}refused: \w+ "una \w+" \(\d+\): 403/m);
  const log = await commands.run('log', '--resource', una.userName, '--action', 'giveBack', '--json');
  expect(log.text.match(/provisioningStatusInfo":{"status":"failure"/g)).toHaveLength(1);
  await runs.run();
  for (const each of ['una book', 'una report', 'una top']) await expect(pathOf(each)).resolves.toBe('');
  expect((await commands.run('handover', 'list', '--json')).text).not.toContain('"reason"');
}, 60_000);

test('while the breaker is open no item of a leaver is moved, and once it closes each item is moved exactly once', async ({
  bridge,
  runs,
  commands,
  pathOf,
  bring,
  close,
}) => {
  const { id, userName } = await bring('ivy');
  await close(id, userName);
  const { scope } = runs.scopes[0] as Reconciling['scopes'][0];
  await bridge.platform.control('PATCH', '/faults', { status5xx: { share: 1 } });
  for (let n = 0; n < 8; n++) await bridge.idp.createUser(`busy${n}@acme.example`);
  await eventually('the breaker is open', async () => (await scope.target.breaker.read()).open, 60_000);
  expect((await commands.run('reconcile', '--yes', '--deadline', '3s')).code).toBe(1);
  await bridge.platform.control('PATCH', '/faults', { status5xx: { share: 0 } });
  await expect(pathOf('ivy book')).resolves.toBe('');
  await eventually('the target answers', async () => !(await scope.target.breaker.read()).open, 60_000);
  await bridge.idle();
  await runs.run();
  await expect(pathOf('ivy book')).resolves.toBe(`Team/${userName}`);
}, 180_000);

test('the destination folder or deployment is missing → plan, reconcile and doctor report it, and no item is moved', async ({
  bridge,
  team,
  commands,
  pathOf,
  bring,
  close,
}) => {
  const { id, userName } = await bring('sam');
  await close(id, userName);
  for (const [handover, words] of [
    [{ deployment: 1, folder: 'Nowhere', afterDays: 0 }, 'has no folder "Nowhere"'],
    [{ deployment: 1, folder: 999_999, afterDays: 0 }, 'has no folder 999999'],
    [{ deployment: 77, folder: team, afterDays: 0 }, 'the deployment 77 does not exist'],
  ] as const) {
    const wrong = createCommands(handoverSettings(bridge, handover));
    for (const order of [['plan'], ['reconcile', '--yes'], ['doctor']])
      expect((await wrong.run(...order)).text).toContain(words);
    const plan = await wrong.run('plan');
    expect(plan.code).toBe(0);
    expect(plan.text).not.toContain('0 people due');
    const told = (await wrong.run('explain', userName, '--all')).text;
    expect(told).toContain('and nothing is moved: ');
    expect(told).toContain(words);
    expect(told).not.toContain('reconcile moves');
    wrong.remove();
  }
  await expect(pathOf('sam book')).resolves.toBe('');
  expect((await commands.run('doctor')).text).toContain(
    'the handover folder Team of the deployment 1 is there',
  );
}, 60_000);

afterKill(
  'after kill -9 between two moves every item is moved once',
  async ({ bridge, runs, commands, items, pathOf, bring, close }) => {
    const { id, userName } = await bring('sam');
    await close(id, userName);
    await bridge.platform.control('PATCH', '/faults', {
      rules: [{ path: '/api/v1/deployments/1/workspace/move', latencyMs: 700 }],
    });
    const main = join(import.meta.dirname, '../../dist/main.js');
    const settings = join(commands.folder, 'bridge.json');
    const child = spawn(process.execPath, [main, '--config', settings, 'reconcile', '--yes'], {
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    const moved = async () =>
      (await items()).filter(
        ({ name, ...item }) => /^sam (book|report|top)$/.test(name) && placeOf({ name, ...item }) !== null,
      ).length;
    await eventually('one item is moved', async () => (await moved()) >= 1, 60_000);
    child.kill('SIGKILL');
    await ended;
    await bridge.platform.control('PATCH', '/faults', { rules: [] });
    expect(await moved()).toBeLessThan(3);
    // The lock of the killed run expires.
    await runs.run();
    for (const each of ['sam book', 'sam report', 'sam top'])
      await expect(pathOf(each)).resolves.toBe(`Team/${userName}`);
    expect((await items()).filter(({ name }) => name === userName).length).toBe(1);
    const log = (await commands.run('log', '--resource', userName, '--action', 'handOver', '--json')).text;
    expect(log.match(/sam (book|report|top)/g)?.length).toBe(3);
    await commands.run('handover', 'undo', userName, '--yes');
    for (const each of ['sam book', 'sam report', 'sam top']) await expect(pathOf(each)).resolves.toBe('');
  },
  120_000,
);
