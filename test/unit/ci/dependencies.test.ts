// Tests that package.json lists exactly the packages that are used.
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const { dependencies, optionalDependencies, devDependencies, scripts } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as Record<string, Record<string, string>>;
const RUNTIME = Object.keys({ ...dependencies, ...optionalDependencies });
const DEVELOPMENT = Object.keys(devDependencies ?? {});
/** Packages that this repository publishes. */
const OWN = ['scim-bridge', '@scim-bridge/platform-client'];
const SPECIFIER = /(?:\bfrom |\bimport |\brequire(?:\.resolve)?\(|\bimport\()'(@?[a-z\d][\w./:-]*)'[;)]/g;

/** `@scope/name/file` → `@scope/name` */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

function importedBy(...folders: string[]): string[] {
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: folder !== '.', withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|[cm]?js)$/.test(entry.name))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
  );
  const specifiers = files.flatMap((text) => [...text.matchAll(SPECIFIER)].map(([, name = '']) => name));
  const packages = specifiers.filter((name) => !isBuiltin(name)).map(packageOf);
  return [...new Set(packages.filter((name) => !OWN.includes(name)))];
}

/** Packages used without an import: programs in scripts, plug-ins named in settings, and types. */
const BY_NAME = ['@swc/core', '@swc/jest', '@types/jest', '@types/node'];
const isRunByScript = (name: string): boolean =>
  Object.values(scripts ?? {}).some((script) => script.includes(name)) || name === 'dependency-cruiser';

test('every package that src imports is a dependency of the service', () => {
  expect(importedBy('src').filter((name) => !RUNTIME.includes(name))).toEqual([]);
});

test('every package that tests and tools import is a dependency or development dependency of package.json', () => {
  const listed = [...RUNTIME, ...DEVELOPMENT];
  expect(importedBy('test', 'bench', '.ci', '.').filter((name) => !listed.includes(name))).toEqual([]);
});

test('every listed dependency of the service is imported by src', () => {
  const used = importedBy('src');
  expect(RUNTIME.filter((name) => !used.includes(name))).toEqual([]);
});

test('every development dependency of package.json is imported, named in a configuration or run by a script', () => {
  const used = importedBy('src', 'test', 'bench', '.ci', '.');
  const typesOf = (name: string): string => name.replace(/^@types\//, '');
  const unused = DEVELOPMENT.filter(
    (name) => !used.includes(typesOf(name)) && !BY_NAME.includes(name) && !isRunByScript(name),
  );
  expect(unused).toEqual([]);
});
