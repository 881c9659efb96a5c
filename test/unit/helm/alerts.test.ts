// Tests the alert rules of the chart: their metrics, labels, documentation, and the situations in which they fire.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTool, testWith } from '../../support/needs.ts';
import { seriesOf, SITUATIONS } from './alert-situations.ts';
import {
  CHART,
  chartYaml,
  HELMS,
  helmTemplate,
  NAMESPACE,
  objectsOf,
  ofKind,
  rendered,
  valuesFile,
} from './chart.ts';
import { OTHERS } from './longer-situations.ts';
import { CRONJOB_SERIES, labelsOf, SERIES, seriesIn } from './metric-names.ts';

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url?: string };
}

const ALERTS: Alert[] = chartYaml('files/alerts.yaml').groups.flatMap((group: any) => group.rules);
const NAMES = ALERTS.map(({ alert }) => alert);
const SECTIONS = readFileSync(join(import.meta.dirname, '../../../docs/alerts.md'), 'utf8');
const PROMTOOL = findTool('promtool');

describe.each(ALERTS)('$alert', ({ alert, expr, labels, annotations }) => {
  test('the alert uses only metrics that the bridge or kube-state-metrics exports, in every deployment mode', () => {
    expect(seriesIn(expr).length).toBeGreaterThan(0);
    expect(seriesIn(expr).filter((name) => ![...SERIES, ...CRONJOB_SERIES].includes(name))).toEqual([]);
    // The chart replaces these selectors; an expression without them would read metrics of other installations.
    expect(expr.match(/bridge_[a-z_]+(?!\{job!=""|[a-z_])/g)).toBeNull();
    expect(expr.match(/kube_[a-z_]+(?!\{cronjob=~"\.\*scim-bridge\.\*-backup"\}|[a-z_])/g)).toBeNull();
  });

  test('the alert has a severity label and a summary', () => {
    expect(['critical', 'warning']).toContain(labels.severity);
    for (const text of [annotations.summary, annotations.description]) expect(text.length).toBeGreaterThan(10);
  });

  test('the alert has a section in docs/alerts.md', () => {
    expect(SECTIONS.match(new RegExp(`^## ${alert}$`, 'gm'))).toHaveLength(1);
  });

  test('the alert fires in at least one tested situation', () => {
    const causes = [...Object.values(SITUATIONS), ...OTHERS].filter(({ fires }) => fires.includes(alert));
    expect(causes.length).toBeGreaterThan(0);
  });
});

test('every section of docs/alerts.md has an alert', () => {
  const entries = [...SECTIONS.matchAll(/^## (ScimBridge\w+)$/gm)].map(([, name]) => name);
  expect(entries.sort()).toEqual([...NAMES].sort());
});

test("docs/alerts.md lists the critical alerts in the order of the chart's rules", () => {
  const [, list = ''] = /Critical are (.+)\.$/m.exec(SECTIONS) ?? [];
  const critical = ALERTS.filter(({ labels }) => labels.severity === 'critical').map(({ alert }) => alert);
  const listed = [...list.matchAll(/\[(\w+)\]/g)].map(([, name]) => `ScimBridge${name}`);
  expect(listed).toEqual(critical);
});

test("the chart's alerts read only metrics of the release's namespace, and values can omit alerts and set the runbook address", () => {
  const rulesOf = (name: string): Alert[] =>
    ofKind(rendered(name), 'PrometheusRule')[0].spec.groups.flatMap((group: any) => group.rules);
  for (const { expr } of rulesOf('ha')) {
    expect(expr).not.toContain('job!=""');
    expect(seriesIn(expr)).toHaveLength(expr.split(`{namespace="${NAMESPACE}"`).length - 1);
  }
  expect(rulesOf('ha').map(({ alert }) => alert)).toEqual(
    NAMES.filter((name) => name !== 'ScimBridgeBackupMissing'),
  );
  expect(rulesOf('ha')[0]?.annotations.runbook_url).toBe(
    `https://runbooks.example.com/scim-bridge#${NAMES[0]?.toLowerCase()}`,
  );
  expect(rulesOf('roles-split').map(({ alert }) => alert)).toEqual(
    NAMES.filter((name) => !['ScimBridgeNoPushes', 'ScimBridgeBackupMissing'].includes(name)),
  );
  const stale = rulesOf('cronjob').find(({ alert }) => alert === 'ScimBridgeReconcileStale');
  expect(stale?.expr).toContain('2 * 86400');
  expect(stale?.labels.severity).toBe('warning');
});

test('with backups enabled the chart alerts about missing backups of its own CronJob only', () => {
  const objects = rendered('backup');
  const cronJob = ofKind(objects, 'CronJob').find(({ metadata }) => metadata.name.endsWith('-backup'));
  const rules: Alert[] = ofKind(objects, 'PrometheusRule')[0].spec.groups.flatMap((group: any) => group.rules);
  const expr = rules.find(({ alert }) => alert === 'ScimBridgeBackupMissing')?.expr ?? '';
  const { namespace, name } = cronJob.metadata;
  const selectors = [...expr.matchAll(/kube_cronjob_\w+(\{[^}]*\})/g)].map(([, selector]) => selector);
  expect(selectors).toEqual(Array(5).fill(`{namespace="${namespace}",cronjob="${name}"}`));
});

testWith(HELMS.size > 0, 'helm')('with reconcile.runner: none the chart has no alert about reconciles', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-values-'));
  const file = join(folder, 'values.yaml');
  writeFileSync(
    file,
    'reconcile: { runner: none }\nmetrics: { prometheusRule: { enabled: true, disabled: [ScimBridgeLag] } }\n',
  );
  const { text } = helmTemplate([valuesFile('minimal'), file]);
  rmSync(folder, { recursive: true });
  const rules: Alert[] = ofKind(objectsOf(text), 'PrometheusRule')[0].spec.groups.flatMap(
    (group: any) => group.rules,
  );
  const absent = ['Lag', 'ReconcileFails', 'ReconcileNever', 'ReconcileStale', 'BackupMissing'].map(
    (name) => `ScimBridge${name}`,
  );
  expect(rules.map(({ alert }) => alert)).toEqual(NAMES.filter((name) => !absent.includes(name)));
});

/** Runs tests of promtool with the alert rules of the chart. @returns `as expected`, or the output of promtool */
function resultOf(tests: object[], every = '5m'): string {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-alerts-'));
  const file = join(folder, 'situations.yaml');
  const rules = join(CHART, 'files/alerts.yaml');
  writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: every, tests }));
  const { status, stdout, stderr } = spawnSync(PROMTOOL ?? '', ['test', 'rules', file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return status === 0 ? 'as expected' : stdout + stderr;
}

testWith(PROMTOOL !== undefined, 'promtool')('each alert fires in its situation, and no other alert fires there', () => {
  const ten = Object.entries(SITUATIONS).map(([name, situation]) => ({
    name,
    series: seriesOf(situation),
    at: '9h58m',
    fires: situation.fires,
  }));
  const testOf = ({ name, interval = '1m', series, at, fires }: (typeof OTHERS)[number]): object => ({
    name,
    interval,
    input_series: Object.entries(series).map(([key, values]) => ({
      series: key.replace('{', '{job="scim-bridge",namespace="n",'),
      values,
    })),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: at,
        exp_samples: fires.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
      },
    ],
  });
  const situations: typeof OTHERS = [...ten, ...OTHERS];
  for (const interval of ['5m', '30m']) {
    const tests = situations.filter(({ every = '5m' }) => every === interval).map(testOf);
    expect(tests).not.toEqual([]);
    expect(resultOf(tests, interval)).toBe('as expected');
  }
}, 120_000);

