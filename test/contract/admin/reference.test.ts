// Tests the generated pages of the reference against a bridge that runs: docs/admin-api.md against the OpenAPI document
// that it serves, and docs/metrics.md against its metrics.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (page: string): string => readFileSync(join(ROOT, 'docs', page), 'utf8');
const { adminApiPage } = (await import(join(ROOT, '.ci/admin-api-page.mjs'))) as {
  adminApiPage: (document: unknown) => string;
};
let rig: AdminRig;
const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };

beforeAll(async () => {
  rig = await openAdmin();
  await rig.bridge.idp.createUser('ada.lovelace@acme.example');
  await rig.untilSynced();
}, 60_000);
afterAll(() => rig.bridge.stop());

test('docs/admin-api.md equals the page that is generated from the OpenAPI document which a bridge serves', async () => {
  const document: unknown = await (await rig.raw('/admin/v1/openapi.json', { headers })).json();
  expect(read('admin-api.md')).toBe(adminApiPage(document));
});

test('docs/metrics.md lists exactly the metrics that a bridge serves, with their types, and every label that these metrics have', async () => {
  const text = await (await rig.raw('/metrics', { headers })).text();
  const served = [...text.matchAll(/^# TYPE (bridge_\w+) (\w+)$/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  );
  const listed = [...read('metrics.md').matchAll(/^- `(\w+)` \((\w+)(?:, labels ([^)]+))?\)/gm)];
  expect(listed.length).toBeGreaterThan(40);
  expect(listed.map(([, name, type]) => `${name} ${type}`).sort()).toEqual(served.sort());
  for (const [, name = '', , labels = ''] of listed) {
    const samples = [...text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} `, 'gm'))];
    const used = samples.flatMap(([, pairs = '']) =>
      [...pairs.matchAll(/(\w+)="/g)].map(([, label]) => label),
    );
    const known = [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label);
    expect([name, [...new Set(used)].filter((label) => label !== 'le' && !known.includes(label))]).toEqual([
      name,
      [],
    ]);
  }
});
