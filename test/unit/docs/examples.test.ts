// Tests that the examples name settings, values, ports and commands that exist.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import type { Command } from 'commander';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { createProgram } from '../../../src/cli/index.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { findTool, testWith } from '../../support/needs.ts';
import { chartFile, helmTemplate, HELMS, objectsOf, type Manifest } from '../helm/chart.ts';

const examples = join(import.meta.dirname, '../../../docs/examples');
const read = (path: string): string => readFileSync(join(examples, path), 'utf8');
const documents = (path: string): Manifest[] =>
  parseAllDocuments(read(path)).map((document) => document.toJS());
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-examples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const compose = parse(read('compose/compose.yaml'));
const VALUES: Record<string, object> = {
  kind: parse(read('kind/values.yaml')),
  'argo-cd': documents('argo-cd/application.yaml')[0].spec.source.helm.valuesObject,
  flux: documents('flux/release.yaml')[1].spec.values,
};

test('docs/examples/README.md names each folder of the examples', () => {
  const folders = readdirSync(examples, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) expect(read('README.md')).toContain(`[${name}](${name}/)`);
});

test('the Compose example starts the sandbox with a command and options that exist', async () => {
  const program = await createProgram({ env: {}, cwd: '/', exit: () => undefined });
  const [name, ...args] = compose.services.sandbox.command as string[];
  const command = program.commands.find((known: Command) => known.name() === name);
  const known = command?.options.map(({ long }) => long);
  const options = args.filter((arg) => arg.startsWith('--'));
  expect(options.length).toBeGreaterThan(0);
  for (const option of options) expect(known).toContain(option);
});

test('the bridge accepts the settings of the Compose example, which name the addresses of its services', () => {
  const secret = join(folder, 'platform-token');
  writeFileSync(secret, 'sk-0123456789abcdef0123456789abcdef');
  const file = join(folder, 'bridge.yaml');
  writeFileSync(file, read('compose/bridge.yaml').replace('/tmp/platform-token', secret));
  const config = loadConfig({ file, env: {}, cwd: folder });
  const { sandbox, bridge, redis } = compose.services;
  expect(redis).toBeDefined();
  expect(config.redis.url).toBe('redis://redis:6379');
  expect(sandbox.command[sandbox.command.indexOf('--port') + 1]).toBe(
    new URL(config.targets.main?.url ?? '').port,
  );
  expect(sandbox.ports).toEqual([`127.0.0.1:8080:${config.server.port}`]);
  expect(bridge.network_mode).toBe('service:sandbox');
  expect(Number.parseInt(bridge.stop_grace_period)).toBeGreaterThanOrEqual(40 + config.server.drainMs / 1000);
  for (const volume of bridge.volumes)
    expect(existsSync(join(examples, 'compose', volume.split(':')[0]))).toBe(true);
  expect(read('README.md')).toContain(config.connections.default?.tokens[0]?.secret);
});

test('key.mjs of the Compose example writes a key that the sandbox accepts', async () => {
  const sandbox = await startSandbox();
  try {
    const file = join(folder, 'key');
    const { platformUrl, controlUrl } = sandbox.ready;
    const script = join(examples, 'compose/key.mjs');
    await promisify(execFile)(process.execPath, [script, file, controlUrl]);
    const headers = { authorization: `Bearer ${readFileSync(file, 'utf8')}` };
    expect((await fetch(`${platformUrl}/api/scim/v2/Users`, { headers })).status).toBe(200);
  } finally {
    await sandbox.stop();
  }
});

test.each(Object.keys(VALUES))('each value in the example %s exists in the chart', (name) => {
  const schema = JSON.parse(chartFile('values.schema.json'));
  const validate = new Ajv({ allErrors: true, strict: false }).compile({ ...schema, required: [] });
  validate(VALUES[name]);
  expect(validate.errors ?? []).toEqual([]);
});

const withHelm = testWith(HELMS.size > 0, 'helm');
const rendered = (name: string): Manifest[] => {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, stringify(VALUES[name]));
  const { ok, text } = helmTemplate([file]);
  if (!ok) throw new Error(text);
  return objectsOf(text);
};

withHelm.each(Object.keys(VALUES))('the chart renders the example values %s', (name) => {
  expect(rendered(name).filter(({ kind }) => kind === 'Deployment')).toHaveLength(1);
});

withHelm('the example script kind.sh uses only Services and ports of the chart', () => {
  const services = rendered('kind').filter(({ kind }) => kind === 'Service');
  const ports = new Map(services.map(({ metadata, spec }) => [metadata.name, spec.ports[0].port]));
  const named = [...read('kind/kind.sh').matchAll(/service\/(\S+) \d+:(\d+)/g)];
  expect(named).toHaveLength(2);
  for (const [, name, port] of named) expect([name, ports.get(name ?? '')]).toEqual([name, Number(port)]);
});

test('the examples for Argo CD and Flux name the current version of the chart', () => {
  const { version } = parse(chartFile('Chart.yaml'));
  expect(documents('argo-cd/application.yaml')[0].spec.source.targetRevision).toBe(version);
  expect(documents('flux/release.yaml')[0].spec.ref.tag).toBe(version);
});

test('the Terraform example names an address and a schema that the bridge has', () => {
  for (const file of ['okta.tf', 'entra.tf']) {
    expect(read(`terraform/${file}`)).toContain('"https://scim.example.com/scim/v2"');
  }
  const namespace = /external_namespace = "(.+)"/.exec(read('terraform/okta.tf'))?.[1];
  expect(namespace).toBe('urn:cube:params:1.0:UserAttribute');
});

const terraform = findTool('terraform');
testWith(terraform !== undefined, 'Terraform parses the files of the Terraform example')(
  'Terraform parses its files',
  () => {
    execFileSync(terraform ?? '', ['fmt', '-check', join(examples, 'terraform')], { stdio: 'ignore' });
  },
);
