// Finds the files that a compiled module needs: itself and all that it imports by relative path, with their types.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"']+)["']/g;

const specifiersOf = (file) =>
  [...readFileSync(file, 'utf8').matchAll(SPECIFIER)].map(([, specifier]) => specifier);

/** Types import modules with the name of their code. */
const typesOf = (file) => (file.endsWith('.d.ts') ? file : file.replace(/\.js$/, '.d.ts'));

/**
 * @param {string[]} entries absolute paths of modules (`.js`) or of their types (`.d.ts`)
 * @returns {{ files: string[], packages: string[] }} absolute paths, and names of packages as they are imported
 */
export function moduleClosure(entries) {
  const files = new Set();
  const packages = new Set();
  const open = [...entries];
  for (let file = open.pop(); file; file = open.pop()) {
    if (files.has(file)) continue;
    if (!existsSync(file)) throw new Error(`${file} is imported and does not exist: run npm run build`);
    files.add(file);
    for (const specifier of specifiersOf(file)) {
      // The types of csv-parse import `stream` without `node:`.
      if (specifier.startsWith('node:') || specifier === 'stream') continue;
      if (!specifier.startsWith('.')) packages.add(specifier);
      else {
        const found = join(dirname(file), specifier.replace(/\.ts$/, '.js'));
        open.push(file.endsWith('.d.ts') ? typesOf(found) : found);
      }
    }
  }
  return { files: [...files].sort(), packages: [...packages].sort() };
}