testWith(PROMTOOL !== undefined, 'promtool')('a token expires → its alerts first give the time left, and then say that it has expired', () => {
  const labels = { namespace: 'n', connection: 'default', token: 'primary' };
  const series = 'bridge_token_expiry_timestamp_seconds{job="j",namespace="n",connection="default",token="primary"}';
  const told = (alert: string, evalTime: string, end: string): object => {
    const rule = ALERTS.find((each) => each.alert === alert);
    const summary = `Token primary of default ${end}`;
    const annotations = { summary, description: rule?.annotations.description };
    return {
      eval_time: evalTime,
      alertname: alert,
      exp_alerts: [{ exp_labels: { ...labels, ...rule?.labels }, exp_annotations: annotations }],
    };
  };
  const tests = ['ScimBridgeTokenExpires', 'ScimBridgeTokenExpiresSoon'].map((alert) => ({
    interval: '1m',
    // Seven hours, in seconds.
    input_series: [{ series, values: '25200x600' }],
    alert_rule_test: [told(alert, '5h', 'expires in 2h 0m 0s'), told(alert, '8h', 'has expired')],
  }));
  expect(resultOf(tests)).toBe('as expected');
}, 120_000);

/** Labels that Prometheus adds to every scraped series. */
const SCRAPED = ['job', 'namespace', 'instance'];

test('alerts select and group by labels that the bridge sets', () => {
  const strangers: string[] = [];
  const check = (where: string, series: string, labels: string[]): void => {
    const known = [...SCRAPED, ...(labelsOf(series) ?? [])];
    for (const label of labels) if (!known.includes(label)) strangers.push(`${where}: ${label} of ${series}`);
  };
  const namesIn = (text: string): string[] =>
    [...text.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, name = '']) => name);
  for (const { alert, expr } of ALERTS) {
    for (const [, series = '', selector = ''] of expr.matchAll(/\b((?:bridge|kube)_[a-z_]+)\{([^}]*)\}/g))
      check(alert, series, namesIn(selector));
    const all = seriesIn(expr).flatMap((series) => labelsOf(series) ?? []);
    for (const [, by = ''] of expr.matchAll(/\bby \(([^)]*)\)/g)) {
      const grouped = by.split(/,\s*/).filter((label) => ![...SCRAPED, ...all].includes(label));
      strangers.push(...grouped.map((label) => `${alert}: by ${label}`));
    }
  }
  for (const { series } of [...Object.values(SITUATIONS).map((each) => ({ series: seriesOf(each) })), ...OTHERS]) {
    for (const name of Object.keys(series)) {
      const [, family = '', labels = ''] = /^([a-z_]+)\{(.*)\}$/.exec(name) ?? [];
      check('situation', family, namesIn(labels));
    }
  }
  expect(strangers).toEqual([]);
});
