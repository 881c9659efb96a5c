// Tests that the example files and config/bridge.schema.json agree with the schema of the settings.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config/load.ts';
import { publishedSchema, settingsSchema } from '../../../src/config/schema.ts';
import type { SchemaNode } from '../../../src/config/schema/node.ts';
import { ENV, folderWith, loadText } from './settings-folder.ts';

const CONFIG = join(import.meta.dirname, '../../../config');

// The documented example of the settings, as operators copy it.
const EXAMPLE = `
server:
  port: 8080
  publicUrl: https://scim.example.com      # used for meta.location and $ref
  maxBodyBytes: 10485760
  adminToken: \${ADMIN_TOKEN}
redis:
  url: \${REDIS_URL}                        # redis://, rediss://, redis+sentinel:// ; or cluster: [..]
  prefix: scim-bridge
  durability: everysec                     # everysec | always
connections:
  default:                                 # served at /scim/v2
    profile: auto                          # auto | rfc | entra | okta | lenient
    tokens: [{ name: primary, secret: \${SCIM_TOKEN} }]
    jwt: null                              # { issuer, audience, jwksUri }
    allowedNetworks: []                    # CIDR list
    targets: [main]
targets:
  main:
    url: \${PLATFORM_URL}
    token: \${PLATFORM_TOKEN}               # platform API key
    allowLoopbackHttp: false
    timeoutMs: 15000
    concurrency: 8
    rateLimit: { requestsPerSecond: 50, burst: 50 }
    policy: sync                           # create-only | upsert-only | sync
    adopt: exact                           # exact | report | never
    users:
      scope: 'active or true'
      deprovision: deactivate              # deactivate | delete
      deleteAfterDays: null
      activation: safe
      protected: []
    groups:
      include: ['.*']
      exclude: []
      rename: []                           # [{ match: '^acme-(.*)$', to: '$1' }]
      members: owned
    attributes:
      country:   { type: string,       from: 'addresses[type eq "work"].country' }
      clearance: { type: number,       from: 'urn:cube:params:1.0:UserAttribute:clearance' }
      contractor: { type: boolean,     expression: 'userType = "Contractor"' }        # JSONata
      regions:   { type: string_array, expression: 'groups.display[$match($, /^region-/)]', onEmpty: clear }
    guard:
      window: 24h
      deactivate: { count: 50, percent: 10 }
      delete: { count: 10, percent: 2 }
      removeMembers: { count: 200, percent: 20 }
      clearAttributes: { count: 200, percent: 20 }
    groupsRolesMap: {}
    handover: null
reconcile:
  schedule: '*/30 * * * *'                 # node-cron; null = off
  timezone: UTC
  onDrift: repair                          # repair | report
logging: { level: info }
`;

const FULL_ENV = { ...ENV, ADMIN_TOKEN: 'admin-secret-0123456789', REDIS_URL: 'redis://127.0.0.1:6379' };

test('the settings of the documented example are accepted and equal the defaults', () => {
  const { attributes, ...main } = loadText(EXAMPLE, FULL_ENV).targets.main ?? {};
  const { attributes: _, ...byDefault } = loadConfig({ env: ENV, cwd: folderWith() }).targets.main ?? {};
  expect(main).toEqual(byDefault);
  expect(attributes).toEqual({
    country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' },
    clearance: { type: 'number', from: 'urn:cube:params:1.0:UserAttribute:clearance', onEmpty: 'clear' },
    contractor: { type: 'boolean', expression: 'userType = "Contractor"', onEmpty: 'clear' },
    regions: {
      type: 'string_array',
      expression: 'groups.display[$match($, /^region-/)]',
      onEmpty: 'clear',
    },
  });
});

test('the example file is valid and contains every key of the schema', () => {
  const file = join(CONFIG, 'bridge.example.yaml');
  const config = loadConfig({ file, env: FULL_ENV, cwd: folderWith() });
  expect(config.targets.main?.groups.rename).toEqual([{ match: '^acme-(.*)$', to: '$1' }]);
  const text = readFileSync(file, 'utf8');
  const unnamed = keysOf(settingsSchema).filter(({ key }) => !new RegExp(`\\b${key}\\b`).test(text));
  expect(unnamed).toEqual([]);
});

test('every key of the schema has a description and, unless it is required, a default', () => {
  const bare = keysOf(settingsSchema).filter(
    ({ node, required }) => !node.description || (required ? 'default' in node : !('default' in node)),
  );
  expect(bare.map(({ key }) => key)).toEqual([]);
});

test('config/bridge.schema.json equals the schema of the code', () => {
  const file = join(CONFIG, 'bridge.schema.json');
  if (process.env.UPDATE_SCHEMA === '1')
    writeFileSync(file, `${JSON.stringify(publishedSchema(), null, 2)}\n`);
  const published: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  const same = JSON.stringify(published) === JSON.stringify(publishedSchema());
  const advice =
    'UPDATE_SCHEMA=1 npm test -- test/unit/config/schema.test.ts && npx prettier --write config/bridge.schema.json';
  expect(same ? 'up to date' : `outdated; write it anew with: ${advice}`).toBe('up to date');
});

test('the repository has no config/bridge.yaml, because every start would read it', () => {
  expect(existsSync(join(CONFIG, 'bridge.yaml'))).toBe(false);
});

/** Returns all keys of a schema with their nodes, those of inner sections too. */
function keysOf(schema: SchemaNode): { key: string; node: SchemaNode; required: boolean }[] {
  const nested = [...Object.values(schema.patternProperties ?? {}), ...(schema.items ? [schema.items] : [])];
  const own = Object.entries(schema.properties ?? {}).map(([key, node]) => ({
    key,
    node,
    required: schema.required?.includes(key) ?? false,
  }));
  return [...own, ...own.flatMap(({ node }) => keysOf(node)), ...nested.flatMap(keysOf)];
}
