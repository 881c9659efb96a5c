// Builds lines of CSV files that spreadsheet programs can open without executing a cell.
import { stringify } from 'csv-stringify/sync';

/**
 * Matches each position before a character that starts a formula (`=`, `+`, `-`, `@` or its full-width form), also if blanks come
 * before the character. Some programs separate cells by semicolon or tab, or ignore quotes and so split at each comma and line
 * break. For these programs a cell may start inside a cell of the file, so positions behind these separators are matched too. A tab
 * or carriage return at the start counts as well, because a program may drop it and then find a formula (OWASP, CSV Injection).
 */
const FORMULA = /(^|[,;\t\r\n])(\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20\t\r])/g;

/** Returns the text with an apostrophe before every possible start of a formula. */
export const spreadsheetCell = (text: string): string => text.replace(FORMULA, "$1$2'");

/** Returns one line without its line break. Cells are escaped, because a spreadsheet would execute a name such as `=A1`. */
export const csvLine = (cells: readonly string[]): string =>
  // `quoted_match`: cells with a semicolon or a tab are quoted too, because some programs separate cells by them.
  stringify([cells.map(spreadsheetCell)], { quoted_match: /[;\t]/ }).replace(/\n$/, '');
