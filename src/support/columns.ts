// Fits text into the columns of a terminal: wraps at spaces, and cuts what is longer.

/** Characters of these scripts take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** Length of a word that is cut in its middle. */
const LONG_WORD = 60;

const widthOf = (text: string): number =>
  [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);

/** Returns the text with at most this many columns; `…` stands for the rest. */
export function clipLine(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 1;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** Returns the text with the middle of each word of more than 60 characters replaced by `…`. */
export const clipWords = (text: string): string =>
  text.replace(/\S+/g, (word) => {
    const characters = [...word];
    if (characters.length <= LONG_WORD) return word;
    return `${characters.slice(0, 30).join('')}…${characters.slice(-12).join('')}`;
  });

/** Returns at most `most` lines, the second and later ones with `indent`; `…` stands for what does not fit. */
export function wrapLines(
  text: string,
  { columns, most, indent = '' }: { columns: number; most: number; indent?: string },
): string[] {
  const lines: string[] = [];
  let line = '';
  const words = text.split(/(?<=\S) /);
  for (const [at, word] of words.entries()) {
    const longer = line === '' ? (lines.length > 0 ? indent : '') + word : `${line} ${word}`;
    if (widthOf(longer) <= columns || line === '') line = longer;
    else if (lines.length === most - 1) {
      return [...lines, clipLine(`${line} ${words.slice(at).join(' ')}`, columns)];
    } else {
      lines.push(clipLine(line, columns));
      line = indent + word;
    }
  }
  return [...lines, clipLine(line, columns)];
}
