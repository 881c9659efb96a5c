// Tests doctor --deep and --repair: faults of derived data are reported and repaired, without a change at the platform.
import { Redis } from 'ioredis';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { createCommands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';

let bridge: Bridge;
let redis: Redis;
beforeAll(async () => {
  bridge = await buildBridge();
  redis = new Redis(process.env.TEST_REDIS_URL ?? '');
});
afterAll(async () => {
  redis.disconnect();
  await bridge.stop();
});

test('doctor names a lost index and a lost reverse link, rebuilds both, and leaves an audit entry', async () => {
  const { idp, platform, config } = bridge;
  await idp.createUser('ada@acme.example');
  await eventually('ada is there', async () => (await platform.user('ada@acme.example'))?.active);
  const commands = createCommands({
    redis: { url: config.redis.url, prefix: config.redis.prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: bridge.sandbox.ready.platformUrl,
        token: bridge.sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
      },
    },
  });
  const about = async (...flags: string[]) => {
    const { json } = await commands.run('doctor', '--json', ...flags);
    const all = json as { area: string; level: string; message: string }[];
    return all
      .filter(({ area }) => area === 'data default')
      .map(({ level, message }) => `${level} ${message}`);
  };
  try {
    const ok = ['ok agrees with the records'];
    expect(await about('--deep')).toEqual(ok);
    await platform.forgetRequests();
    const base = `${config.redis.prefix}:{default}:`;
    await redis.del(`${base}userNames`, `${base}linked:main`);
    const named = [
      expect.stringMatching(/^error userNames: 1 missing/),
      expect.stringMatching(/^error linked: 1 missing/),
    ];
    expect(await about('--deep')).toEqual(named);
    expect(await about('--repair')).toEqual(
      named.map((_, index) =>
        expect.stringMatching(
          index ? /^ok linked: 1 missing, repaired/ : /^ok userNames: 1 missing, repaired/,
        ),
      ),
    );
    expect(await about('--deep')).toEqual(ok);
    const acts = (await commands.run('acts', '--json')).json as unknown;
    expect(JSON.stringify(acts)).toContain('"act":"repair"');
    expect((await platform.writes()).filter(({ method }) => method !== 'HEAD')).toEqual([]);
  } finally {
    commands.remove();
  }
});
