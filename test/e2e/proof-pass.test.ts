// Tests the hourly proof of the scheduler: it reports faults and repairs nothing.
import { createKeyspace } from '../../src/directory/keys.ts';
import { openDesiredStates } from '../../src/app.ts';
import { startProofPass } from '../../src/ops/proof-pass.ts';
import { readStatus } from '../../src/ops/status.ts';
import { buildBridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { silentLogger } from '../../src/support/logger.ts';

test('a lost index is counted by the pass and stays as it is', async () => {
  const bridge = await buildBridge({ role: 'api' });
  const { redis, states, breakers } = openDesiredStates(bridge.config);
  const key = createKeyspace(bridge.config.redis.prefix, 'default').key('userNames');
  try {
    await bridge.idp.createUser('ann@acme.example');
    await redis.del(key);
    // The first sleep of the pass ends at once, the second one lasts until the stop.
    let sleeps = 0;
    const clock = {
      now: Date.now,
      sleep: (_ms: number, signal?: AbortSignal) =>
        sleeps++ === 0
          ? Promise.resolve()
          : new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve())),
    };
    const stop = startProofPass({ clock, logger: silentLogger, random: Math.random }, states);
    await eventually('the pass has ended', async () => (await states[0]?.proof.last()) !== undefined);
    await stop();
    await expect(states[0]?.proof.last()).resolves.toMatchObject({ faults: 1 });
    await expect(readStatus(states, breakers)).resolves.toMatchObject([{ faults: 1 }]);
    await expect(redis.exists(key)).resolves.toBe(0);
  } finally {
    redis.disconnect();
    await bridge.stop();
  }
});
