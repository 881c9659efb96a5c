// Tests that docs/settings.md names every section of the settings.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/settings.md'), 'utf8');
const schema = JSON.parse(readFileSync(join(root, 'config/bridge.schema.json'), 'utf8')) as {
  properties: Record<string, unknown>;
};

test.each(Object.keys(schema.properties))(
  'docs/settings.md names the section %s of the settings',
  (section) => {
    expect(page).toMatch(new RegExp(`\`${section}[\`.]`));
  },
);
