// Returns the command by which an operator of this installation starts the bridge. The texts of the program name commands as
// `scim-bridge …`; without a program of this name on PATH an operator could not copy them.
import { realpathSync } from 'node:fs';
import { basename, delimiter, join, relative } from 'node:path';

/** The name in messages; an installation may have another. */
const NAME = 'scim-bridge';
/** Commands in the order of help. */
export const COMMAND_NAMES = [
  'serve',
  'check-config',
  'doctor',
  'status',
  'plan',
  'apply',
  'reconcile',
  'approvals',
  'hold',
  'release',
  'explain',
  'sync',
  'links',
  'backup',
  'restore',
  'dead-letters',
  'exceptions',
  'acts',
  'events',
  'notices',
  'log',
  'resync',
  'token',
  'forget',
  'handover',
  'verify-access',
  'sandbox',
  'demo',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** The name in front of a command or an option. */
const NAMED = new RegExp(`(?<![\\w./-])${NAME} (?=--|(?:${COMMAND_NAMES.join('|')})(?![\\w-]))`, 'g');

/** Program file, PATH and working folder of the process. */
interface CommandPlace {
  program: string;
  path: string;
  cwd: string;
}

/** Returns `scim-bridge` where PATH leads to this program by that name (image, package), else `node dist/main.js`. */
export function commandNameOf({ program, path, cwd }: CommandPlace): string {
  const file = realPath(program);
  // Tests and other programs use these modules without main.js.
  if (file === undefined || basename(file) !== 'main.js') return NAME;
  const isOnPath = path
    .split(delimiter)
    .some((folder) => folder !== '' && realPath(join(folder, NAME)) === file);
  if (isOnPath) return NAME;
  const fromFolder = relative(cwd, file);
  // A program outside the working folder is named by its whole path.
  const shown = fromFolder.startsWith('..') ? file : fromFolder;
  // A path with blanks or signs is quoted for the shell.
  return `node ${/^[\w./@+-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", `'\\''`)}'`}`;
}

/** Returns the text with `scim-bridge` replaced by the command of this installation. */
export const withCommandName = (text: string, place: CommandPlace = placeOfProcess()): string =>
  text.includes(`${NAME} `) ? text.replaceAll(NAMED, `${commandNameOf(place)} `) : text;

const placeOfProcess = (): CommandPlace => ({
  program: process.argv[1] ?? '',
  path: process.env.PATH ?? '',
  cwd: process.cwd(),
});

/** Returns the path of a file behind symbolic links; undefined: there is no such file. */
function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
