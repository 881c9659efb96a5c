// Tests how file, environment and defaults become the effective settings.
import { join } from 'node:path';
import { loadConfig } from '../../../src/config/load.ts';
import { ENV, errorOf, faultsOf, fileWith, folderWith, KEY, loadText, SECRET } from './settings-folder.ts';

describe('settings from the environment only', () => {
  const load = (env: NodeJS.ProcessEnv) => loadConfig({ env, cwd: folderWith() });

  test('three environment variables are enough to start, and all other settings have defaults', () => {
    expect(load(ENV)).toEqual({
      server: {
        port: 8080,
        host: '0.0.0.0',
        publicUrl: null,
        maxBodyBytes: 10485760,
        limits: {
          valueBytes: 65_536,
          nameCharacters: 1000,
          resourceBytes: 524_288,
          userBodyBytes: 1_048_576,
          pageBytes: 4_194_304,
          inFlightBytes: 50_331_648,
          lists: 6,
        },
        drainMs: 3000,
        trustedProxies: [],
        adminPort: null,
        adminToken: null,
        adminUrl: null,
        signIn: null,
        metricsPort: null,
      },
      redis: {
        cluster: null,
        tls: { caFile: null, certFile: null, keyFile: null, serverName: null },
        url: 'redis://127.0.0.1:6379',
        prefix: 'scim-bridge',
        durability: 'everysec',
        confirmation: 'auto',
      },
      connections: {
        default: {
          name: 'default',
          profile: 'auto',
          tokens: [{ name: 'primary', secret: SECRET }],
          jwt: null,
          allowedNetworks: [],
          rateLimit: { requestsPerSecond: 50_000, burst: 100_000 },
          targets: ['main'],
          schemas: [],
          events: null,
        },
      },
      targets: {
        main: {
          name: 'main',
          url: 'https://acme.example.com',
          token: KEY,
          scimToken: null,
          allowLoopbackHttp: false,
          timeoutMs: 15000,
          concurrency: 8,
          minConcurrency: 1,
          maxConcurrency: 32,
          rateLimit: { requestsPerSecond: 50, burst: 50 },
          policy: 'sync',
          adopt: 'exact',
          users: {
            scope: 'active or true',
            deprovision: 'deactivate',
            deleteAfterDays: null,
            activation: 'safe',
            protected: [],
          },
          groups: { include: ['.*'], exclude: [], rename: [], members: 'owned' },
          attributes: {},
          guard: {
            windowMs: 86_400_000,
            approvers: 1,
            deactivate: { count: 50, percent: 10 },
            delete: { count: 10, percent: 2 },
            removeMembers: { count: 200, percent: 20 },
            clearAttributes: { count: 200, percent: 20 },
          },
          groupsRolesMap: {},
          handover: null,
        },
      },
      reconcile: { schedule: '*/30 * * * *', expectedSchedule: null, timezone: 'UTC', onDrift: 'repair' },
      provisioningLog: { maxEntries: 50_000, maxAgeDays: 30 },
      backup: { key: null },
      notices: { pageUrl: null, channels: {} },
      logging: { level: 'info' },
      secretFiles: [],
      source: null,
    });
  });

  test('each optional environment variable sets its setting', () => {
    const config = load({
      ...ENV,
      PLATFORM_URL: 'http://127.0.0.1:4000/',
      PLATFORM_ALLOW_LOOPBACK_HTTP: '1',
      REDIS_URL: 'rediss://redis.example.com:6380/2',
      ADMIN_TOKEN: 'admin-secret-0123456789',
      PORT: '9000',
      HOST: '127.0.0.1',
      PUBLIC_URL: 'https://scim.example.com/',
      LOG_LEVEL: 'debug',
    });
    expect(config.server).toMatchObject({
      port: 9000,
      host: '127.0.0.1',
      publicUrl: 'https://scim.example.com',
      adminToken: 'admin-secret-0123456789',
    });
    expect(config.redis.url).toBe('rediss://redis.example.com:6380/2');
    expect(config.logging.level).toBe('debug');
    expect(config.targets.main).toMatchObject({ url: 'http://127.0.0.1:4000', allowLoopbackHttp: true });
  });

  test('several missing environment variables are reported together', () => {
    const { faults } = errorOf(() => load({ SCIM_TOKEN: '' }));
    expect(faults.map((fault) => fault.path).sort()).toEqual([
      '/connections/default/tokens/0/secret',
      '/targets/main/token',
      '/targets/main/url',
    ]);
    const text = JSON.stringify(faults);
    for (const variable of ['PLATFORM_URL', 'PLATFORM_TOKEN', 'SCIM_TOKEN']) {
      expect(text).toContain(`Set the variable ${variable}`);
    }
  });

  test('a fault of a settings value that comes from an environment variable names the variable', () => {
    const { faults } = errorOf(() => load({ ...ENV, PORT: 'http', LOG_LEVEL: 'loud' }));
    expect(faults).toEqual([
      { path: '/server/port', message: expect.stringMatching(/^Must be a whole number.*variable PORT/) },
      {
        path: '/logging/level',
        message: expect.stringMatching(/^Must be one of: fatal.*variable LOG_LEVEL/),
      },
    ]);
  });

  test('an empty environment variable counts as unset', () => {
    const empty = { PORT: '', HOST: '', ADMIN_TOKEN: '', REDIS_URL: '', SCIM_BRIDGE_CONFIG: '' };
    expect(load({ ...ENV, ...empty })).toEqual(load(ENV));
  });
});

