// Assembles the Lua scripts: each file includes the parts of directory/lua that its `-- NEEDS` lines name. Unneeded parts are
// left out, because Redis creates every function of a script anew at each call.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const DIRECTORY = join(import.meta.dirname, '..');
/** Folder of the parts; every Lua file outside of it is a script. */
const PARTS = 'lua';
/** Scripts that process a whole batch themselves; every other script runs once for each call of the batch. */
const AT_ONCE = new Set(['create_users']);
/**
 * `-- NEEDS part (name, name), part (name)`: the parts to include, and the names that the file uses of each. The lines in the
 * header include parts at the top; an indented line includes them inside a rarely executed block.
 */
const NEEDS = /^( *)-- NEEDS (.*)$/gm;
const HEADER = /^-- NEEDS .*$/gm;
const PART = /(\w+) \([^)]*\)/g;

let files: ReadonlyMap<string, string> | undefined;
const assembled = new Map<string, string>();

/** Files of the scripts, by the name of the script. The folder is read once. */
function scriptFiles(): ReadonlyMap<string, string> {
  files ??= new Map(
    readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.lua') && dirname(file) !== PARTS)
      .map((file) => [basename(file, '.lua'), file]),
  );
  return files;
}

/** Returns the names of all scripts. */
export const scriptNames = (): string[] => [...scriptFiles().keys()];

/**
 * Returns the assembled text of a script. A text is assembled at its first use, because a command uses few of the scripts.
 * @throws Error when there is no script of this name
 */
export function scriptText(name: string): string {
  const known = assembled.get(name);
  if (known !== undefined) return known;
  const file = scriptFiles().get(name);
  if (file === undefined) throw new Error(`There is no script named ${name}`);
  const text = assemble(name, textOf(file));
  assembled.set(name, text);
  return text;
}

/** Assembles all scripts. A service does it at its start, because an update may replace the files while it runs. */
export function assembleAllScripts(): void {
  for (const name of scriptNames()) scriptText(name);
}

function assemble(name: string, text: string): string {
  // `answer_all` (lua/errors.lua) runs the script once for the batch, `answer_each` (lua/calls.lua) once for each call.
  const [common, answer] = AT_ONCE.has(name)
    ? ['errors (answer_all)', 'answer_all']
    : ['calls (answer_each)', 'answer_each'];
  const known = new Set<string>();
  const head = [`-- NEEDS keys (key), ${common}`, ...(text.match(HEADER) ?? [])].map((line) =>
    expand(line, known),
  );
  const body = expand(text.replace(HEADER, ''), known);
  return [...head, 'local function run()', body, 'end', `return ${answer}(run)`].join('\n');
}

/** Replaces `NEEDS` lines by the parts. @param known names of included parts; parts of an indented block are not added */
function expand(text: string, known: Set<string>): string {
  return text.replace(NEEDS, (_line, indent: string, needed: string) => {
    const scope = indent === '' ? known : new Set(known);
    const parts: string[] = [];
    for (const [, name = ''] of needed.matchAll(PART)) {
      if (scope.has(name)) continue;
      scope.add(name);
      parts.push(expand(textOf(join(PARTS, `${name}.lua`)), scope));
    }
    return parts.join('\n');
  });
}

const textOf = (file: string): string => readFileSync(join(DIRECTORY, file), 'utf8');
