// Tests lists, orders and an export over two connections that feed one target each.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { openDesiredStates } from '../../../src/app/open.ts';
import type { DesiredState } from '../../../src/directory/desired-state.ts';
import { listDeadLetters } from '../../../src/ops/dead-letters.ts';
import { TOKEN } from '../../support/build-bridge.ts';
import { createCommands } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { createIdp } from '../../support/idp.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const HR_TOKEN = `${TOKEN}-hr`;

let rig: AdminRig;
let ann: string;
let bob: string;

beforeAll(async () => {
  rig = await openAdmin({
    configure: ({ targets, connections }) => {
      const [main, first] = [targets.main, connections.default];
      const [token] = first?.tokens ?? [];
      if (!main || !first || !token) throw new Error('no target or connection');
      targets.lab = { ...main, name: 'lab' };
      connections.hr = {
        ...first,
        name: 'hr',
        targets: ['lab'],
        tokens: [{ ...token, name: 'hr', secret: HR_TOKEN }],
      };
    },
  });
  const hr = createIdp(`http://127.0.0.1:${rig.bridge.app.port}/connections/hr/scim/v2`, HR_TOKEN);
  ann = await rig.bridge.idp.createUser('ann@acme.example');
  bob = await hr.createUser('bob@acme.example');
  // The platform refuses names with this beginning.
  await rig.bridge.idp.createGroup('system:default', []);
  await hr.createGroup('system:hr', []);
  await rig.untilSynced();
  await eventually('both groups are refused', async () => (await lettersOf()).length === 2);
}, 60_000);
afterAll(() => rig.bridge.stop());

const lettersOf = async (): Promise<string[]> =>
  (await rig.operator.get('/dead-letters')).body.map(({ name }: { name: string }) => name);

/** Returns a state whose dead letters all end as soon as they were read. */
const endingLetters = (state: DesiredState): DesiredState => ({
  ...state,
  outboxes: new Map(
    [...state.outboxes].map(([target, outbox]) => [
      target,
      {
        ...outbox,
        blocked: async (page?: Parameters<typeof outbox.blocked>[0]) => {
          const found = await outbox.blocked(page);
          for (const { ref } of found) await outbox.dismiss(ref);
          return found;
        },
      },
    ]),
  ),
});

test('links forget and dead-letters retry with a target that the connection does not feed answer 404 and name its targets', async () => {
  const detail = 'The connection default does not feed the target lab. It feeds: main.';
  const place = { connection: 'default', target: 'lab' };
  for (const [path, body] of [
    ['/links/forget', { resource: `User:${ann}`, ...place }],
    ['/dead-letters/retry', { all: true, ...place }],
  ] as const)
    expect(await rig.operator.post(path, body)).toMatchObject({ status: 404, body: { detail } });
  for (const path of ['/links', '/exceptions'])
    expect(await rig.operator.get(`${path}?connection=default&target=lab`)).toMatchObject({
      status: 404,
      body: { detail },
    });
  expect((await rig.operator.post('/links/show', { resource: `User:${ann}` })).body).toMatchObject([
    { target: 'main', platformId: expect.any(String) },
  ]);
});

test('links export fails between two targets → no file stays', async () => {
  const { config, sandbox } = rig.bridge;
  const target = {
    url: sandbox.ready.platformUrl,
    token: sandbox.ready.fixtures.apiKeys.admin,
    allowLoopbackHttp: true,
  };
  const commands = createCommands({
    redis: { url: config.redis.url, prefix: config.redis.prefix },
    connections: {
      default: { tokens: [{ name: 'primary', secret: TOKEN }], targets: ['main'] },
      hr: { tokens: [{ name: 'hr', secret: HR_TOKEN }], targets: ['lab'] },
    },
    targets: { main: target, lab: target },
    reconcile: { schedule: null },
  });
  const redis = new Redis(config.redis.url);
  const key = `${config.redis.prefix}:{hr}:links:lab`;
  const file = join(commands.folder, 'links.ndjson');
  const files = readdirSync(commands.folder);
  try {
    expect(await redis.hexists(key, `User:${bob}`)).toBe(1);
    await redis.rename(key, `${key}-aside`);
    // A key of another type, so that the links of this target cannot be read.
    await redis.set(key, 'text');
    expect((await commands.run('links', 'export', file)).code).toBe(1);
    expect(readdirSync(commands.folder)).toEqual(files);
    await redis.rename(`${key}-aside`, key);
    expect((await commands.run('links', 'export', file)).code).toBe(0);
    expect(existsSync(file)).toBe(true);
    const again = await commands.run('links', 'export', file);
    expect([again.code, again.text]).toEqual([1, expect.stringContaining('name another file.')]);
  } finally {
    redis.disconnect();
    commands.remove();
  }
});

test('the dead letters of the first target end while they are listed → those of the second target are listed too', async () => {
  const opened = openDesiredStates(rig.bridge.config);
  try {
    await opened.reach();
    const letters = await listDeadLetters(opened.states.map(endingLetters));
    expect(letters.map(({ name }) => name).sort()).toEqual(['system:default', 'system:hr']);
  } finally {
    opened.redis.disconnect();
  }
});
