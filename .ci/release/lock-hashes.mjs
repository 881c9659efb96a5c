// Adds the integrity hashes that the lock file lacks (`npm run lock-hashes`), and lists the packages without one.
// With --check nothing is written.
// npm leaves a hash out when the registry lacks a package for a platform other than this one.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nameOf, ROOT } from './shipped-packages.mjs';

const LOCK = join(ROOT, 'package-lock.json');

/** @returns the paths and entries of the lock file that have no SHA-512 hash */
export const withoutHash = ({ packages }) =>
  Object.entries(packages).filter(
    ([path, { integrity = '' }]) => path !== '' && !integrity.startsWith('sha512-'),
  );

/** @returns the hash that the registry has, or undefined */
function askRegistry(name, version) {
  const view = spawnSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], { encoding: 'utf8' });
  const hash = view.stdout.trim();
  return /^sha512-[\w+/]+=*$/.test(hash) ? hash : undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isCheck = process.argv.includes('--check');
  const lock = JSON.parse(readFileSync(LOCK, 'utf8'));
  if (!isCheck) {
    for (const [path, entry] of withoutHash(lock)) {
      const integrity = askRegistry(nameOf(path), entry.version);
      if (integrity) lock.packages[path] = { version: entry.version, integrity, ...entry };
    }
    writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
  }
  const left = withoutHash(lock);
  for (const [path] of left) console.error(`no integrity: ${nameOf(path)}`);
  if (left.length > 0) {
    console.error(
      isCheck
        ? 'Run npm run lock-hashes where the registry has these packages, and commit the lock file.'
        : 'The registry of this machine has no such packages: run this where it has.',
    );
    process.exitCode = 1;
  }
}
