// Puts the Lua scripts together: each with the parts of scripts/shared that it needs, and no others. A function of a part is
// made anew for every command, so what a script does not need would cost it time.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'scripts');
/** Does all that came together at once, and reads it by itself; every other script is run once for each call. */
const AT_ONCE = new Set(['create_users']);
/** In a header: the parts come first. Indented: they come there, within a block that is seldom entered. */
const NEEDS = /^( *)-- NEEDS (.*)$/gm;
const HEADER = /^-- NEEDS .*$/m;

/** Every script by its name, as it is sent to Redis. */
export function* scriptTexts(): Generator<[name: string, lua: string]> {
  for (const name of namesIn('.')) yield [name, assemble(name)];
}

function assemble(name: string): string {
  const text = textOf(name);
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
      parts.push(expand(textOf(join('shared', name)), scope));
    }
    return parts.join('\n');
  });
}

const namesIn = (folder: string): string[] =>
  readdirSync(join(FOLDER, folder)).flatMap((file) => (file.endsWith('.lua') ? [file.slice(0, -4)] : []));

const textOf = (name: string): string => readFileSync(join(FOLDER, `${name}.lua`), 'utf8');
