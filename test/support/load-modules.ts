// Loads the modules that src loads on demand, one after another. A test imports this file before it runs commands at the same
// time: Jest may fail to link a module that several ask for at once ("request for … is not in cache").
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SRC = join(import.meta.dirname, '../../src');
for (const name of readdirSync(SRC, { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.ts')) continue;
  const file = join(SRC, name);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/import\('(\.[^']+)'\)/g))
    await import(join(dirname(file), path ?? ''));
}
