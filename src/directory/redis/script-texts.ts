// Puts the Lua scripts together: each stands beside the code that calls it, and takes in the parts of directory/lua that it
// needs, and no others. A function of a part is
// made anew for every command, so what a script does not need would cost it time.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const DIRECTORY = join(import.meta.dirname, '..');
/** The folder of parts; every other Lua file of the directory is a script. */
const PARTS = 'lua';
/** Does all that came together at once, and reads it by itself; every other script is run once for each call. */
const AT_ONCE = new Set(['create_users']);
/** In a header: the parts come first. Indented: they come there, within a block that is seldom entered. */
const NEEDS = /^( *)-- NEEDS (.*)$/gm;
const HEADER = /^-- NEEDS .*$/m;

/** Every script by its name, as it is sent to Redis. */
export function* scriptTexts(): Generator<[name: string, lua: string]> {
  for (const file of readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.lua') || dirname(file) === PARTS) continue;
    const name = basename(file, '.lua');
    yield [name, assemble(name, textOf(file))];
  }
}

function assemble(name: string, text: string): string {
  const [common, answer] = AT_ONCE.has(name)
    ? ['keys, errors', 'answer_all']
    : ['keys, calls', 'answer_each'];
  const known = new Set<string>();
  const head = [`-- NEEDS ${common}`, ...(HEADER.exec(text) ?? [])].map((line) => expand(line, known));
  const body = expand(text.replace(HEADER, ''), known);
  return [...head, 'local function run()', body, 'end', `return ${answer}(run)`].join('\n');
}

/** @param known parts that the text can already use; what it takes in is added, but for what is within a block of its own */
function expand(text: string, known: Set<string>): string {
  return text.replace(NEEDS, (_line, indent: string, names: string) => {
    const scope = indent === '' ? known : new Set(known);
    const parts: string[] = [];
    for (const name of names.split(', ')) {
      if (scope.has(name)) continue;
      scope.add(name);
      parts.push(expand(textOf(join(PARTS, `${name}.lua`)), scope));
    }
    return parts.join('\n');
  });
}

const textOf = (file: string): string => readFileSync(join(DIRECTORY, file), 'utf8');
