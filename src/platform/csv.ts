// Parses CSV (RFC 4180) from text that arrives in pieces: quoted cells may contain commas, quotes and line
// ends.

/** Largest number of characters in a cell, and of cells in a row. */
const MAX_CELL = 8 * 1024 * 1024;
const MAX_CELLS = 10_000;

/**
 * Yields rows as lists of cells, beginning with the header row. A line ends with CRLF or LF; a line end at the
 * end of the text does not add a row. Throws the error of `refuse` when the text ends inside a quoted cell or a
 * row is too long.
 */
export async function* csvRows(
  text: AsyncIterable<string>,
  refuse: (reason: string) => Error,
): AsyncGenerator<string[], void, undefined> {
  let row: string[] = [];
  let cell = '';
  let state: 'plain' | 'quoted' | 'quote' = 'plain';
  let rows: string[][] = [];
  const endCell = (): void => {
    row.push(cell);
    cell = '';
    state = 'plain';
  };
  const endRow = (): void => {
    if (cell.endsWith('\r') && state === 'plain') cell = cell.slice(0, -1);
    endCell();
    rows.push(row);
    row = [];
  };
  const take = (character: string): void => {
    if (state === 'quoted') {
      if (character === '"') state = 'quote';
      else cell += character;
    } else if (character === '"' && (state === 'quote' || cell === '')) {
      // A doubled quote stands for one quote; the first quote of a cell opens it.
      if (state === 'quote') cell += '"';
      state = 'quoted';
    } else if (character === ',') endCell();
    else if (character === '\n') endRow();
    else if (character !== '\r' || state === 'plain') cell += character;
  };
  for await (const piece of text) {
    for (const character of piece) take(character);
    if (cell.length > MAX_CELL || row.length > MAX_CELLS) throw refuse('a table with a row that is too long');
    yield* rows;
    rows = [];
  }
  // TypeScript does not see that `take` assigns `state`.
  if ((state as string) === 'quoted') throw refuse('a table that ends inside a cell');
  if (cell !== '' || row.length > 0) endRow();
  yield* rows;
}
