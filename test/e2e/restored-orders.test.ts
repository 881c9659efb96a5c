// Tests what a restore says of tokens, holds and orders of operators that stood before it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';

let place: Place;
afterEach(() => place.stop());

const pathOf = (name: string): string => join(place.commands.folder, name);
const { told } = commandsAt(() => place);

/** Deletes all data in Redis, as its loss does. */
const loseRedis = async (): Promise<unknown> =>
  place.redis.del(...(await place.redis.keys(`${place.settings.redis.prefix}:*`)));

test('restore lists the tokens of the file that are already stored, and separately the tokens that it left out', async () => {
  place = await openPlace({ roles: [] });
  await run(place, 'token', 'create', 'old');
  await run(place, 'token', 'create', 'revoked');
  await run(place, 'token', 'create', 'changed');
  const file = pathOf('day.backup');
  await run(place, 'backup', file);
  for (const name of ['revoked', 'changed']) await run(place, 'token', 'revoke', name);
  await run(place, 'token', 'create', 'changed');
  const text = await told('restore', file, '--replace', '--yes');
  expect(text).toContain(
    'Inbound tokens of the file that were stored already stay as they are: old (default).',
  );
  expect(text).toMatch(
    /were left out: (revoked \(default\), changed|changed \(default\), revoked) \(default\)\. Make new ones/,
  );
}, 60_000);

test('the hold after a restore names the newest backup, and keeps operator and note of an earlier hold', async () => {
  place = await openPlace({ roles: [] });
  await run(place, 'hold', '--by', 'carl', '--note', 'tenant migration');
  const [first, second] = [pathOf('first.backup'), pathOf('second.backup')];
  const written: string[] = [];
  for (const file of [first, second]) {
    await run(place, 'backup', file);
    written.push(
      (JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? '') as { createdAt: string }).createdAt,
    );
  }
  const heldBefore = 'carl stopped all writes: tenant migration';
  const holdNow = async () => (await place.commands.run('status', '--json')).json[0].hold;

  const said = await told('restore', first, '--replace', '--yes', '--by', 'dora');
  expect(said).toContain(
    `default → main was on hold before: ${heldBefore}. The note of the new hold says so`,
  );
  const noteOf = (at: string | undefined) => `restored from ${at}; before it, ${heldBefore}`;
  expect(await holdNow()).toMatchObject({ by: 'dora', note: noteOf(written[0]) });

  await run(place, 'restore', second, '--replace', '--yes', '--by', 'dora');
  expect(await holdNow()).toMatchObject({ by: 'dora', note: noteOf(written[1]) });

  await loseRedis();
  await run(place, 'restore', first, '--yes', '--by', 'dora');
  expect(await holdNow()).toMatchObject({ by: 'dora', note: noteOf(written[0]) });
  await run(place, 'release');
  expect(await holdNow()).toBeNull();
}, 60_000);

test('Redis is lost and restored → a removed target that an operator confirmed with links keep is not reported again', async () => {
  const second = await startSandbox();
  try {
    place = await openPlace({ roles: [] });
    await place.change(({ connections, targets }) => {
      for (const each of Object.values(connections)) Object.assign(each, { targets: ['main', 'analytics'] });
      const { platformUrl, fixtures } = second.ready;
      const own = { url: platformUrl, token: fixtures.apiKeys.admin };
      Object.assign(targets, { analytics: { ...targets.main, ...own } });
    });
    await place.idp.createUser('ann@acme.example');
    await place.idle();
    await place.change(({ connections, targets }) => {
      for (const each of Object.values(connections)) Object.assign(each, { targets: ['main'] });
      delete (targets as Partial<Record<string, unknown>>).analytics;
    });
    expect(await told('status')).toContain('no longer configured');
    await run(place, 'links', 'keep', '--connection', 'default', '--target', 'analytics', '--yes');
    expect(await told('status')).not.toContain('no longer configured');
    const file = pathOf('day.backup');
    await run(place, 'backup', file);
    await place.stopApps();
    await loseRedis();
    await run(place, 'restore', file, '--yes');
    await place.start();
    expect(await told('links', 'list')).toContain('analytics');
    expect(await told('status')).not.toContain('no longer configured');
  } finally {
    await second.stop();
  }
}, 60_000);
