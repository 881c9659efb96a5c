// Deletes what nothing loads in a running container from a folder of packages: source maps, types, tests and documents.
// Usage: node prune.mjs FOLDER. Imports Node modules only, because the Dockerfile runs it alone.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const FILES =
  /\.(map|ts|mts|cts|tsbuildinfo|markdown|flow)$|^tests?\.[cm]?js$|^(readme|changelog|history|contributing|security)(\.(md|txt|rst))?$/i;
const DOCUMENTS = /\.md$/i;
const LICENCE = /^(licen[cs]e|copying|notice)(?!.*\.([cm]?ts|map)$)/i;
const FOLDERS = new Set([
  'test',
  'tests',
  '__tests__',
  'example',
  'examples',
  'benchmark',
  'benchmarks',
  'docs',
]);
const HIDDEN = new Set(['.github', '.vscode', '.nyc_output', '.package-lock.json', '.bin']);

/** Deletes from a folder and the folders in it. */
export function prune(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const isWaste = entry.isDirectory()
      ? FOLDERS.has(entry.name)
      : (FILES.test(entry.name) || DOCUMENTS.test(entry.name)) && !LICENCE.test(entry.name);
    if (isWaste || HIDDEN.has(entry.name)) rmSync(path, { recursive: true });
    else if (entry.isDirectory()) prune(path);
  }
}

if (process.argv[1]?.endsWith('prune.mjs')) {
  const [folder] = process.argv.slice(2);
  if (!folder) throw new Error('Usage: node prune.mjs FOLDER');
  prune(folder);
}
