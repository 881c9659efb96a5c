// Defines the situations of docs/situations.md about Redis, tokens, receivers, changed settings, the rights of the platform key
// and a second connection.
import { generateKeyPairSync } from 'node:crypto';
import { startLocalRedis } from '../../src/demo/local-redis.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { createIdp } from './idp.ts';
import { eventually } from './eventually.ts';
import { untilLookedAt, type Place } from './situation.ts';
import { ANN, type Situation } from './situation-table.ts';
import { TOKEN } from './build-bridge.ts';

const REDIS = { topic: 'Redis', ownRedis: true };
const PRIMARY = { name: 'primary', secret: TOKEN };
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
const withTokens = (...more: object[]) => ({ connections: { default: { tokens: [PRIMARY, ...more] } } });
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const push = { token: 'a-token-of-the-receiver-0123456789', allowLoopbackHttp: true };
const eventsTo = (endpoint: string) => ({
  connections: {
    default: {
      tokens: [PRIMARY],
      events: {
        issuer: 'https://scim.example.com',
        audience: 'https://siem.example.com',
        key,
        push: { ...push, endpoint },
      },
    },
  },
});
let otherTenant: Sandbox | undefined;
let formerTarget: Sandbox | undefined;
const AWAY = /Redis at 127\.0\.0\.1:\d+ does not answer/;

const untilStatusSays = (place: Place, words: string) =>
  eventually(`status says: ${words}`, async () => (await place.commands.run('status')).text.includes(words));

