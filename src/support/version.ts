// Reads the version of scim-bridge from package.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The path is valid in `src/` and in `dist/`. */
export function packageVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
