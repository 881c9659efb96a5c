// Tests that reading commands say that Redis came back empty, and that plan and reconcile do not call that a success.
import { join } from 'node:path';
import '../support/load-modules.ts';
import { startApp } from '../../src/app.ts';
import { readSettings } from '../../src/cli/cli.ts';
import { createLogger } from '../../src/support/logger.ts';
import { randomIds, systemClock } from '../../src/support/sources.ts';
import { eventually } from '../support/eventually.ts';
import { askHealth } from '../support/health.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
afterAll(() => place.stop());

test('all data of Redis are lost → the reading commands name the loss and what to do, and no plan says that the platform is as desired', async () => {
  place = await openPlace({ ownRedis: true });
  const { commands, idp, redis } = place;
  await idp.createUser(ANN);
  await place.idle();
  const status = async () => (await commands.run('status')).text;
  // The service looks for a loss with each beat.
  await eventually(
    'the service has noted its data',
    async () => Boolean(await redis.exists(await place.key(':dataSeen'))),
    30_000,
  );
  await redis.flushall();
  await eventually('status says so', async () => (await status()).includes('came back empty'), 30_000);
  const saved = join(commands.folder, 'saved.json');
  for (const [exit, ...command] of [
    [1, 'plan', '--out', saved],
    [1, 'apply', saved, '--yes'],
    [1, 'reconcile', '--yes'],
    [4, 'explain', ANN],
    [0, 'exceptions'],
    [0, 'approvals', 'list'],
    [0, 'dead-letters', 'list'],
    [0, 'log'],
  ] as const) {
    const { code, text, errors } = await commands.run(...command);
    expect([command, code]).toEqual([command, exit]);
    expect(errors.replaceAll(/\s+/g, ' ')).toMatch(
      /Redis came back empty: .* are lost\. Restore a backup .* full cycle/,
    );
    expect(text).toContain('came back empty');
    expect(text).not.toContain('is as desired');
    expect(text).not.toContain('converged');
  }
  expect(await status()).toMatch(
    /last reconcile \S+: unproven, Redis came back empty: accounts .* are not compared/,
  );
  // The run compared everything that is stored, so no alert calls it a failure of the platform.
  const [row] = (await commands.run('status', '--json')).json;
  expect(row.reconcile.lastSuccessAt).not.toBeNull();
  const lines: any[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const settings = readSettings({
    env: {},
    cwd: commands.folder,
    file: join(commands.folder, 'bridge.json'),
  });
  const later = await startApp(settings, 'api', {
    logger,
    clock: systemClock,
    ids: randomIds,
    random: Math.random,
  });
  try {
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 50,
        loss: 'empty',
        msg: 'Redis came back without changes up to this time',
      }),
    );
    const { fleet } = (await askHealth({ app: later }, '/health')).body.components;
    expect(fleet).toMatchObject({ ok: false, findings: [expect.stringContaining('Redis came back empty')] });
  } finally {
    await later.stop();
  }
}, 90_000);
