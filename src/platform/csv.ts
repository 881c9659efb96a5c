// CSV after RFC 4180, out of text that arrives in pieces: quoted cells may hold commas, quotes and line ends.

/** Longest cell, characters, and most cells of a row. */
const MAX_CELL = 8 * 1024 * 1024;
const MAX_CELLS = 10_000;

/**
 * Rows as lists of cells, the header row first. A line end may be CRLF or LF; a trailing one makes no row. Throws
 * what `refuse` makes when the text ends inside a quoted cell, or a row has no end.
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
      // A quote after a quote stands for one; the first of a cell opens it.
      if (state === 'quote') cell += '"';
      state = 'quoted';
    } else if (character === ',') endCell();
    else if (character === '\n') endRow();
    else if (character !== '\r' || state === 'plain') cell += character;
  };
  for await (const piece of text) {
    for (const character of piece) take(character);
    if (cell.length > MAX_CELL || row.length > MAX_CELLS) throw refuse('a table with a row without end');
    yield* rows;
    rows = [];
  }
  // `take` changes it, which the compiler does not follow into the closure.
  if ((state as string) === 'quoted') throw refuse('a table that ends inside a cell');
  if (cell !== '' || row.length > 0) endRow();
  yield* rows;
}
