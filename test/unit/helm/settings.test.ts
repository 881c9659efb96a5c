import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/schema.ts';
import { configChecks } from '../../../src/sync/config-checks.ts';
import { CASES, ofKind, rendered } from './chart.ts';

const MOUNTED = '/etc/scim-bridge/secret';
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-chart-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Loads the settings file of a rendered chart as a pod would, with a secret file for each name it refers to. */
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
    // A feature that the bridge lacks is no fault of the chart.
    const faults = error.faults.filter(({ path }) => path !== '/redis/cluster');
    return faults.map(({ path, message }) => `${path}: ${message}`);
  }
}

test.each(CASES)('the bridge accepts the settings of %s', (name) => {
  const loaded = load(name);
  expect(Array.isArray(loaded) ? loaded : []).toEqual([]);
});

test('a fault in the settings would be found', () => {
  const [map] = ofKind(rendered('minimal'), 'ConfigMap');
  const file = join(folder, 'wrong.yaml');
  writeFileSync(file, `${map.data['bridge.yaml'].replaceAll(MOUNTED, folder)}\nloging: {}\n`);
  expect(() => loadConfig({ file, env: {}, cwd: folder, checks: configChecks })).toThrow(ConfigError);
});

test('the chart decides about ports and the timetable', () => {
  const text = (name: string): string =>
    ofKind(rendered(name), 'ConfigMap').find(({ data }) => data['bridge.yaml'])?.data['bridge.yaml'];
  for (const name of CASES) expect(text(name)).toMatch(/metricsPort: 9090\n {2}port: 8080/);
  expect(text('cronjob')).toContain('schedule: null');
  expect(text('roles-split')).toContain("schedule: '*/15 * * * *'");
});

test('no secret stands in a ConfigMap', () => {
  for (const name of CASES) {
    for (const { data } of ofKind(rendered(name), 'ConfigMap')) {
      if (!data['bridge.yaml']) continue;
      const secrets = data['bridge.yaml'].match(/^\s*(- )?(secret|token|scimToken|adminToken): .*$/gm) ?? [];
      expect(secrets.length).toBeGreaterThan(1);
      for (const line of secrets) expect(line).toContain(`\${file:${MOUNTED}/`);
    }
  }
});
