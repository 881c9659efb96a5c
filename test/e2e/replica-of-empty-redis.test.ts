// Tests that commands recognise a Redis replica whose primary has no data of the bridge yet.
import '../support/load-modules.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../support/redis-servers.ts';
import { settingsFor } from '../support/settings.ts';

const DURABLE = ['appendonly yes', 'save ""', 'maxmemory-policy noeviction', 'repl-diskless-sync-delay 0'];

let sandbox: Sandbox;
let servers: RedisServer[];
let commands: Commands;
beforeAll(async () => {
  sandbox = await startSandbox();
  const primary = await startRedisServer(DURABLE);
  const replica = await startRedisServer([...DURABLE, `replicaof 127.0.0.1 ${primary.port}`]);
  servers = [primary, replica];
  await eventually('the replica follows', async () =>
    (await replica.client.info('replication')).includes('master_link_status:up'),
  );
  const redis = { url: `redis://127.0.0.1:${replica.port}`, prefix: 'test' };
  commands = createCommands(settingsFor(sandbox, {}, { redis }));
}, 30_000);
afterAll(async () => {
  commands.remove();
  await Promise.all(servers.map((server) => server.stop()));
  await sandbox.stop();
});

test('the Redis address leads to a replica of an empty primary → doctor and status report a replica, not a broken connection', async () => {
  const doctor = await commands.run('doctor');
  expect(doctor.code).toBe(1);
  expect(doctor.text).toContain('✘ redis: Redis is a replica. Point redis.url at the primary.');
  expect(doctor.text).not.toContain('✘ redis: Redis does not answer');
  const status = await commands.run('status');
  expect(status.code).toBe(2);
  expect(status.text).toContain('Redis takes no writes (it is a replica)');
}, 30_000);
