// Tests that docs/settings-reference.md equals the output of `npm run settings-page`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

test('docs/settings-reference.md has every setting of config/bridge.schema.json', async () => {
  const path = join(ROOT, '.ci/settings-page.mjs');
  const { settingsPage } = (await import(path)) as { settingsPage: (schema: unknown) => string };
  expect(read('docs/settings-reference.md')).toBe(
    settingsPage(JSON.parse(read('config/bridge.schema.json'))),
  );
});