describe('which settings file is read', () => {
  const port = (value: number) => fileWith('', `server: { port: ${value} }`);
  const cwd = folderWith({ 'a.yaml': port(1), 'b.yaml': port(2), 'config/bridge.yaml': port(3) });

  test('--config has precedence over SCIM_BRIDGE_CONFIG, which has precedence over config/bridge.yaml', () => {
    const env = { SCIM_BRIDGE_CONFIG: 'b.yaml' };
    expect(loadConfig({ file: 'a.yaml', env, cwd }).server.port).toBe(1);
    expect(loadConfig({ env, cwd }).server.port).toBe(2);
    expect(loadConfig({ env: {}, cwd })).toMatchObject({
      server: { port: 3 },
      source: join(cwd, 'config/bridge.yaml'),
    });
  });

  test('a missing settings file is a fault', () => {
    for (const options of [
      { file: 'no.yaml', env: ENV },
      { env: { ...ENV, SCIM_BRIDGE_CONFIG: 'no.yaml' } },
    ]) {
      const { faults } = errorOf(() => loadConfig({ ...options, cwd }));
      expect(faults).toEqual([{ path: '/', message: expect.stringMatching(/no\.yaml.*ENOENT/) }]);
    }
  });

  test('a settings file in JSON is read too', () => {
    const text = JSON.stringify({ targets: { main: { url: 'https://a.example', token: '${KEY}' } } });
    const folder = folderWith({ 'bridge.json': text });
    const config = loadConfig({ file: 'bridge.json', env: { KEY, SCIM_TOKEN: SECRET }, cwd: folder });
    expect(config.targets.main?.token).toBe(KEY);
  });
});

describe('settings file and environment together', () => {
  test('the environment overrides the file, and the file overrides the defaults', () => {
    const text = fileWith('timeoutMs: 2000', 'server: { port: 9000 }\nlogging: { level: warn }');
    const config = loadText(text, { PORT: '9001', PLATFORM_URL: 'https://other.example' });
    expect(config.server.port).toBe(9001);
    expect(config.logging.level).toBe('warn');
    expect(config.targets.main).toMatchObject({ timeoutMs: 2000, url: 'https://other.example' });
    expect(config.server.host).toBe('0.0.0.0');
  });

  test('SCIM_TOKEN replaces the token named primary and keeps all other tokens', () => {
    const other = 'another-secret-0123456789';
    const text = `connections: { default: { tokens: [{ name: old, secret: ${other} }, { name: primary, secret: ${KEY} }] } }`;
    const config = loadText(text, ENV);
    expect(config.connections.default?.tokens).toEqual([
      { name: 'old', secret: other },
      { name: 'primary', secret: SECRET },
    ]);
  });

  test('SCIM_TOKEN adds a token to a default connection without tokens', () => {
    const config = loadText('connections: { default: { profile: okta } }', ENV);
    expect(config.connections.default).toMatchObject({
      profile: 'okta',
      tokens: [{ name: 'primary', secret: SECRET }],
    });
  });

  test('a settings file without connections and targets gets both from the environment', () => {
    const config = loadText('server: { port: 9000 }\nredis:\n', ENV);
    expect(config.targets.main?.url).toBe(ENV.PLATFORM_URL);
    expect(config.connections.default?.tokens).toHaveLength(1);
  });

  test('a settings file with own connections and targets gets no connection `default` and no target `main` from the environment', () => {
    const text = `
connections: { hr: { tokens: [{ name: a, secret: ${KEY}1 }], targets: [prod] } }
targets: { prod: { url: 'https://prod.example', token: ${KEY} } }`;
    const config = loadText(text, ENV);
    expect(Object.keys(config.connections)).toEqual(['hr']);
    expect(Object.keys(config.targets)).toEqual(['prod']);
    expect(config.targets.prod?.url).toBe('https://prod.example');
  });

  test('a missing variable in a settings value is a fault unless the environment overrides this value', () => {
    const text = fileWith().replace(KEY, '${NOT_SET}');
    expect(loadText(text, { PLATFORM_TOKEN: KEY }).targets.main?.token).toBe(KEY);
    expect(faultsOf(text)).toHaveLength(1);
  });

  test('an environment variable for one target does not change another target that shares its YAML anchor', () => {
    const text = `
targets:
  main: &base { url: 'https://a.example', token: ${KEY} }
  second: *base`;
    const config = loadText(text, { ...ENV, PLATFORM_URL: 'https://b.example' });
    expect([config.targets.main?.url, config.targets.second?.url]).toEqual([
      'https://b.example',
      'https://a.example',
    ]);
  });
});

test("a settings file that sets some keys of a section keeps the defaults of the section's other keys", () => {
  const config = loadText(fileWith('guard: { window: 12h, delete: { count: 1 } }', ''));
  expect(config.targets.main?.guard).toMatchObject({
    windowMs: 43_200_000,
    delete: { count: 1, percent: 2 },
  });
});
