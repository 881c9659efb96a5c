// Fits text into the columns of a terminal: wraps it at spaces and cuts words that are too long. A command is not wrapped, so
// that it can be copied.
import { stripVTControlCharacters } from 'node:util';

/** Width of a line in the output of commands, in character cells. */
export const LINE_COLUMNS = 100;

/** Matches a character that takes two columns, such as a Chinese letter or an emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** Characters of the longest word that stays whole, and of the two parts that stay of a longer word. */
const LONG_WORD = 60;
const [FIRST_PART, LAST_PART] = [30, 12];

/**
 * Matches a command in a text: `scim-bridge` or `node …main.js`, the command and its subcommand, then options, values of some
 * options, placeholders such as FILE, and names with a sign such as `@`: `scim-bridge links forget ada@x.example --target main`.
 */
const COMMAND =
  /(?:scim-bridge|node \S*main\.js'?) [a-z][a-z-]*(?: (?:list|show|approve|reject|withdraw|retry|drop|undo|forget|export|import|create|revoke|refused|test)\b(?!-))?(?: (?:--[a-z-]+|[A-Z]{2,}\b|(?<=--(?:target|connection|role|ref) )\S*\w|\w[\w-]*[.:@/][\w.:@/~-]*\w))*/g;
/** Matches the space between a number and its word, at which a line must not break. */
const COUNT = /(?<=(?:^|[ (])\d+) (?=[a-z%])/g;
/** Stands for a space at which a line must not break. Texts contain no control characters, so it is unique. */
const GLUE = '\u0001';

function widthOf(text: string): number {
  let width = 0;
  // Colours of a terminal take no column.
  for (const character of stripVTControlCharacters(text)) width += WIDE.test(character) ? 2 : 1;
  return width;
}

/** Returns the text with at most this many columns; `…` stands for the rest. */
export function clipLine(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  // One column is for the `…`.
  let width = 1;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** Returns the text with `change` applied to all of it but its commands, because a changed command cannot be run. */
export function besideCommands(text: string, change: (part: string) => string): string {
  let done = '';
  let end = 0;
  for (const { index, 0: command } of text.matchAll(COMMAND)) {
    done += change(text.slice(end, index)) + command;
    end = index + command.length;
  }
  return done + change(text.slice(end));
}

/** Returns the text with the middle of each word of more than LONG_WORD characters replaced by `…`. */
export const clipWords = (text: string): string =>
  text.replace(/\S+/g, (word) => {
    const characters = [...word];
    if (characters.length <= LONG_WORD) return word;
    return `${characters.slice(0, FIRST_PART).join('')}…${characters.slice(-LAST_PART).join('')}`;
  });

/** Returns the lines of a text, the second and later ones with `indent`. A word or command longer than a line gets its own line. */
function fill(text: string, columns: number, indent: string): string[] {
  const glued = text.replace(COMMAND, (command) => command.replaceAll(' ', GLUE)).replace(COUNT, GLUE);
  const lines: string[] = [];
  // A line breaks at a space behind a word, so the blanks at the start of the text stay.
  const [first = '', ...words] = glued.split(/(?<=\S) /);
  let line = first;
  for (const word of words) {
    if (widthOf(line) + 1 + widthOf(word) <= columns) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word.trimStart();
    }
  }
  return [...lines, line].map((each) => each.replaceAll(GLUE, ' '));
}

/** Returns at most `most` lines, the second and later ones with `indent`; `…` stands for what does not fit. */
export function wrapLines(
  text: string,
  { columns, most, indent = '' }: { columns: number; most: number; indent?: string },
): string[] {
  const lines = fill(text, columns, indent);
  // The last line that is allowed takes the text of all further lines, and is clipped below.
  const [last, ...rest] = lines.splice(most - 1);
  if (last !== undefined) lines.push([last, ...rest.map((line) => line.trimStart())].join(' '));
  // When all text fits into the lines, a line with a command stays whole, even if it is wider than `columns`.
  return lines.map((line) =>
    line.search(COMMAND) >= 0 && rest.length === 0 ? line : clipBesideCommands(line, columns),
  );
}

/** Clips a line as clipLine does, but never inside a command, because a command that is cut cannot be run. */
function clipBesideCommands(line: string, columns: number): string {
  const clipped = clipLine(line, columns);
  if (clipped === line) return line;
  // The text before the `…`.
  const end = clipped.length - 1;
  for (const { index, 0: command } of line.matchAll(COMMAND)) {
    const after = index + command.length;
    if (index < end && after > end) return line.slice(0, after) + (after < line.length ? ' …' : '');
  }
  return clipped;
}

/** Returns the whole text in lines, the second and later ones two columns further in than the first. */
export function wholeLines(text: string, columns = LINE_COLUMNS): string[] {
  // A character takes at most two columns, so the width of a short text need not be measured.
  if (text.length <= columns / 2 || widthOf(text) <= columns) return [text];
  const [blanks = ''] = /^ */.exec(text) ?? [];
  return fill(text, columns, `${blanks}  `);
}
