// Tests that docs/architecture.md and .dependency-cruiser.cjs name the same folders and the same imports.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

interface Rule {
  name: string;
  from: { path?: string };
  to: { path?: string; pathNot?: string[] };
}

const { forbidden } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs')) as {
  forbidden: Rule[];
};

/** Folders that the rule of each folder allows, marked if only single files are allowed. */
const allowed = new Map(
  forbidden
    .filter(({ name }) => name.endsWith('-imports'))
    .map(({ name, to }): [string, string[]] => {
      const folder = name.slice(0, -'-imports'.length);
      const names = (to.pathNot ?? []).flatMap((path) => {
        const [, several, one = ''] = /^\^src\/(?:\(([^)]+)\)|([a-z-]+))/.exec(path) ?? [];
        return several?.split('|') ?? [one];
      });
      return [folder, [...new Set(names)].filter((other) => other !== folder).sort()];
    }),
);

const rows = readFileSync(join(root, 'docs/architecture.md'), 'utf8').matchAll(
  /^\| `src\/([a-z-]+)\/` +\|.*\| ([^|]+?) +\|$/gm,
);
const map = new Map(
  [...rows].map(([, folder = '', imports = '']) => [folder, imports === '–' ? [] : imports.split(', ')]),
);

test('docs/architecture.md lists every folder of src, and no other', () => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect([...map.keys()].sort()).toEqual(folders.sort());
});

test.each([...allowed])(
  'docs/architecture.md lists the imports that the rule of src/%s allows',
  (folder, imports) => {
    expect(map.get(folder)?.toSorted()).toEqual(imports);
  },
);

test('every folder of src except app has an import rule', () => {
  expect([...map.keys()].filter((folder) => !allowed.has(folder))).toEqual(['app']);
});
