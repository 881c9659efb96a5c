// Puts the package @scim-bridge/platform-client together: src/platform alone, with undici as its one dependency.
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { moduleClosure } from './module-closure.mjs';
import { ROOT } from './shipped-packages.mjs';

const NAME = '@scim-bridge/platform-client';
const INSIDE_THE_BRIDGE = 'scim-bridge/platform';
/** Packages that are copied into the package, because they are small and have no dependency themselves. */
const VENDORED = ['csv-parse'];

/** Copies a module of dist; imports of vendored packages lead to their copies. */
function copyModule(file, to) {
  const path = relative(join(ROOT, 'dist'), file);
  const target = join(to, 'dist', path);
  mkdirSync(dirname(target), { recursive: true });
  const text = VENDORED.reduce(
    (code, name) => {
      const place = relative(dirname(target), join(to, 'vendor', name, 'index.js'));
      return code.replaceAll(`from '${name}'`, `from '${place}'`);
    },
    readFileSync(file, 'utf8'),
  );
  writeFileSync(target, text.replace(/^\/\/# sourceMappingURL=.*$/m, ''));
}

function copyVendored(name, to) {
  const folder = join(ROOT, 'node_modules', name);
  const lib = join(folder, 'lib');
  for (const file of moduleClosure([join(lib, 'index.js')]).files)
    cpSync(file, join(to, 'vendor', name, relative(lib, file)));
  cpSync(join(folder, 'LICENSE'), join(to, 'vendor', name, 'LICENSE'));
}

/** The page of the documentation, for readers who have this package alone. */
function readme() {
  // The sentence about two packages would name this one twice.
  const page = readFileSync(join(ROOT, 'docs/platform-client.md'), 'utf8').replace(
    /^It is in two npm packages.*\n\n/m,
    '',
  );
  const examples = readdirSync(join(ROOT, 'packages/platform-client/examples'));
  return `${page.replaceAll(INSIDE_THE_BRIDGE, NAME).trimEnd()}

## Examples

Programs in \`node_modules/${NAME}/examples\`: ${examples.map((name) => `\`${name}\``).join(', ')}. The first line of each says which variables of the environment it reads.

## Licence

Apache 2.0. Contains ${VENDORED.join(', ')} (MIT, \`vendor/\`).
`;
}

/** @param {string} to an empty folder */
export function stagePlatformClient(to) {
  const { version, license, engines, dependencies } = readJson('package.json');
  const library = join(ROOT, 'dist/platform/library');
  const { files, packages } = moduleClosure([`${library}.js`, `${library}.d.ts`]);
  for (const file of files) copyModule(file, to);
  const needed = packages.filter((name) => !VENDORED.includes(name));
  for (const name of VENDORED) copyVendored(name, to);
  cpSync(join(ROOT, 'packages/platform-client/examples'), join(to, 'examples'), { recursive: true });
  cpSync(join(ROOT, 'LICENSE'), join(to, 'LICENSE'));
  writeFileSync(join(to, 'README.md'), readme());
  writeJson(join(to, 'package.json'), {
    name: NAME,
    version,
    description:
      'Typed client of a data platform: users, groups, attributes, deployments, workspace, audit log, Core Data, chat',
    license,
    type: 'module',
    sideEffects: false,
    engines,
    exports: { '.': { types: './dist/platform/library.d.ts', default: './dist/platform/library.js' } },
    files: ['dist', 'vendor', 'examples'],
    dependencies: Object.fromEntries(needed.map((name) => [name, dependencies[name]])),
  });
}

export const readJson = (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
export const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
