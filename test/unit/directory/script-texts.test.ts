// Tests the assembled Lua scripts: every used function is included.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

test.each(texts)(
  'the head of the Lua script %s includes each shared function once, and no NEEDS line remains',
  (_name, lua) => {
    const [head = ''] = lua.split('\nlocal function run()\n');
    const functions = head.split('\n').filter((line) => line.startsWith('local function '));
    if (head !== lua) expect(functions).toEqual([...new Set(functions)]);
    expect(lua).not.toContain('-- NEEDS');
  },
);

test('a Lua script that needs none of the optional functions, such as known_equal, does not include `heal`', () => {
  expect(texts.find(([name]) => name === 'known_equal')?.[1]).not.toContain('local function heal');
});

test('each Lua file has at most 80 lines of code', () => {
  const files = readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.lua'),
  );
  const isCode = (line: string): boolean => line.trim() !== '' && !line.trim().startsWith('--');
  const long = files.filter(
    (file) => readFileSync(join(DIRECTORY, file), 'utf8').split('\n').filter(isCode).length > 80,
  );
  expect(files.length).toBeGreaterThan(100);
  expect(long).toEqual([]);
});
