// Tests that the bridge accepts the settings file that the chart renders.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ConfigError, loadConfig } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/schema.ts';
import { configChecks } from '../../../src/sync/mapping/config-checks.ts';
import { CASES, ofKind, rendered } from './chart.ts';

const MOUNTED = '/etc/scim-bridge/secret';
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-chart-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Loads the settings file of a rendered chart as a pod would, with a secret file for each referenced name. */
function load(name: string): Config | string[] {
  const [map] = ofKind(rendered(name), 'ConfigMap').filter(({ data }) => data['bridge.yaml']);
  const place = join(folder, name);
  mkdirSync(join(place, 'secret'), { recursive: true });
  const text: string = map.data['bridge.yaml'].replaceAll(MOUNTED, join(place, 'secret'));
  for (const [, file = ''] of map.data['bridge.yaml'].matchAll(/\$\{file:([^}]+)\}/g)) {
    const secret = file.endsWith('REDIS_URL') ? 'redis://redis:6379' : `secret-of-${file.slice(MOUNTED.length + 1)}`;
    writeFileSync(join(place, 'secret', file.slice(MOUNTED.length + 1)), `${secret}\n`);
  }
  const file = join(place, 'bridge.yaml');
  writeFileSync(file, text);
  try {
    return loadConfig({ file, env: {}, cwd: place, checks: configChecks });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // A setting that this bridge does not support is no fault of the chart.
    const faults = error.faults.filter(({ path }) => path !== '/redis/cluster');
    return faults.map(({ path, message }) => `${path}: ${message}`);
  }
}

test.each(CASES)('the bridge accepts the settings that the chart renders from the values %s', (name) => {
  const loaded = load(name);
  expect(Array.isArray(loaded) ? loaded : []).toEqual([]);
});

test("the test of the chart's settings finds a planted fault", () => {
  const [map] = ofKind(rendered('minimal'), 'ConfigMap');
  const file = join(folder, 'wrong.yaml');
  writeFileSync(file, `${map.data['bridge.yaml'].replaceAll(MOUNTED, folder)}\nloging: {}\n`);
  expect(() => loadConfig({ file, env: {}, cwd: folder, checks: configChecks })).toThrow(ConfigError);
});

test('the settings that the chart renders have its ports and its reconcile schedule', () => {
  const text = (name: string): string =>
    ofKind(rendered(name), 'ConfigMap').find(({ data }) => data['bridge.yaml'])?.data['bridge.yaml'];
  for (const name of CASES) expect(parse(text(name)).server).toMatchObject({ port: 8080, adminPort: 8081, metricsPort: 9090 });
  expect(text('cronjob')).toContain('schedule: null');
  expect(text('cronjob')).toContain('expectedSchedule: 15 2 * * *');
  expect(text('roles-split')).toContain("schedule: '*/15 * * * *'");
});

test('no ConfigMap contains a secret', () => {
  for (const name of CASES) {
    for (const { data } of ofKind(rendered(name), 'ConfigMap')) {
      if (!data['bridge.yaml']) continue;
      const secrets = data['bridge.yaml'].match(/^\s*(- )?(secret|token|scimToken|adminToken|key): .*$/gm) ?? [];
      expect(secrets.length).toBeGreaterThan(1);
      for (const line of secrets) expect(line).toContain(`\${file:${MOUNTED}/`);
    }
  }
});
