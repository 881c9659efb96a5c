// Saves files: the filtered entries of a log, or a text of the page.
import { download } from './api.js';
import { h, say } from './dom.js';

/** Number of bytes at the end of an export that contain its last line. */
const TAIL = 1000;
/** Time after which the address of a saved file ends. It is long, because the browser may ask where to save the file. */
const REVOKE_MS = 60_000;

/**
 * Saves the entries of a log that match the filters.
 * @param body filters
 * @param format `csv` or `ndjson`
 * @param name of the file, without date and ending
 */
export async function save(path, body, format, name) {
  say('The file is being made.');
  const content = await download(path, { ...body, format });
  // Spreadsheet programs read a file without this byte order mark in an old character set.
  const file = format === 'csv' ? new Blob(['\ufeff', content]) : content;
  saveFile(file, `${name}-${new Date().toISOString().slice(0, 10)}.${format}`);
  const last = (await content.slice(-TAIL).text()).trimEnd().split('\n').at(-1);
  // An export that is not complete ends with such a line, as NDJSON or as CSV.
  if (/^(\{"more":true|"?There is more: )/.test(last))
    say('Saved, but there is more than one file takes: choose a shorter time for the rest.', 'bad');
  else say('Saved.');
}

/** Saves a text that the page has already. */
export const saveText = (text, name) => saveFile(new Blob([text], { type: 'application/json' }), name);

function saveFile(file, download) {
  const href = URL.createObjectURL(file);
  h('a', { href, download }).click();
  setTimeout(() => URL.revokeObjectURL(href), REVOKE_MS);
}
