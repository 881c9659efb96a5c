// Tests the assembled Lua scripts: every used function is included.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { scriptNames, scriptText } from '../../../src/directory/redis/script-texts.ts';

const DIRECTORY = join(import.meta.dirname, '../../../src/directory');
const PARTS = join(DIRECTORY, 'lua');
const bare = (lua: string): string => lua.replaceAll(/'[^'\n]*'/g, "''").replaceAll(/--.*/g, '');
const namesIn = (lua: string): string[] =>
  [...lua.matchAll(/^ *local (?:function )?(\w+(?:, \w+)*)/gm)].flatMap(([, names = '']) =>
    names.split(', '),
  );

const parts = readdirSync(PARTS).map((file) => bare(readFileSync(join(PARTS, file), 'utf8')));
/** Names that are defined only by included parts and by no script itself. */
const shared = new Set(
  parts.flatMap((part) =>
    part.split('\n').flatMap((line) => (line.startsWith('local') ? namesIn(line) : [])),
  ),
);

const texts = scriptNames().map((name) => [name, scriptText(name)] as const);

test.each(texts)('the Lua script %s includes every function that it uses', (_name, lua) => {
  const text = bare(lua);
  const known = new Set<string>();
  const missing = new Set<string>();
  for (const line of text.split('\n')) {
    for (const name of namesIn(line)) known.add(name);
    for (const [name] of line.matchAll(/(?<![.\w])[A-Za-z_]\w*/g)) {
      if (shared.has(name) && !known.has(name)) missing.add(name);
    }
  }
  expect([...missing]).toEqual([]);
});

const luaFiles = readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.lua'),
);
/** Part of each name that a part defines for other files. */
const partOf = new Map(
  readdirSync(PARTS).flatMap((file) =>
    bare(readFileSync(join(PARTS, file), 'utf8'))
      .split('\n')
      .filter((line) => line.startsWith('local'))
      .flatMap(namesIn)
      .map((name) => [name, basename(file, '.lua')] as const),
  ),
);

test.each(luaFiles)('the NEEDS lines of %s name exactly the shared functions that the file uses', (file) => {
  const text = readFileSync(join(DIRECTORY, file), 'utf8');
  const code = bare(text);
  const own = new Set([
    ...namesIn(code),
    ...[...code.matchAll(/\bfor (\w+(?:, \w+)*) |function ?\w*\(([^)]*)\)/g)].flatMap(([, each, args]) =>
      (each ?? args ?? '').split(', '),
    ),
  ]);
  const used = [...code.matchAll(/(?<![.\w])[A-Za-z_]\w*/g)]
    .map(([name]) => `${partOf.get(name)}: ${own.has(name) ? '' : name}`)
    .filter((name) => !/^undefined: |: $/.test(name));
  const listed = [...text.matchAll(/^ *-- NEEDS (.*)$/gm)].flatMap(([, needed = '']) =>
    [...needed.matchAll(/(\w+) \(([^)]*)\)/g)].flatMap(([, part = '', names = '']) =>
      names.split(', ').map((name) => `${part}: ${name}`),
    ),
  );
  expect(listed.toSorted()).toEqual([...new Set(used)].toSorted());
});

test.each(texts)(
  'the Lua script %s includes each shared function once, and no NEEDS line remains',
  (_name, lua) => {
    const [head = ''] = lua.split('\nlocal function run()\n');
    const functions = head.split('\n').filter((line) => line.startsWith('local function '));
    if (head !== lua) expect(functions).toEqual([...new Set(functions)]);
    expect(lua).not.toContain('-- NEEDS');
  },
);

test('a Lua script that uses none of the optional functions does not include the function `heal`', () => {
  expect(texts.find(([name]) => name === 'known_equal')?.[1]).not.toContain('local function heal');
});

test('each Lua file has at most 80 lines of code', () => {
  const isCode = (line: string): boolean => line.trim() !== '' && !line.trim().startsWith('--');
  const long = luaFiles.filter(
    (file) => readFileSync(join(DIRECTORY, file), 'utf8').split('\n').filter(isCode).length > 80,
  );
  expect(luaFiles.length).toBeGreaterThan(100);
  expect(long).toEqual([]);
});
