// Lists the packages that are shipped, from the lock file: those of the image, and the optional ones.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** @returns the name of the package at a path of the lock file; empty for the project itself */
export const nameOf = (path) => path.split('node_modules/').at(-1);
const scopeOf = (name) => (name.startsWith('@') ? name.split('/')[0] : name);

/**
 * @returns {{ path: string, name: string, version: string, license: string, integrity?: string, isOptional: boolean }[]}
 *   sorted by name and path; optional packages serve the sandbox alone, and the image leaves them out
 */
export function shippedPackages() {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const entries = Object.entries(packages).map(([path, entry]) => ({ path, name: nameOf(path), ...entry }));
  // The lock file has no licence of a package for another platform: the packages of its scope are one release.
  const siblingOf = ({ name, version }) =>
    entries.find((each) => each.license && each.version === version && scopeOf(each.name) === scopeOf(name));
  return entries
    .filter(({ path, dev, devOptional }) => path !== '' && !dev && !devOptional)
    .map((entry) => ({
      ...{ path: entry.path, name: entry.name, version: entry.version, integrity: entry.integrity },
      license: entry.license ?? siblingOf(entry)?.license ?? 'UNKNOWN',
      isOptional: entry.optional ?? false,
    }))
    .sort((one, other) => (one.name + one.path < other.name + other.path ? -1 : 1));
}
