// Tests the addresses on which the bridge listens.
import { networkInterfaces } from 'node:os';
import { buildBridge } from '../support/build-bridge.ts';

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.family === 'IPv6');
const ADDRESSES = ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])];

test('with :: as server.host the bridge answers on IPv4, and on IPv6 where the machine has it', async () => {
  const bridge = await buildBridge({
    configure: (config) => {
      config.server.host = '::';
      config.server.adminPort = 0;
      config.reconcile.schedule = null;
    },
  });
  try {
    const { port, adminPort } = bridge.app;
    for (const address of ADDRESSES) {
      expect((await fetch(`http://${address}:${port}/scim/v2/Users`)).status).toBe(401);
      expect((await fetch(`http://${address}:${adminPort}/livez`)).status).toBe(200);
    }
  } finally {
    await bridge.stop();
  }
});
