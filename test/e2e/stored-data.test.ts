// Tests that this version reads the data that each release stored, and refuses data of another version.
// UPDATE_STORED_DATA=1.0.0 npm test -- test/e2e/stored-data writes the data of that release; `npm run release` does
// so.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { DATA_VERSION } from '../../src/directory/fleet/data-version.ts';
import type { DoctorFinding } from '../../src/ops/doctor/doctor-finding.ts';
import { packageVersion } from '../../src/support/version.ts';
import { startBridgeProcess } from '../support/bridge-process.ts';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { dumpStoredData, loadStoredData } from '../support/stored-data.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/stored-data');
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const redis = new Redis(process.env.TEST_REDIS_URL ?? '', { lazyConnect: true });

beforeAll(() => redis.connect());
afterAll(() => redis.disconnect());

const settingsFor = (prefix: string, url: string, token: string): object => ({
  redis: { url: process.env.TEST_REDIS_URL, prefix },
  connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
  targets: { main: { url, token, allowLoopbackHttp: true } },
  reconcile: { schedule: null },
});

const commandsOf = ({ config, sandbox }: Bridge): Commands =>
  createCommands(
    settingsFor(config.redis.prefix, sandbox.ready.platformUrl, sandbox.ready.fixtures.apiKeys.admin ?? ''),
  );

/**
 * Stores users, groups, a pending member, a deleted user, links, logs, audit entries, a token and a pending change.
 */
async function tellStory(bridge: Bridge, commands: Commands): Promise<void> {
  const ids: string[] = [];
  for (const name of ['ann', 'bob', 'cleo', 'dan', 'eve']) {
    const extra = { title: 'Engineer', [ENTERPRISE]: { department: 'Sales', employeeNumber: name } };
    ids.push(await bridge.idp.createUser(`${name}@acme.example`, extra));
  }
  const sales = await bridge.idp.createGroup('Sales', ids.slice(0, 3));
  await bridge.idp.createGroup('Empty');
  const waiting = { op: 'add', path: 'members', value: [{ value: 'not-there@acme.example' }] };
  await bridge.idp.patch(`/Groups/${sales}`, waiting);
  await bridge.idle();
  const inactive = { op: 'replace', path: 'active', value: false };
  await bridge.idp.patch(`/Users/${ids[3]}`, inactive);
  await bridge.idp.send('DELETE', `/Users/${ids[4]}`);
  await bridge.idle();
  await commands.run('token', 'create', 'okta', '--by', 'ada');
  await commands.run('hold', '--by', 'ada', '--note', 'migration of the tenant');
  await bridge.idp.patch(`/Users/${ids[1]}`, { op: 'replace', path: 'displayName', value: 'Bob the Second' });
}

const written = process.env.UPDATE_STORED_DATA;
const keysOf = (release: string): string => join(FOLDER, `${release}.ndjson`);
const backupOf = (release: string): string => join(FOLDER, `${release}.backup.ndjson`);

if (written) {
  test('the stored data of this version is written to the fixture of its version', async () => {
    const bridge = await buildBridge();
    const commands = commandsOf(bridge);
    await tellStory(bridge, commands);
    await bridge.stop();
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(keysOf(written), await dumpStoredData(redis, bridge.config.redis.prefix));
    expect((await commands.run('backup', backupOf(written), '--overwrite')).code).toBe(0);
    commands.remove();
  }, 120_000);
}

const releases = written
  ? [written]
  : readdirSync(FOLDER).flatMap((name) => /^(.+)\.backup\.ndjson$/.exec(name)?.[1] ?? []);

test('a fixture of stored data exists for the version in package.json', () => {
  expect(releases).toContain(written ?? packageVersion());
});

