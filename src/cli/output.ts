// Writes lines to standard output and standard error. Control characters are escaped, because lines contain
// text from identity providers and platforms. No other file of src/cli writes to the console.
// The commands that a line names are called as in this installation; JSON keeps the name scim-bridge.
import { visible, visibleIn } from '../support/visible.ts';
import { withCommandName } from './command-name.ts';

/** Lines to standard output; a line break within one of them does not start another. */
export function say(...lines: readonly string[]): void {
  for (const line of lines) console.log(visible(withCommandName(line)));
}

/** As `say`, for as many lines as there are. */
export function sayLines(lines: Iterable<string>): void {
  for (const line of lines) say(line);
}

/** Lines to standard error. */
export function complain(...lines: readonly string[]): void {
  for (const line of lines) console.error(visible(withCommandName(line)));
}

/** One JSON document on one line. */
export const sayJson = (value: unknown): void => console.log(visible(JSON.stringify(value)));

/**
 * Lines that `render` may colour, because the text of `value` is made visible before it sees it. The commands in `value` are
 * named before too: `render` breaks lines, also between the words of a command.
 */
export function sayPainted<T>(value: T, render: (value: T) => readonly string[]): void {
  for (const line of render(visibleIn(value, withCommandName))) console.log(withCommandName(line));
}
