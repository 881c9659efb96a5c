// Escapes CSV cells so that a spreadsheet program does not execute them as formulas.

/**
 * Matches characters that start a formula, including their full-width forms, with or without leading blanks. A
 * program that separates cells by semicolon or tab, or ignores our quotes, can see a cell start inside our
 * cell, so each such position is matched.
 */
const FORMULA = /(^|[;\t\r\n])(\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20\t\r])/g;

/** Returns the text with an apostrophe before every possible start of a formula. */
export const spreadsheetCell = (text: string): string => text.replace(FORMULA, "$1$2'");
