// Tests the Grafana dashboard of the chart.
import { chartFile, ofKind, rendered } from './chart.ts';
import { SERIES, seriesIn } from './metric-names.ts';

const dashboard = JSON.parse(chartFile('files/dashboard.json'));
const panels: any[] = dashboard.panels;
const shown = panels.filter(({ type }) => type !== 'row');
const variables: string[] = dashboard.templating.list.map(({ name }: { name: string }) => name);

test.each(shown)('the dashboard panel $title queries only metrics that the bridge exports', ({ targets, description }) => {
  expect(targets.length).toBeGreaterThan(0);
  expect(description).toMatch(/\w+.*\.$/);
  for (const { expr } of targets) {
    expect(seriesIn(expr).length).toBeGreaterThan(0);
    expect(seriesIn(expr).filter((name) => !SERIES.includes(name))).toEqual([]);
    // Every selector is limited to the selected installation.
    expect(expr.split('{job=~"$job",namespace=~"$namespace"')).toHaveLength(seriesIn(expr).length + 1);
    for (const [, name] of expr.matchAll(/\$(\w+)/g)) expect([...variables, '__rate_interval']).toContain(name);
  }
});

test('every metric of the bridge is on the dashboard', () => {
  const used = shown.flatMap(({ targets }) => targets.flatMap(({ expr }: { expr: string }) => seriesIn(expr)));
  const base = (name: string): string => name.replace(/_(bucket|sum|count)$/, '');
  const bases = new Set(used.map(base));
  expect([...new Set(SERIES.map(base))].filter((name) => !bases.has(name))).toEqual([]);
});

test('no two panels of the dashboard overlap, and their ids are unique', () => {
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  );
  expect(cells).toHaveLength(new Set(cells).size);
  expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24);
  expect(panels).toHaveLength(new Set(panels.map(({ id }) => id)).size);
});

test("the dashboard's ConfigMap has the label that Grafana's sidecar selects", () => {
  const map = ofKind(rendered('ha'), 'ConfigMap').find(({ data }) => data['scim-bridge.json']);
  expect(JSON.parse(map.data['scim-bridge.json'])).toEqual(dashboard);
  expect(map.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
});
