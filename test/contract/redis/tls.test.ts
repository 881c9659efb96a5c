// Tests Redis over TLS with a private authority, a client certificate and an ACL user (docs/redis.md).
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { freePort } from '../../../src/demo/local-redis.ts';
import { connectRedis, untilReady } from '../../../src/directory/redis/connection.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { buildBridge } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../../support/redis-servers.ts';

const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-tls-'));
const [certFile, keyFile] = [join(folder, 'server.crt'), join(folder, 'server.key')];
const tls = { caFile: certFile, certFile, keyFile, serverName: 'redis.test' };
let server: RedisServer | undefined;
let url = '';

beforeAll(async () => {
  const pair = await generate([{ name: 'commonName', value: 'redis.test' }], {
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'redis.test' }] },
    ],
  });
  writeFileSync(certFile, pair.cert);
  writeFileSync(keyFile, pair.private);
  const own = await freePort();
  server = await startRedisServer(
    [
      ...[
        `tls-port ${own}`,
        `tls-cert-file ${certFile}`,
        `tls-key-file ${keyFile}`,
        `tls-ca-cert-file ${certFile}`,
      ],
      ...['tls-auth-clients yes', 'maxmemory-policy noeviction'],
    ],
    {
      port: own,
      options: { tls: { ca: pair.cert, cert: pair.cert, key: pair.private, servername: 'redis.test' } },
    },
  ).catch((error: Error) => {
    if (!error.message.includes('ended with')) throw error;
    process.stderr.write('This Redis server was built without TLS: connections over TLS are not checked.\n');
    return undefined;
  });
  await server?.client.call(
    ...([
      'ACL',
      'SETUSER',
      'bridge',
      'on',
      '>p@ss',
      'resetkeys',
      '~*test-*',
      'resetchannels',
      '&*test-*',
    ] as const),
    ...['+@all', '-@admin', '-@dangerous', '+info', '+config|get'],
  );
  url = `rediss://bridge:p%40ss@127.0.0.1:${server?.port}`;
}, 30_000);
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a user is synced through Redis over TLS with the ACL of docs/redis.md', async () => {
  if (!server) return;
  const bridge = await buildBridge({
    configure: (config) => Object.assign(config.redis, { url, tls }),
  });
  await bridge.idp.createUser('tls@acme.example');
  await eventually(
    'the user is active',
    async () => (await bridge.platform.user('tls@acme.example'))?.active,
  );
  await bridge.stop();
});

test.each([
  ['an unknown authority', { ...tls, caFile: null }],
  ['another name in the certificate', { ...tls, serverName: 'other.test' }],
  ['no client certificate', { ...tls, certFile: null, keyFile: null }],
])('no TLS connection to Redis is made with %s', async (_what, wrong) => {
  if (!server) return;
  const redis = connectRedis({ url, tls: wrong }, 'commands', silentLogger);
  await untilReady(redis, 500);
  await expect(redis.ping()).rejects.toThrow();
  redis.disconnect();
});

test('a CA certificate that is written to its file later is used by the next connection to Redis', async () => {
  if (!server) return;
  const later = join(folder, 'later.crt');
  writeFileSync(later, 'not there yet');
  const redis = connectRedis({ url, tls: { ...tls, caFile: later } }, 'queue', silentLogger);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(redis.status).not.toBe('ready');
  copyFileSync(certFile, later);
  await untilReady(redis, 5000);
  expect(await redis.ping()).toBe('PONG');
  redis.disconnect();
});
