// Installs what the project needs on a new machine: the locked npm packages, a Redis server (unless --without-redis) and,
// with --build, a build. It skips every step that is done already, so every npm script may call it. It imports Node modules
// only.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apt, canInstall, has, install } from './apt.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

function run(command, args, options = {}) {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
}

function installPackages() {
  const lock = join(root, 'package-lock.json');
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  if (existsSync(installed) && sameVersions(lock, installed)) return;
  console.error('Installing npm packages (npm ci) ...');
  const npm = run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  if (npm.status !== 0) {
    console.error('npm ci failed: read the lines above, then run it again.');
    process.exit(1);
  }
}

function sameVersions(lock, installed) {
  const versions = (file) =>
    Object.entries(JSON.parse(readFileSync(file, 'utf8')).packages)
      .filter(([path, entry]) => path !== '' && !entry.optional)
      .map(([path, entry]) => `${path}@${entry.version}`)
      .sort()
      .join();
  return versions(lock) === versions(installed);
}

function installRedis() {
  if (process.env.REDIS_URL || has('redis-server') || has('valkey-server')) return;
  if (canInstall()) {
    // A failed update is not fatal: the other package sources may suffice.
    apt(['update']);
    if (install('redis-server') && has('redis-server')) return;
  }
  const command = [
    ['apt-get', 'sudo apt-get install -y redis-server'],
    ['dnf', 'sudo dnf install -y redis'],
    ['apk', 'sudo apk add redis'],
    ['brew', 'brew install redis'],
  ].find(([name]) => has(name));
  console.error(
    `A Redis server is needed and none was found. Run: ${command ? command[1] : 'install redis-server 6.2 or newer'}` +
      ', or set REDIS_URL to one that runs already.',
  );
  process.exit(1);
}

installPackages();
if (!process.argv.includes('--without-redis')) installRedis();
if (process.argv.includes('--build')) {
  const build = run(process.execPath, [join(root, '.ci', 'build.mjs'), '--if-needed']);
  if (build.status !== 0) process.exit(build.status ?? 1);
}
