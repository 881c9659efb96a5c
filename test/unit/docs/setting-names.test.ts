// Tests that every setting that a page names exists: in the settings of the bridge, or in the values of the chart.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Schema {
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  $ref?: string;
}

const settings = JSON.parse(read('config/bridge.schema.json')) as Schema;
const values = JSON.parse(read('helm/scim-bridge/values.schema.json')) as Schema;

/** Returns whether a schema has a path; a name in angle brackets stands for any name. */
function has(schema: Schema | undefined, [name, ...rest]: readonly string[], root: Schema): boolean {
  if (schema === undefined) return false;
  if (name === undefined) return true;
  if (schema.$ref) return has(follow(root, schema.$ref), [name, ...rest], root);
  const others = [schema.additionalProperties, ...Object.values(schema.patternProperties ?? {})];
  return (
    has(schema.properties?.[name], rest, root) ||
    others.some((other) => typeof other === 'object' && has(other, rest, root)) ||
    [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].some((part) =>
      has(part, [name, ...rest], root),
    )
  );
}

const follow = (root: Schema, ref: string): Schema | undefined =>
  ref
    .split('/')
    .slice(1)
    .reduce<any>((part, key) => part?.[key], root);

const SECTIONS = Object.keys(settings.properties ?? {});
const NAMED = new RegExp(`^(?:${SECTIONS.join('|')})(?:\\.[\\w<>]+)+`);
const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md'))
  .map((path) => `docs/${path}`)
  .concat('README.md', 'SECURITY.md', 'helm/scim-bridge/README.md');

test('every setting that a page of docs names exists', () => {
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => {
      const [path] = NAMED.exec(code) ?? [];
      return path === undefined ? [] : [[page, path] as const];
    }),
  );
  expect(named.length).toBeGreaterThan(150);
  const unknown = named.filter(
    ([, path]) => ![settings, values].some((schema) => has(schema, path.split('.'), schema)),
  );
  expect(unknown).toEqual([]);
});

test('the check of setting names in docs finds a setting that does not exist', () => {
  expect(has(settings, ['server', 'prot'], settings)).toBe(false);
  expect(has(settings, ['targets', 'main', 'guard', 'deactivat'], settings)).toBe(false);
});