describe.each(releases)('stored data of %s', (release) => {
  let bridge: Bridge;
  let commands: Commands;
  const prefix = `test-${randomUUID()}`;

  beforeAll(async () => {
    await loadStoredData(redis, prefix, readFileSync(keysOf(release), 'utf8'));
    bridge = await buildBridge({ configure: (config) => void (config.redis.prefix = prefix) });
    commands = commandsOf(bridge);
  }, 60_000);
  afterAll(async () => {
    commands.remove();
    await bridge.stop();
  });

  test('SCIM returns each user and group in the data of a former release as it was pushed', async () => {
    const { body } = await bridge.idp.send('GET', '/Users?sortBy=userName');
    expect(body.Resources.map(({ userName, active }: any) => [userName, active])).toEqual([
      ['ann@acme.example', true],
      ['bob@acme.example', true],
      ['cleo@acme.example', true],
      ['dan@acme.example', false],
    ]);
    expect(body.Resources[1]).toMatchObject({
      displayName: 'Bob the Second',
      [ENTERPRISE]: { department: 'Sales', employeeNumber: 'bob' },
    });
    const groups = await bridge.idp.send('GET', '/Groups?filter=displayName eq "Sales"');
    expect(groups.body.Resources[0].members).toHaveLength(4);
  });

  test('derived data in the data of a former release agrees with the records, and the hash chains of its logs hold', async () => {
    const findings = (await commands.run('doctor', '--deep', '--json')).json as DoctorFinding[];
    const data = findings.filter(({ area }) => area.startsWith('data ') || area.startsWith('log '));
    expect(data).toContainEqual(expect.objectContaining({ message: 'agrees with the records' }));
    expect(data.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect((await commands.run('acts', '--verify')).code).toBe(0);
    expect((await commands.run('log', '--verify')).code).toBe(0);
    expect((await commands.run('token', 'list', '--json')).text).toContain('okta');
  }, 60_000);

  test('the data of a former release keeps a hold and a pending change, and a backup of it contains all resources', async () => {
    const [row] = (await commands.run('status', '--json')).json;
    // The platform of the test has another address and none of the accounts, so the reconcile holds the target as well.
    expect(row).toMatchObject({ dirty: 1, hold: { by: 'reconcile' } });
    const kept = JSON.parse(
      (await redis.get(`${bridge.config.redis.prefix}:{default}:hold:main`)) ?? '{}',
    ) as object;
    expect(kept).toMatchObject({ operator: 'ada', operatorNote: 'migration of the tenant' });
    const backup = await commands.run('backup', join(commands.folder, 'backup.ndjson'), '--json');
    expect(backup.json).toMatchObject({ counts: { users: 4, groups: 2, members: 3 }, leftOut: [] });
  });

  test('a PATCH changes a user in the data of a former release', async () => {
    const { body } = await bridge.idp.send('GET', '/Users?filter=userName eq "ann@acme.example"');
    const [{ id, meta }] = body.Resources;
    const change = { op: 'replace', path: 'title', value: 'Lead' };
    const { status } = await bridge.idp.patch(`/Users/${id}`, change);
    expect(status).toBe(200);
    const after = await bridge.idp.send('GET', `/Users/${id}`);
    expect(after.body).toMatchObject({ title: 'Lead', userName: 'ann@acme.example' });
    expect(after.body.meta.version).not.toBe(meta.version);
  });
});

test.each(releases)(
  'the backup of %s is restored into an empty Redis',
  async (release) => {
    const bridge = await buildBridge();
    const commands = commandsOf(bridge);
    try {
      const restored = await bridge.whileStopped(() =>
        commands.run('restore', backupOf(release), '--yes', '--json'),
      );
      expect(restored).toMatchObject({
        code: 0,
        json: { dropped: 0, counts: { users: 4, groups: 2, members: 3 } },
      });
      const { body } = await bridge.idp.send('GET', '/Users?filter=userName eq "bob@acme.example"');
      expect(body.Resources).toMatchObject([{ displayName: 'Bob the Second' }]);
    } finally {
      commands.remove();
      await bridge.stop();
    }
  },
  60_000,
);

describe('stored data of another version', () => {
  const prefix = `test-${randomUUID()}`;
  const key = `${prefix}:{bridge.fleet}:dataVersion`;
  const settings = settingsFor(prefix, 'http://127.0.0.1:9', 'not-a-real-key-0123456789');

  test('the service stores its version in an empty Redis, and ends with 65 once a newer process migrates the data', async () => {
    const bridge = await startBridgeProcess(settings);
    try {
      expect(await redis.get(key)).toBe(String(DATA_VERSION));
      await redis.set(key, String(DATA_VERSION + 1));
      await eventually('the process has ended', () => Promise.resolve(bridge.pid() === undefined));
      expect(bridge.output()).toContain(
        `The data in Redis has version ${DATA_VERSION + 1}, and this scim-bridge knows version ${DATA_VERSION}`,
      );
      expect(await bridge.terminate()).toBe(65);
    } finally {
      await bridge.stop();
    }
  }, 60_000);

  test.each([
    ['a newer version', String(DATA_VERSION + 1), 'start the newer scim-bridge that wrote it'],
    ['text', 'one', 'is no number'],
  ])(
    'commands and the service refuse data whose version is %s, and exit 65',
    async (_name, stored, words) => {
      await redis.set(key, stored);
      const commands = createCommands(settings);
      try {
        for (const command of [
          ['status'],
          ['doctor'],
          ['plan'],
          ['token', 'list'],
          ['backup', join(commands.folder, 'b')],
          ['serve'],
        ]) {
          const { code, text } = await commands.run(...command);
          expect([command, code, text]).toEqual([command, 65, expect.stringContaining(words)]);
        }
        expect(await redis.get(key)).toBe(stored);
      } finally {
        commands.remove();
      }
    },
  );
});
