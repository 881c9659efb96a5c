// Reads the version of scim-bridge from package.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the version, and the revision that the image sets in SCIM_BRIDGE_REVISION. */
export const versionText = ({ SCIM_BRIDGE_REVISION: revision }: NodeJS.ProcessEnv): string =>
  revision ? `${packageVersion()} (revision ${revision})` : packageVersion();

/** Returns the version in package.json, which is two folders above in `src/` and in `dist/`. */
export function packageVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
