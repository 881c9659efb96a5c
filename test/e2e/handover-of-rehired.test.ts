// Tests the handover of people who come back as a new record of the source, and what is told of moves that no run makes.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { createCommands } from '../support/command.ts';
import { createScenario } from '../support/scenario.ts';
import { handoverSettings, openWorkspace } from '../support/workspace.ts';

const test = createScenario(openWorkspace, ({ stop }) => stop());

test('a person whose work was handed over is deleted at the source and pushed again → plan and explain announce the return, reconcile gives everything back, and a new closing hands it over again', async ({
  bridge,
  commands,
  pathOf,
  bring,
  active,
}) => {
  const { id, userName } = await bring('ann');
  await bridge.idp.send('DELETE', `/Users/${id}`);
  await active(userName, false);
  await bridge.idle();
  await commands.run('reconcile', '--yes');
  await expect(pathOf('ann book')).resolves.toBe(`Team/${userName}`);

  const startOf = async () => String((await commands.run('handover', 'list', '--json')).json[0]?.startedAt);
  const first = await startOf();

  const anew = await bridge.idp.createUser(userName);
  await active(userName, true);
  await bridge.idle();
  const plan = await commands.run('plan');
  expect([plan.code, plan.text]).toEqual([2, expect.stringContaining('the work of 1 person to give back')]);
  expect((await commands.run('explain', userName, '--all')).text).toContain(
    'the person is active again, so the next reconcile moves the work back',
  );
  expect((await commands.run('reconcile', '--yes')).text).toContain('gave back 3 items');
  for (const each of ['ann book', 'ann report', 'ann top']) await expect(pathOf(each)).resolves.toBe('');
  expect((await commands.run('plan')).code).toBe(0);

  await bridge.idp.patch(`/Users/${anew}`, { op: 'replace', value: { active: false } });
  await active(userName, false);
  await bridge.idle();
  expect((await commands.run('reconcile', '--yes')).text).toContain('handed over 3 items');
  await expect(pathOf('ann book')).resolves.toBe(`Team/${userName}`);
  expect(Date.parse(await startOf())).toBeGreaterThan(Date.parse(first));
}, 60_000);

test('handover undo by the name of a person who was deleted and pushed again moves the work back', async ({
  bridge,
  commands,
  pathOf,
  bring,
  active,
}) => {
  const { id, userName } = await bring('bea');
  await bridge.idp.send('DELETE', `/Users/${id}`);
  await active(userName, false);
  await bridge.idle();
  await commands.run('reconcile', '--yes');
  await bridge.idp.createUser(userName);
  await active(userName, true);
  await bridge.idle();
  const undone = await commands.run('handover', 'undo', userName, '--yes');
  expect([undone.code, undone.text]).toEqual([0, expect.stringContaining('3 items')]);
  await expect(pathOf('bea book')).resolves.toBe('');
});

test('a handover is due or to be given back while the target is on hold → plan and explain say that nothing is moved, and plan exits 0', async ({
  bridge,
  commands,
  bring,
  close,
}) => {
  const [left, back] = [await bring('cid'), await bring('dan')];
  await close(back.id, back.userName);
  await commands.run('reconcile', '--yes');
  await bridge.idp.patch(`/Users/${back.id}`, { op: 'replace', value: { active: true } });
  await bridge.idle();
  await close(left.id, left.userName);
  await commands.run('hold', '--note', 'audit');
  const plan = await commands.run('plan');
  expect([plan.code, plan.text]).toEqual([0, expect.stringMatching(/! Nothing is moved: .*on hold/)]);
  expect(plan.text).not.toMatch(/the work of 1 person to/);
  for (const { userName } of [left, back]) {
    const { text } = await commands.run('explain', userName, '--all');
    expect(text).toMatch(/handover: .*nothing is moved: .*on hold/);
    expect(text).not.toContain('the next reconcile moves');
  }
  await commands.run('release');
}, 60_000);

test('a plan with a handover is saved during a hold and applied after its end → the work is moved; saved before a hold and applied during it → nothing is moved', async ({
  bridge,
  commands,
  pathOf,
  bring,
  close,
}) => {
  const file = join(tmpdir(), `${bridge.config.redis.prefix}.plan`);
  const gus = await bring('gus');
  await close(gus.id, gus.userName);
  await commands.run('hold');
  const plan = await commands.run('plan', '--out', file);
  expect([plan.code, plan.text]).toEqual([0, expect.stringMatching(/! Nothing is moved: .*on hold/)]);
  await commands.run('release');
  const applied = await commands.run('apply', file, '--yes');
  expect([applied.code, applied.text]).toEqual([
    0,
    expect.stringMatching(/converged: handed over \d+ items/),
  ]);
  expect(applied.text).not.toContain('Nothing is moved');
  await expect(pathOf('gus book')).resolves.toBe(`Team/${gus.userName}`);

  const hal = await bring('hal');
  await close(hal.id, hal.userName);
  expect((await commands.run('plan', '--out', file)).code).toBe(2);
  await commands.run('hold');
  expect((await commands.run('apply', file, '--yes')).text).toMatch(/! Nothing is moved: .*on hold/);
  await expect(pathOf('hal book')).resolves.toBe('');
  await commands.run('release');
  rmSync(file);
}, 60_000);

test('a person whose work was handed over is active again after the setting was taken out → explain names handover undo, and no reconcile', async ({
  bridge,
  commands,
  pathOf,
  bring,
  close,
}) => {
  const { id, userName } = await bring('eve');
  await close(id, userName);
  await commands.run('reconcile', '--yes');
  await bridge.idp.patch(`/Users/${id}`, { op: 'replace', value: { active: true } });
  await bridge.idle();
  const without = createCommands(handoverSettings(bridge, null));
  const { text } = await without.run('explain', userName, '--all');
  await without.run('reconcile', '--yes');
  without.remove();
  await expect(pathOf('eve book')).resolves.toBe(`Team/${userName}`);
  expect(text).toContain('targets.main.handover is not set any more');
  expect(text).toContain('handover undo');
  expect(text).not.toContain('the next reconcile moves');
}, 60_000);
