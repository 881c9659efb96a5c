// Tests that the lock file has an integrity hash for each package, and that THIRD-PARTY-LICENSES names every licence.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const tool = (name: string): Promise<any> => import(join(ROOT, '.ci/release', name));
const { shippedPackages } = await tool('shipped-packages.mjs');
const { licensesText } = await tool('licenses.mjs');

/** Licences that require only their text and the names of the authors. */
const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'];

interface LockEntry {
  resolved?: string;
  integrity?: string;
  optional?: true;
  os?: string[];
  cpu?: string[];
}
const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockEntry>;
};
const entries = Object.entries(packages).filter(([path]) => path !== '');
const isHashed = ([, { integrity = '' }]: [string, LockEntry]): boolean => integrity.startsWith('sha512-');

test('every package of the lock file has a SHA-512 hash, including packages for other platforms', () => {
  expect(entries.length).toBeGreaterThan(300);
  expect(entries.filter((entry) => !isHashed(entry)).map(([path]) => path)).toEqual([]);
});

test('every package that is installed in the image has a SHA-512 hash', () => {
  const inImage = shippedPackages() as { integrity?: string; name: string }[];
  expect(inImage.length).toBeGreaterThan(100);
  expect(inImage.filter(({ integrity = '' }) => !integrity.startsWith('sha512-'))).toEqual([]);
});

test('the lock file contains no registry address', () => {
  expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

test('every shipped package has a permissive licence', () => {
  const shipped = shippedPackages() as { name: string; license: string }[];
  expect(shipped.map(({ name }) => name)).toEqual(expect.arrayContaining(['express', 'undici', 'bullmq']));
  expect(shipped.filter(({ license }) => !PERMISSIVE.includes(license))).toEqual([]);
});

test('THIRD-PARTY-LICENSES equals the output of `npm run licenses`', () => {
  const kept = readFileSync(join(ROOT, 'THIRD-PARTY-LICENSES'), 'utf8');
  expect(licensesText()).toBe(kept);
  expect(kept).toContain('express 5.3.0');
});
