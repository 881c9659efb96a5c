// Writes lines to standard output and standard error. Control characters are escaped, because lines contain
// text from identity providers and platforms. No other file of src/cli writes to the console.
// Lines name a command as it is called in this installation (command-name.ts); JSON keeps the name scim-bridge.
import { visible, visibleIn } from '../support/visible.ts';
import { withCommandName } from './command-name.ts';

/** Prints lines to standard output. A line break within a line is escaped. */
export function say(...lines: readonly string[]): void {
  for (const line of lines) console.log(visible(withCommandName(line)));
}

/** Prints lines as `say` does, without collecting them first. */
export function sayLines(lines: Iterable<string>): void {
  for (const line of lines) say(line);
}

/** Prints lines to standard error. */
export function complain(...lines: readonly string[]): void {
  for (const line of lines) console.error(visible(withCommandName(line)));
}

/** Prints a JSON document on one line. */
export const sayJson = (value: unknown): void => console.log(visible(JSON.stringify(value)));

/**
 * Prints the lines of `render`, with the colours (control characters) that it adds. Therefore the texts of `value` are escaped
 * before `render`, not after it. Commands are renamed before too, because `render` may break a line within a command.
 */
export function sayPainted<T>(value: T, render: (value: T) => readonly string[]): void {
  for (const line of render(visibleIn(value, withCommandName))) console.log(withCommandName(line));
}
