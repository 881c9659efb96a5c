// Builds lines of CSV files that spreadsheet programs can open without executing a cell.
import { stringify } from 'csv-stringify/sync';
import { spreadsheetCell } from './spreadsheet.ts';

/** Returns one line without its line break. Cells are escaped, because a spreadsheet would execute a name such as `=A1`. */
export const csvLine = (cells: readonly string[]): string =>
  stringify([cells.map(spreadsheetCell)], { quoted_match: /[;\t]/ }).replace(/\n$/, '');
