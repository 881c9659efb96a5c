// Writes lines to standard output and standard error. Control characters are escaped, because lines contain
// text from identity providers and platforms. Other files of src/cli write only questions, help,
// progress bars, and documents that are streamed.
// Lines name a command as it is called in this installation (command-name.ts); JSON keeps the name scim-bridge.
// A long line of standard output is wrapped, and a command in it stays whole; rows for programs are not wrapped.
import { wholeLines } from '../support/columns.ts';
import { visible, visibleIn } from '../support/visible.ts';
import { withCommandName } from './command-name.ts';

/** An empty line between two parts of the text. */
export const BLANK_LINE = '';

/** Prints lines to standard output. A line break within a line is escaped. */
export function say(...lines: readonly string[]): void {
  for (const line of lines) console.log(wholeLines(visible(withCommandName(line))).join('\n'));
}

/** Prints lines as `say` does, without collecting them first. */
export function sayLines(lines: Iterable<string>): void {
  for (const line of lines) say(line);
}

/** Prints rows for programs, such as CSV, to standard output. */
export function sayRows(...rows: readonly string[]): void {
  for (const row of rows) console.log(visible(row));
}

/**
 * Prints lines to standard error: wrapped on a terminal; elsewhere a message is one line, for the logs of the system that runs
 * the command.
 */
export function complain(...lines: readonly string[]): void {
  for (const line of lines) {
    const text = visible(withCommandName(line));
    console.error(process.stderr.isTTY ? wholeLines(text).join('\n') : text);
  }
}

/** Prints a JSON document on one line. */
export const sayJson = (value: unknown): void => sayRows(JSON.stringify(value));

/**
 * Prints the lines of `render`, with the colours (control characters) that it adds. Therefore the texts of `value` are escaped
 * before `render`, not after it.
 */
export function sayPainted<T>(value: T, render: (value: T) => readonly string[]): void {
  for (const line of render(visibleIn(value))) console.log(wholeLines(withCommandName(line)).join('\n'));
}
