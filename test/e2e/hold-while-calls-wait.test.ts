// Tests a hold that is ordered while a write waits for its turn which no lease of a sync protects: the creation of an attribute
// definition, and the moves of a handover. None of them is sent before the release.
import '../support/load-modules.ts';
import { Redis } from 'ioredis';
import { ADMIN_TOKEN, buildBridge, type Bridge } from '../support/build-bridge.ts';
import { createCommands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { handoverSettings, openWorkspace } from '../support/workspace.ts';

const ANN = 'ann@acme.example';

async function order({ app }: Bridge, name: 'hold' | 'release'): Promise<void> {
  const { status } = await fetch(`http://127.0.0.1:${app.port}/admin/v1/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(status).toBe(200);
}

test('the creation of an attribute definition waits for the end of a pause, and the target is put on hold → it is not sent before the release', async () => {
  const bridge = await buildBridge({
    configure: ({ targets: { main } }) => {
      if (!main) throw new Error('no target');
      main.attributes = { level: { type: 'number', from: 'title', onEmpty: 'clear' } };
    },
  });
  const { config, idp, platform } = bridge;
  const redis = new Redis(process.env.TEST_REDIS_URL ?? '');
  const pause = { until: Date.now() + 4000, status: 429, asked: true };
  const { prefix } = config.redis;
  await redis.set(`${prefix}:{target.main}:paused:main`, JSON.stringify(pause), 'PX', 4000);
  await idp.createUser(ANN, { title: '3' });
  await eventually('the sync waits', async () => (await redis.keys(`${prefix}:*:lease:*`)).length > 0);
  await order(bridge, 'hold');
  const ended = 'because it lost its lease';
  await eventually('the waiting sync has ended', async () => {
    const isWritten = (await platform.writes()).length > 0;
    return isWritten || bridge.logs.some((line) => line.includes(ended));
  });
  expect(await platform.writes()).toEqual([]);
  expect((await platform.requests()).map(({ path }) => path)).toContain('/api/v1/user-attributes');
  await order(bridge, 'release');
  await bridge.idle();
  expect((await platform.user(ANN))?.attributes).toEqual({ level: 3 });
  redis.disconnect();
  await bridge.stop();
}, 60_000);

test('a move of a handover and a move back wait for their turn, and the target is put on hold → they are not sent before the release', async () => {
  const { bridge, commands, pathOf, bring, close, stop } = await openWorkspace();
  const slow = createCommands(
    handoverSettings(
      bridge,
      { deployment: 1, folder: 'Team', afterDays: 0 },
      { rateLimit: { requestsPerSecond: 2, burst: 1 } },
    ),
  );
  const { platform } = bridge;
  const moves = async (): Promise<number> =>
    (await platform.writes()).filter(({ path }) => path.endsWith('/workspace/move')).length;
  /** Runs a command, orders a hold after the first move, and returns the output and the number of moves. */
  async function holdAfterFirstMove(...words: string[]): Promise<[text: string, moves: number]> {
    await platform.forgetRequests();
    const running = slow.run(...words);
    await eventually('the first item is moved', async () => (await moves()) > 0, 60_000);
    await order(bridge, 'hold');
    const { text } = await running;
    const sent = await moves();
    await order(bridge, 'release');
    return [text.replace(/\s+/g, ' '), sent];
  }
  const { id, userName } = await bring('ann');
  await close(id, userName);
  const stopped = [expect.stringContaining('the target was on hold'), 1];
  expect(await holdAfterFirstMove('reconcile', '--yes')).toEqual(stopped);
  await commands.run('reconcile', '--yes');
  for (const each of ['ann book', 'ann report', 'ann top'])
    expect(await pathOf(each)).toBe(`Team/${userName}`);
  const undo = ['handover', 'undo', userName, '--yes'];
  expect(await holdAfterFirstMove(...undo)).toEqual(stopped);
  await commands.run(...undo);
  for (const each of ['ann book', 'ann report', 'ann top']) expect(await pathOf(each)).toBe('');
  slow.remove();
  await stop();
}, 120_000);
