// Installs the npm packages from their archives, without a registry, and uses them as another project would.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packageVersion } from '../../src/support/version.ts';
import { EVERYTHING, makeToken } from '../contract/sandbox/data-rig.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';

const ROOT = join(import.meta.dirname, '../..');
const CLIENT = '@scim-bridge/platform-client';

interface Packed {
  name: string;
  version: string;
  file: string;
  size: number;
}
type Manifest = Record<string, any>;

let folder: string;
let packed: Packed[];

const manifestOf = (place: string, name: string): Manifest =>
  JSON.parse(readFileSync(join(place, 'node_modules', name, 'package.json'), 'utf8')) as Manifest;

/** Unpacks an archive into node_modules of an empty folder, and links its dependencies. @returns the folder */
function install(name: string): string {
  const place = join(folder, name.replace('/', '-'));
  const target = join(place, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  const file = packed.find((each) => each.name === name)?.file ?? '';
  execFileSync('tar', ['-xzf', file, '-C', target, '--strip-components=1']);
  for (const dependency of Object.keys(manifestOf(place, name).dependencies as object)) {
    const link = join(place, 'node_modules', dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', dependency), link);
  }
  writeFileSync(join(place, 'package.json'), '{"type":"module"}');
  return place;
}

/** Returns the files of an installed package, relative to its folder. */
function filesOf(place: string, name: string): string[] {
  const target = join(place, 'node_modules', name);
  return readdirSync(target, { recursive: true, encoding: 'utf8' });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scim-bridge-packages-'));
  const script = join(ROOT, '.ci/release/packages.mjs');
  const out = execFileSync(process.execPath, [script, '--json', '--out', join(folder, 'archives')], {
    encoding: 'utf8',
  });
  packed = JSON.parse(out) as Packed[];
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package scim-bridge', () => {
  let place: string;
  beforeAll(() => {
    place = install('scim-bridge');
    const bin = join(place, 'node_modules/.bin');
    mkdirSync(bin);
    const { 'scim-bridge': main } = manifestOf(place, 'scim-bridge').bin as Record<string, string>;
    symlinkSync(join('../scim-bridge', main ?? ''), join(bin, 'scim-bridge'));
  });

  const run = (...args: string[]) =>
    spawnSync(join(place, 'node_modules/.bin/scim-bridge'), args, {
      cwd: place,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        REDIS_URL: process.env.TEST_REDIS_URL,
        PLATFORM_URL: 'https://acme.example.com',
        PLATFORM_TOKEN: 'not-a-real-key-0123456789',
        SCIM_TOKEN: 'a-token-for-tests-only-0123456789',
      },
    });

  test('the command scim-bridge runs from node_modules/.bin', () => {
    expect(run('--version')).toMatchObject({ status: 0, stdout: `${packageVersion()}\n` });
    expect(run('check-config')).toMatchObject({ status: 0 });
    expect(run('status', '--json')).toMatchObject({ stdout: expect.stringContaining('"target"') });
  });

  test('the package contains its schemas and licences, and no source map, test, document or development field', () => {
    const files = filesOf(place, 'scim-bridge');
    const wanted = [
      'config/plan.schema.json',
      'config/bridge.schema.json',
      'LICENSE',
      'THIRD-PARTY-LICENSES',
    ];
    expect(files).toEqual(expect.arrayContaining([...wanted, 'README.md', 'dist/ui/index.html']));
    expect(files).toContain('dist/platform/library.d.ts');
    expect(files).not.toContain('dist/app.d.ts');
    expect(files.filter((path) => /\.map$|\.built$|^(test|docs|src|node_modules)\//.test(path))).toEqual([]);
    const manifest = manifestOf(place, 'scim-bridge');
    for (const name of ['private', 'scripts', 'devDependencies', 'jest'])
      expect(manifest).not.toHaveProperty(name);
    expect(packed[0]?.size).toBeLessThan(1.5 * 1024 * 1024);
  });
});

describe(CLIENT, () => {
  let place: string;
  let sandbox: Sandbox;
  let env: Record<string, string | undefined>;
  beforeAll(async () => {
    place = install(CLIENT);
    sandbox = await startSandbox();
    const { platformUrl, dataApiUrl, chatHost, accountName, controlUrl, fixtures } = sandbox.ready;
    const timestamp = new Date().toISOString();
    const event = {
      timestamp,
      userEmail: 'ada@acme.example',
      eventName: 'Said "hello", twice',
      attributes: {},
    };
    const added = await fetch(`${controlUrl}/fixtures`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auditEvents: [event] }),
    });
    expect(added.ok).toBe(true);
    env = {
      PATH: process.env.PATH,
      PLATFORM_URL: platformUrl,
      PLATFORM_TOKEN: fixtures.apiKeys.admin,
      DATA_API_URL: dataApiUrl,
      DATA_API_TOKEN: makeToken(fixtures.deployments[0]?.apiSecret ?? '', EVERYTHING, Date.now()),
      CHAT_URL: chatHost,
      ACCOUNT_NAME: accountName,
      AGENT_ID: '1',
      CHAT_USER: 'admin@acme.example',
    };
  }, 60_000);
  afterAll(() => sandbox.stop());

  test('the client package depends on undici only, and is smaller than 100 KiB', () => {
    const { dependencies, version, ...others } = manifestOf(place, CLIENT);
    const { dependencies: ours } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
    expect(dependencies).toEqual({ undici: ours.undici });
    expect(version).toBe(packageVersion());
    for (const name of ['peerDependencies', 'optionalDependencies', 'scripts'])
      expect(others).not.toHaveProperty(name);
    const size = packed.find(({ name }) => name === CLIENT)?.size;
    expect(size).toBeLessThan(100 * 1024);
    const foreign = filesOf(place, CLIENT).filter((path) => /^dist\/(?!platform|support)[^/]+\//.test(path));
    expect(foreign).toEqual([]);
  });

  test('the README of the client package shows an import by the name of the package', () => {
    const page = readFileSync(join(place, 'node_modules', CLIENT, 'README.md'), 'utf8');
    expect(page).toContain(`from '${CLIENT}'`);
    expect(page).not.toContain("scim-bridge/platform'");
    expect(page).not.toMatch(/\]\((?!https?:)/);
  });

  const examples = readdirSync(join(ROOT, 'packages/platform-client/examples'));
  const example = (name: string): string => join(place, 'node_modules', CLIENT, 'examples', name);

  test('the types of the client package fit the examples', () => {
    const options = ['--noEmit', '--checkJs', '--strict', '--module', 'nodenext', '--target', 'es2022'];
    // The compiler skips files in node_modules, so the examples are copied out of it.
    const copies = examples.map((name) => {
      writeFileSync(join(place, name), readFileSync(example(name)));
      return join(place, name);
    });
    symlinkSync(join(ROOT, 'node_modules/@types'), join(place, 'node_modules/@types'));
    const tsc = spawnSync(
      process.execPath,
      [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, '--types', 'node', ...copies],
      { cwd: place, encoding: 'utf8' },
    );
    expect(tsc.stdout).toBe('');
    expect(tsc.status).toBe(0);
  }, 60_000);

  const WORDS: Record<string, RegExp> = {
    'people.mjs': /^user \S+ admin@acme\.example$/m,
    'audit-log.mjs': /"eventName":"Said \\"hello\\", twice"/,
    'query.mjs': /^\S+ \d+$/m,
    'ask.mjs': /^(?!undefined)\w+/,
  };
  test.each(examples)(
    'the example %s runs against the sandbox',
    async (name) => {
      const { spawn } = await import('node:child_process');
      const child = spawn(process.execPath, [example(name)], { cwd: place, env });
      let [out, errors] = ['', ''];
      child.stdout.on('data', (data: Buffer) => (out += data.toString()));
      child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect([code, errors]).toEqual([0, '']);
      expect(out).toMatch(WORDS[name] ?? /never/);
    },
    30_000,
  );
});
