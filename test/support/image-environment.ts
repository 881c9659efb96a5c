// Reads the environment of the container image, so that a test starts the process as the image does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Variables that each test sets itself. */
const OWN = new Set(['PORT', 'HOST']);

/** @returns the variables of the ENV lines of the Dockerfile, such as NODE_OPTIONS with the heap limit */
export function imageEnvironment(): Record<string, string> {
  const dockerfile = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
  const lines = [...dockerfile.matchAll(/^ENV (.+)$/gm)].map(([, assignments = '']) => assignments);
  const pairs = lines.flatMap((line) => [...line.matchAll(/(\w+)=("[^"]*"|\S+)/g)]);
  return Object.fromEntries(
    pairs
      .map(([, name = '', value = '']) => [name, value.replaceAll('"', '')] as const)
      .filter(([name]) => !OWN.has(name)),
  );
}
