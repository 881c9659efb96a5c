// Tests that no two files of src export the same name.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const SRC = join(import.meta.dirname, '../../../src');
const EXPORT =
  /^export (?:declare )?(?:async )?(?:type|interface|function\*?|const|class|let|enum|abstract class) (\w+)/gm;
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

test('every name that a file of src exports is exported by that file only', () => {
  const exporters = new Map<string, string[]>();
  for (const file of files) {
    for (const [, name = ''] of readFileSync(join(SRC, file), 'utf8').matchAll(EXPORT)) {
      const list = exporters.get(name) ?? [];
      if (!list.includes(file)) list.push(file);
      exporters.set(name, list);
    }
  }
  const doubled = [...exporters].filter(([, list]) => list.length > 1);
  expect(exporters.size).toBeGreaterThan(500);
  expect(doubled).toEqual([]);
});
