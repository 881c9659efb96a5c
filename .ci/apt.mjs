// Installs Debian packages when this process is root or sudo works without a password.
import { spawnSync } from 'node:child_process';

const isRoot = process.getuid?.() === 0;
// Short limits, so that a machine without a network fails within seconds.
const SOON = ['-o', 'Acquire::http::Timeout=15', '-o', 'Acquire::Retries=1'];

/** @returns whether the command is on PATH */
export function has(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;
}

/** @returns whether this process may install packages */
export function canInstall() {
  if (!has('apt-get')) return false;
  return isRoot || (has('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0);
}

/** Runs `apt-get` without prompts and without starting services. @returns whether it succeeded */
export function apt(args, options = {}) {
  const command = isRoot ? ['apt-get'] : ['sudo', 'apt-get'];
  const run = spawnSync(command[0], [...command.slice(1), ...SOON, '-qq', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    ...options,
  });
  return run.status === 0;
}

/** Installs a package. @returns whether it succeeded */
export function install(name) {
  console.error(`Installing ${name} (apt-get) ...`);
  return apt(['install', '-y', '--no-install-recommends', name]);
}
