// Tests a kill of the bridge while groups exchange their names.
import { startLocalRedis } from '../../src/demo/local-redis.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess } from '../support/bridge-process.ts';
import { CHAOS_TOKEN, chaosSettings } from '../support/chaos.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { foundGroups, isIn, LONG_MS, rename } from '../support/named-groups.ts';
import { createPlatformView } from '../support/platform-view.ts';

test('the bridge is killed while groups exchange their names → after a restart no group keeps a temporary name', async () => {
  const redis = await startLocalRedis({ env: {}, appendfsync: 'always' });
  const sandbox = await startSandbox();
  const settings = chaosSettings(redis.url, sandbox.ready);
  const bridge = await startBridgeProcess(settings);
  try {
    const platform = createPlatformView(sandbox.ready.controlUrl);
    const idp = createIdp(bridge.baseUrl, CHAOS_TOKEN);
    const [sales, ops] = await foundGroups({ idp, platform }, ['sales', 'ops']);
    // Slow writes, so that the state between the steps can be seen.
    const rules = [
      { method: 'PATCH', path: '/Groups', times: 3, status5xx: true },
      { method: 'PATCH', path: '/Groups', times: 1000, latencyMs: 500 },
    ];
    await platform.control('PATCH', '/faults', { rules });
    await rename(idp, ops, 'tmp');
    await rename(idp, sales, 'ops');
    await rename(idp, ops, 'sales');
    const isAside = async (): Promise<boolean> =>
      (await platform.state()).groups.some(({ displayName }) => /^.+\.(sales|ops)$/.test(displayName));
    await eventually('a group has the temporary name', isAside, LONG_MS);
    await bridge.killAndRestart();
    await eventually('sales is called ops', () => isIn(platform, 'sales', 'ops'), LONG_MS);
    await eventually('ops is called sales', () => isIn(platform, 'ops', 'sales'), LONG_MS);
  } finally {
    await bridge.stop();
    await sandbox.stop();
    await redis.stop();
  }
}, 120_000);
