// Tests that docs/metrics.md equals the output of `npm run metrics-page`, and that pages name existing metrics only.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS, SHARED_HELP } from '../../../src/support/metrics.ts';
import { SERIES } from '../helm/metric-names.ts';

const ROOT = join(import.meta.dirname, '../../..');
const { metricsPage } = (await import(join(ROOT, '.ci/metrics-page.mjs'))) as {
  metricsPage: (definitions: unknown, shared: string) => string;
};

test('docs/metrics.md has every metric with its type, labels and meaning', () => {
  expect(readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8')).toBe(metricsPage(METRICS, SHARED_HELP));
});

test('every metric that a page of docs names is exported by the bridge', () => {
  const names = [...SERIES, ...Object.values(METRICS).map(({ name }) => name)];
  const exists = (named: string): boolean =>
    names.some((name) => (named.endsWith('*') ? name.startsWith(named.slice(0, -1)) : name === named));
  const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`);
  const named = [...pages, 'README.md', 'helm/scim-bridge/README.md'].flatMap((page) =>
    (readFileSync(join(ROOT, page), 'utf8').match(/\bbridge_[a-z_]*[a-z](?:_\*)?/g) ?? []).map((name) => [
      page,
      name,
    ]),
  );
  expect(named.length).toBeGreaterThan(Object.keys(METRICS).length);
  expect(named.filter(([, name = '']) => !exists(name))).toEqual([]);
});
