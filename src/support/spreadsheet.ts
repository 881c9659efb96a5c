// Escapes CSV cells so that a spreadsheet program does not execute them as formulas.

/**
 * Matches each position before a character that starts a formula, also in its full-width form and behind blanks. Some
 * programs separate cells by semicolon or tab, or ignore quotes. For them a cell may start inside our cell, so positions
 * behind these separators are matched too.
 */
const FORMULA = /(^|[;\t\r\n])(\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20\t\r])/g;

/** Returns the text with an apostrophe before every possible start of a formula. */
export const spreadsheetCell = (text: string): string => text.replace(FORMULA, "$1$2'");
