// Tests that a due deletion of a closed account waits for the handover of its work, for a bounded time.
import { Redis } from 'ioredis';
import '../support/load-modules.ts';
import { createCommands } from '../support/command.ts';
import { createScenarios } from '../support/scenario.ts';
import { handoverSettings, openWorkspace } from '../support/workspace.ts';

/** Opens the workspace with `deleteAfterDays`, and a person who was deleted at the source and closed. */
async function openWithLeaver() {
  const opened = await openWorkspace();
  const { bridge, bring, active, team, stop } = opened;
  const { id, userName } = await bring('fay');
  await bridge.idp.send('DELETE', `/Users/${id}`);
  await active(userName, false);
  await bridge.idle();
  const users = { deleteAfterDays: 1 };
  const { main } = bridge.config.targets;
  if (main) Object.assign(main.users, users);
  const handover = { deployment: 1, folder: team, afterDays: 0 };
  const commands = createCommands(handoverSettings(bridge, handover, { users }));
  const redis = new Redis(String(process.env.TEST_REDIS_URL));
  const keyOf = (name: string): string => `${bridge.config.redis.prefix}:{default}:${name}`;

  /** Moves a time in a stored hash field into the past. */
  async function setBack(key: string, field: string, time: string, days: number): Promise<void> {
    const stored = JSON.parse((await redis.hget(key, field)) ?? '');
    await redis.hset(key, field, JSON.stringify({ ...stored, [time]: stored[time] - days * 86_400_000 }));
  }
  return {
    ...opened,
    commands,
    ref: `User:${id}`,
    userName,
    isThere: async () => (await bridge.platform.user(userName)) !== undefined,
    deletedEarlier: (days: number) => setBack(keyOf('tombstones'), id, 'deletedAt', days),
    closedEarlier: (days: number) => setBack(keyOf('links:main'), `User:${id}`, 'closedAt', days),
    stop: async () => {
      redis.disconnect();
      commands.remove();
      await stop();
    },
  };
}

const test = createScenarios(openWithLeaver, ({ stop }) => stop());

test('the handover and the deletion of a closed account are due → plan and explain tell the handover, reconcile hands over, and the next one deletes the account', async ({
  commands,
  ref,
  userName,
  isThere,
  pathOf,
  deletedEarlier,
}) => {
  await deletedEarlier(2);
  const plan = await commands.run('plan');
  expect([plan.code, plan.text]).toEqual([2, expect.stringContaining('the work of 1 person to hand over')]);
  expect(plan.text).not.toContain('to delete');
  await commands.run('sync', ref);
  expect(await isThere()).toBe(true);
  const explained = (await commands.run('explain', ref, '--all')).text;
  expect(explained).toContain('the next reconcile moves the workbooks, reports and top folders');
  expect(explained).toMatch(/deleted for good after 2\S+Z and after the handover, .* at most 7 days/);
  expect((await commands.run('reconcile', '--yes')).text).toContain('handed over 3 items');
  await expect(pathOf('fay book')).resolves.toBe(`Team/${userName}`);
  expect(await isThere()).toBe(true);
  expect((await commands.run('plan')).text).toContain('1 to delete');
  await commands.run('reconcile', '--yes');
  expect(await isThere()).toBe(false);
}, 60_000);

test('the deletion has waited for the handover for 7 days → plan and explain tell the deletion, and reconcile deletes the account', async ({
  commands,
  ref,
  isThere,
  pathOf,
  deletedEarlier,
  closedEarlier,
}) => {
  await deletedEarlier(9);
  await closedEarlier(9);
  const explained = (await commands.run('explain', ref, '--all')).text;
  expect(explained).toContain('the deletion of the account (users.deleteAfterDays) has waited for it');
  expect(explained).not.toContain('the next reconcile moves');
  expect((await commands.run('plan')).text).toContain('1 to delete');
  await commands.run('reconcile', '--yes');
  expect(await isThere()).toBe(false);
  await expect(pathOf('fay book')).resolves.toBe('');
}, 60_000);