export const MORE_SITUATIONS: Situation[] = [
  {
    ...REDIS,
    name: 'Redis is away',
    cause: async ({ server }) => server?.stop(),
    // A worker of BullMQ ends its timers only while Redis answers.
    after: async (place) => {
      const redisPort = Number(new URL(place.settings.redis.url).port);
      const server = await startLocalRedis({ env: {}, port: redisPort });
      await eventually('the bridge is ready again', async () => {
        const { status } = await fetch(`http://127.0.0.1:${place.port}/readyz`);
        return status === 200;
      });
      await place.stopApps();
      await server.stop();
    },
    status: AWAY,
    plan: AWAY,
    explain: AWAY,
    doctor: /✘ redis: Redis does not answer/,
  },
  {
    ...REDIS,
    name: 'Redis answers nothing (it hangs)',
    cause: ({ server }) => Promise.resolve(server?.process?.kill('SIGSTOP')),
    after: ({ server }) => Promise.resolve(server?.process?.kill('SIGCONT')),
    status: AWAY,
    plan: AWAY,
    explain: AWAY,
    doctor: /✘ redis: Redis does not answer/,
  },
  {
    ...REDIS,
    name: 'Redis is a replica',
    // No primary listens on port 1.
    cause: ({ redis }) => redis.replicaof('127.0.0.1', 1),
    status: /Redis takes no writes \(it is a replica\)/,
    plan: /Redis does not answer, or takes no writes \(it is a replica\)/,
    explain: /Redis takes no writes[^.]*/,
    doctor: /✘ redis: Redis is a replica\. .*/,
  },
  {
    ...REDIS,
    name: 'The memory of Redis is full',
    cause: ({ redis }) => redis.config('SET', 'maxmemory', '1mb'),
    status: /Redis takes no writes \(its memory of 1\.0 MB is full\)/,
    plan: /Redis does not answer, or takes no writes \(its memory is full\)/,
    explain: /Redis takes no writes[^.]*/,
    doctor: /✘ redis: Redis takes no writes, because its memory of 1\.0 MB is full/,
  },
  {
    ...REDIS,
    name: 'Redis may evict keys',
    cause: ({ redis }) => redis.config('SET', 'maxmemory-policy', 'allkeys-lru'),
    status: /no process is ready, .*: Redis may evict keys \([^)]*\)/,
    plan: /no changes/,
    explain: /as desired/,
    doctor: /✘ redis: Redis may evict keys \([^)]*\)/,
  },
  {
    ...REDIS,
    name: 'Redis came back empty',
    cause: async (place) => {
      await untilLookedAt(place);
      await place.redis.flushall();
      await untilStatusSays(place, 'came back empty');
    },
    status: /Redis came back empty: .* are lost/,
    plan: /Redis came back empty: .* are lost/,
    explain: /Redis came back empty: .* are lost/,
    doctor: /✘ fleet: Redis came back empty: .* are lost/,
  },
  {
    ...REDIS,
    name: 'Redis came back with older data',
    cause: async (place) => {
      await untilLookedAt(place);
      await place.redis.set(await place.key(':dataSeen'), String(Date.now() - 60_000));
      await untilStatusSays(place, 'older data');
    },
    status: /on hold .*/,
    plan: /on hold .*/,
    explain: /as desired/,
    doctor: /on hold .*/,
  },
  {
    ...REDIS,
    name: 'The memory of Redis is nearly full',
    cause: async ({ redis }) => {
      await redis.setrange('filler', 50_000_000, 'x');
      const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
      await redis.config('SET', 'maxmemory', String(Math.round(used * 1.1)));
    },
    plan: /no changes/,
    explain: /as desired/,
    doctor: /! redis: its memory is 9\d % full/,
  },
  {
    topic: 'Tokens and receivers',
    name: 'A token expires in five days',
    rest: withTokens({ name: 'next', secret: `${TOKEN}2`, expiresAt: inDays(5) }),
    status: /tokens default: ! next expires at [^.]*\.\d+Z/,
    plan: /no changes/,
    explain: /as desired/,
    doctor: /! tokens default: next expires at [^.]*\.\d+Z/,
  },
  {
    topic: 'Tokens and receivers',
    name: 'A token has expired',
    rest: withTokens({ name: 'former', secret: `${TOKEN}2`, expiresAt: inDays(-1) }),
    status: /tokens default: ! former expired at [^.]*\.\d+Z/,
    plan: /no changes/,
    explain: /as desired/,
    doctor: /! tokens default: former expired at [^.]*\.\d+Z/,
  },
  {
    topic: 'Tokens and receivers',
    name: 'The receiver of security events is away',
    // Nothing listens on port 1.
    rest: eventsTo('http://127.0.0.1:1/'),
    cause: async (place) => {
      await place.idp.createUser('bob@acme.example');
      await eventually('the delivery has failed', async () =>
        (await place.commands.run('status')).text.includes('the receiver gave no answer'),
      );
    },
    status: /events: \d+ not taken yet .*/,
    plan: /no changes/,
    explain: /as desired/,
    doctor: /! events default: the receiver [^;]*/,
  },
  {
    topic: 'The platform',
    name: 'The address leads to another tenant',
    cause: async (place) => {
      const { ready } = (otherTenant = await startSandbox());
      await place.change(({ targets: { main } }) =>
        Object.assign(main, { url: ready.platformUrl, token: ready.fixtures.apiKeys.admin }),
      );
      await eventually('the bridge has stopped its writes', async () =>
        (await place.commands.run('status')).text.includes('may be another tenant'),
      );
    },
    after: async () => otherTenant?.stop(),
    status: /main may be another tenant: its address changed/,
    plan: /Target main: on hold since .*/,
    explain: /main may be another tenant and was not read/,
    doctor: /! hold default → main: on hold since .*/,
  },
  {
    topic: 'The platform',
    name: 'A mapping was changed, and applied after the restart',
    cause: async (place) => {
      await place.idp.createUser('tim@acme.example', { title: 'lead' });
      await place.idle();
      await place.change(({ targets: { main } }) =>
        Object.assign(main, { attributes: { title: { type: 'string', from: 'title' } } }),
      );
      await eventually('the value is at the platform', async () =>
        (await place.commands.run('explain', 'tim@acme.example')).text.includes('attributes.title'),
      );
      await eventually(
        'the reconcile of the restart has ended',
        async () => !(await place.commands.run('status')).text.includes('in the settings changed'),
      );
      await place.idle();
    },
    person: 'tim@acme.example',
    status: /2 linked/,
    plan: /no changes/,
    explain: /as desired/,
  },
  {
    topic: 'The platform',
    name: 'The key may read and not write (403)',
    cause: async (place) => {
      await place.platform.control('PATCH', '/faults', {
        rules: ['POST', 'PATCH', 'PUT'].map((method) => ({
          method,
          path: '/scim/v2/',
          status5xx: { share: 1, status: 403 },
        })),
      });
      await place.idp.createUser('bob@acme.example');
      await place.idle();
    },
    person: 'bob@acme.example',
    status: /1 dead letter/,
    plan: /bob@acme\.example: conflict, Forbidden/,
    explain: /needs a person: .*/,
  },
  {
    topic: 'The service',
    name: 'A target was taken out of the settings',
    cause: async (place) => {
      const { ready } = (formerTarget = await startSandbox());
      await place.change(({ targets, connections }) => {
        const own = { url: ready.platformUrl, token: ready.fixtures.apiKeys.admin };
        Object.assign(targets, { analytics: { ...targets.main, ...own } });
        Object.assign(Object.values(connections)[0] ?? {}, { targets: ['main', 'analytics'] });
      });
      await place.idp.createUser('bob@acme.example');
      await place.idle();
      await place.change(({ targets, connections }) => {
        Object.assign(Object.values(connections)[0] ?? {}, { targets: ['main'] });
        delete (targets as Partial<Record<string, unknown>>).analytics;
      });
    },
    after: async () => formerTarget?.stop(),
    status: /target analytics of connection default is no longer configured/,
    plan: /no changes/,
    explain: /as desired/,
    doctor: /! fleet: target analytics of connection default is no longer configured/,
  },
  {
    topic: 'Refusals',
    name: 'Another connection has an account with this name',
    rest: {
      connections: {
        default: { tokens: [{ name: 'primary', secret: TOKEN }] },
        second: { tokens: [{ name: 'primary', secret: `${TOKEN}2` }] },
      },
    },
    cause: async (place) => {
      const url = `http://127.0.0.1:${place.port}/connections/second/scim/v2`;
      await createIdp(url, `${TOKEN}2`).createUser(ANN);
      await eventually(
        'refused',
        async () => (await place.commands.run('dead-letters', 'list', '--json')).json.length === 1,
      );
    },
    status: /second → main: .*1 dead letter/,
    plan: /ann@acme\.example: conflict, TakenByConnection/,
    explain: /needs a person: the account belongs to ann@acme\.example/,
  },
  {
    topic: 'Refusals',
    name: 'A userName is still that of a person whose rename fails',
    cause: async (place, { ann }) => {
      const bob = await place.idp.createUser('bob@acme.example');
      await place.idle();
      const path = `/Users/${(await place.platform.user(ANN))?.scimId ?? ''}$`;
      const rules = [{ method: 'PATCH', path, status5xx: true, times: 1000 }];
      await place.platform.control('PATCH', '/faults', { rules });
      const rename = (id: string, value: string) =>
        place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value });
      await rename(ann, 'new@acme.example');
      await rename(bob, ANN);
      await untilStatusSays(place, 'gives up a name or account');
    },
    status: /1 change fails since \S+ bob@acme\.example, it waits until/,
    plan: /2 to update/,
    explain: /gives up a name or account, and the change of/,
    doctor: /! sync default → main: 1 change fails since \S+ bob@acme\.example, it waits until/,
  },
];
