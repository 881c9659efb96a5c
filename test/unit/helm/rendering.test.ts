// Tests that the stored manifests equal the rendered chart, and that the chart refuses wrong values.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, parseDocument, stringify } from 'yaml';
import { describeWith } from '../../support/needs.ts';
import {
  CASES,
  CHART,
  chartFile,
  chartHash,
  HELM_NAMES,
  HELMS,
  helmTemplate,
  objectsOf,
  rendered,
  renderedText,
  RENDERED,
  UPDATE,
  valuesFile,
  type Manifest,
} from './chart.ts';
import { SECRET_PATTERNS } from '../../../src/config/secrets.ts';
import { REFUSED } from './refused-values.ts';
import { settingsSchema } from './settings-schema.ts';

const HASH_FILE = join(RENDERED, 'of-chart.sha256');
const REFUSALS_FILE = join(RENDERED, 'refusals.yaml');
const withEachHelm = describeWith(HELMS.size > 0, 'helm').each(HELM_NAMES);
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-chart-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

if (HELMS.size > 0 && process.env.UPDATE_CHART === '1') {
  const schema = JSON.parse(chartFile('values.schema.json'));
  schema.properties.config = settingsSchema();
  writeFileSync(join(CHART, 'values.schema.json'), `${JSON.stringify(schema, null, 2)}\n`);
  for (const name of CASES) {
    const { ok, text } = helmTemplate([valuesFile(name)]);
    if (!ok) throw new Error(text);
    writeFileSync(join(RENDERED, `${name}.yaml`), text);
  }
  const refusals = Object.keys(REFUSED).map((name) => [name, refusal(name)]);
  writeFileSync(REFUSALS_FILE, stringify(Object.fromEntries(refusals), { lineWidth: 0 }));
  writeFileSync(HASH_FILE, `${chartHash()}\n`);
}

/** Returns the error messages of the chart, or a note that it accepts the values. */
function refusal(name: string, helm?: string): string[] {
  const file = (what: string): string => join(folder, `${name.replaceAll(/\W+/g, '-')}-${what}.yaml`);
  const { values, base = 'minimal', without = [] } = REFUSED[name] ?? {};
  // The key is not set to null in the values: releases of helm differ in whether null removes a key of another file.
  const document = parseDocument(readFileSync(valuesFile(base), 'utf8'));
  if (without.length > 0) document.deleteIn(without);
  writeFileSync(file('base'), document.toString());
  writeFileSync(file('values'), stringify(values));
  const { ok, text } = helmTemplate([file('base'), file('values')], helm);
  if (ok) return ['not refused'];
  return text.split('\n').flatMap((line) => (line.startsWith('* ') ? [line.slice(2)] : []));
}

/** Releases of helm differ in how they write YAML, so YAML inside strings is compared by its content. */
function normalised(objects: Manifest[]): Manifest[] {
  const copies = objects.map((object) => {
    const copy = structuredClone(object);
    if (copy.data?.['bridge.yaml']) copy.data['bridge.yaml'] = parse(copy.data['bridge.yaml']);
    const annotations = copy.spec?.template?.metadata?.annotations ?? {};
    for (const key of Object.keys(annotations)) if (key.startsWith('checksum/')) annotations[key] = 'of YAML';
    return copy;
  });
  const place = (object: Manifest): string => `${object.kind}/${object.metadata.name}`;
  return copies.sort((a, b) => place(a).localeCompare(place(b)));
}

test('the chart checks the value `config` by the current schema of the settings', () => {
  expect(JSON.parse(chartFile('values.schema.json')).properties.config).toEqual(settingsSchema());
});

test('the stored manifests were rendered from the current chart', () => {
  const made = readFileSync(HASH_FILE, 'utf8').trim();
  expect(made === chartHash() ? 'up to date' : `the chart changed: render it anew with ${UPDATE}`).toBe(
    'up to date',
  );
});

const kept = parse(readFileSync(REFUSALS_FILE, 'utf8')) as Record<string, string[]>;

withEachHelm('%s', (helm) => {
  test.each(CASES)('helm renders the values %s as the stored manifests', (name) => {
    const { ok, text } = helmTemplate([valuesFile(name)], helm);
    expect(ok ? 'rendered' : text).toBe('rendered');
    expect(normalised(objectsOf(text))).toEqual(normalised(rendered(name)));
  });
  test.each(Object.keys(REFUSED))('helm refuses the values %s with the stored message', (name) => {
    expect(refusal(name, helm)).toEqual(kept[name]);
  });
});

test.each(CASES)('the chart renders the values %s without template leftovers', (name) => {
  const text = renderedText(name);
  expect(text).not.toMatch(/<no value>|<nil>|%!|map\[/);
  expect(rendered(name).length).toBeGreaterThan(5);
});

test.each(Object.keys(REFUSED))('the chart refuses the contradictory values: %s', (name) => {
  expect(kept[name]).toEqual([expect.stringContaining(REFUSED[name]?.says ?? '')]);
});

/** Matches the name that the chart gives to a setting: connections/default/tokens/0/secret is config.connections.default.tokens[0].secret. */
const placeOf = (pattern: string): RegExp =>
  new RegExp(`^config${pattern.replaceAll('/*', String.raw`(\.[\w-]+|\[\d+\])`).replaceAll(/(^|\/)(?=\w)/g, String.raw`\.`)} `);

test.each(SECRET_PATTERNS)('the chart refuses a plain secret in a setting that the pattern %s masks', (pattern) => {
  const says = Object.values(REFUSED).map((each) => each.says);
  expect(says.filter((each) => placeOf(pattern).test(each))).not.toEqual([]);
});
