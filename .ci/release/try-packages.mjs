// Installs the archives of `npm run packages` with npm into empty folders and uses them, as a stranger would.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJson } from './platform-client.mjs';
import { ROOT } from './shipped-packages.mjs';

const archives = join(ROOT, '.local/packages');
const { version } = readJson('package.json');
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-packages-'));

function run(cwd, command, ...args) {
  console.log(`$ ${[command, ...args].join(' ')}`);
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} exited ${status}: ${stderr}${stdout}`);
  return stdout.trim();
}

function expectEqual(found, wanted) {
  if (found !== wanted) throw new Error(`expected ${wanted}, found ${found}`);
}

try {
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts'];
  const [client, bridge] = ['client', 'bridge'].map((name) => join(folder, name));
  for (const place of [client, bridge]) {
    mkdirSync(place);
    writeFileSync(join(place, 'package.json'), '{"private":true,"type":"module"}');
  }
  run(bridge, 'npm', ...install, '--omit=optional', join(archives, `scim-bridge-${version}.tgz`));
  expectEqual(run(bridge, join('node_modules', '.bin', 'scim-bridge'), '--version'), version);
  run(client, 'npm', ...install, join(archives, `scim-bridge-platform-client-${version}.tgz`));
  const installed = readdirSync(join(client, 'node_modules')).filter((name) => !name.startsWith('.'));
  expectEqual(installed.sort().join(), '@scim-bridge,undici');
  run(client, process.execPath, '--eval', "await import('@scim-bridge/platform-client')");
  console.log('both packages work');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
