// A cell of a CSV file that a spreadsheet shows and does not carry out.

/**
 * What makes a formula at the start of a cell: the signs, also in full width, behind blanks. A spreadsheet that separates by
 * semicolon or tab, or that does not know our quotes, begins a cell within ours; so every such start counts.
 */
const FORMULA = /(^|[;\t\r\n])(\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20\t\r])/g;

/** The text with an apostrophe before everything that would be a formula. */
export const spreadsheetCell = (text: string): string => text.replace(FORMULA, "$1$2'");
