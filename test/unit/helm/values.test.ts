// Tests the schema of the chart's values, and their list in the README.
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { CASES, chartFile, chartYaml } from './chart.ts';

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const defaults = chartYaml('values.yaml') as Tree;
const schema = JSON.parse(chartFile('values.schema.json')) as Tree;
const isValid = new Ajv({ allErrors: true, strict: false }).compile(schema);

/** Merges values over the defaults as helm does: mappings are merged, null removes, all other values replace. */
function over(given: Tree, base: Tree): Tree {
  const merged = { ...base };
  for (const [key, value] of Object.entries(given)) {
    const below = merged[key];
    if (value === null) delete merged[key];
    else merged[key] = isTree(value) && isTree(below) ? over(value, below) : value;
  }
  return merged;
}

function faults(given: Tree): string[] {
  if (isValid(over(given, defaults))) return [];
  return (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const minimal = parse(chartFile('ci/minimal-values.yaml')) as Tree;

test.each(CASES)('the values schema accepts the values %s', (name) => {
  expect(faults(parse(chartFile(`ci/${name}-values.yaml`)) as Tree)).toEqual([]);
});

test('without values the three required settings are reported', () => {
  expect(faults({})).toEqual(
    ['redis', 'connections', 'targets'].map((key) => `/config must have required property '${key}'`),
  );
});

test.each([
  ['a misspelt key', { replicaCount: 3 }, 'must NOT have additional properties'],
  ['a misspelt key deep inside', { all: { keda: { enable: true } } }, '/all/keda must NOT have'],
  ['an unknown topology', { topology: 'triple' }, '/topology must be equal to one of'],
  ['an unknown runner', { reconcile: { runner: 'cron' } }, '/reconcile/runner must be equal'],
  ['a tag where a digest belongs', { image: { digest: 'latest' } }, '/image/digest must match'],
  ['port 0', { service: { port: 0 } }, '/service/port must be >= 1'],
  ['an address that is not of Redis', { config: { redis: { url: 'http://redis' } } }, '/config/redis/url must match'],
  ['text for a number', { preStopSeconds: '10' }, '/preStopSeconds must be integer'],
])('the values schema refuses values with %s', (_what, values, says) => {
  expect(faults(over(values, minimal)).join('\n')).toContain(says);
});

/** Returns the paths of values that the README documents. */
function paths(tree: Tree, path = ''): string[] {
  return Object.entries(tree).flatMap(([key, value]) =>
    isTree(value) && Object.keys(value).length > 0 ? paths(value, `${path}${key}.`) : [`${path}${key}`],
  );
}

test('the README lists every value of the chart', () => {
  const readme = chartFile('README.md');
  const listed = new Set([...readme.matchAll(/^\| `([^`]+)`/gm)].map(([, path]) => path));
  const isListed = (path: string): boolean =>
    listed.has(path) || (path.includes('.') && isListed(path.slice(0, path.lastIndexOf('.'))));
  // The roles share one table in the README.
  const shared = paths(defaults).map((path) => path.replace(/^(all|api|worker|scheduler)\./, '<role>.'));
  expect(shared.filter((path) => !isListed(path))).toEqual([]);
});
