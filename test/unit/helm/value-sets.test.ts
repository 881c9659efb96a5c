// Tests the objects that the chart renders for sets of values as operators use them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { describeWith } from '../../support/needs.ts';
import {
  HELM_NAMES,
  HELMS,
  helmTemplate,
  isSelected,
  kindOf,
  objectsOf,
  ofKind,
  podsOf,
  valuesFile,
  type Manifest,
} from './chart.ts';
import { schemaFaults, strictFaults } from './kubernetes.ts';
import { VALUE_SETS } from './value-sets.ts';

const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-value-sets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const rendered = new Map<string, Manifest[]>();

/** Renders a set once with each helm. */
function render(helm: string, name: string): Manifest[] {
  const place = `${helm} ${name}`;
  const known = rendered.get(place);
  if (known) return known;
  const { base, values } = VALUE_SETS[name] ?? { base: '', values: {} };
  const file = join(folder, `${rendered.size}.yaml`);
  writeFileSync(file, stringify(values));
  const { ok, text } = helmTemplate([valuesFile(base), file], helm);
  if (!ok) throw new Error(text);
  const objects = objectsOf(text);
  rendered.set(place, objects);
  return objects;
}

const names = Object.keys(VALUE_SETS);

describeWith(HELMS.size > 0, 'helm').each(HELM_NAMES)('%s', (helm) => {
const objectsFor = (name: string): Manifest[] => render(helm, name);

test.each(names)('with the values %s each object is rendered once and fits the schema of its kind', (name) => {
  const objects = objectsFor(name);
  const faults = objects.map((object) => [object.kind, object.metadata.name, schemaFaults(object)]);
  expect(faults.filter(([, , found]) => found.length > 0)).toEqual([]);
  const places = objects.map((object) => `${kindOf(object)}/${object.metadata.name}`);
  expect(places).toEqual([...new Set(places)]);
  for (const { metadata } of objects) expect(metadata.name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
});

test(
  'no set of values renders a field that is unknown to Kubernetes',
  () => expect(strictFaults(names.flatMap(objectsFor))).toEqual([]),
  240_000,
);

test.each(names)('with the values %s a Service that is reachable from outside has only the SCIM port', (name) => {
  const objects = objectsFor(name);
  const inbound = podsOf(objects).filter(({ labels }) => labels['scim-bridge/takes'] === 'pushes');
  expect(inbound.length).toBeGreaterThan(0);
  for (const { metadata, spec } of ofKind(objects, 'Service')) {
    const ports = spec.ports.map(({ targetPort }: Manifest) => targetPort);
    if (spec.type !== 'ClusterIP') expect(ports).toEqual(['http']);
    if (ports.includes('http')) for (const { labels } of inbound) expect(isSelected(spec.selector, labels)).toBe(true);
    else expect([metadata.name, spec.type]).toEqual([metadata.name, 'ClusterIP']);
  }
});

const graceOf = (name: string): number =>
  ofKind(objectsFor(name), 'Deployment')[0].spec.template.spec.terminationGracePeriodSeconds;

test("a pod's termination grace period is preStopSeconds plus drain time plus 45 s, unless the values set it", () => {
  expect(graceOf('a public load balancer')).toBe(10 + 3 + 45);
  expect(graceOf('a longer drain')).toBe(20 + 26 + 45);
  expect(graceOf('a grace period of its own')).toBe(300);
});

test("the chart's topology `both` renders Deployments with the roles of `single` (all) and of `split` (api, scheduler, worker)", () => {
  const roles = (name: string): string[] =>
    ofKind(objectsFor(name), 'Deployment').map(({ metadata }) => metadata.labels['app.kubernetes.io/component']);
  expect(roles('topology both').sort()).toEqual(['all', 'api', 'scheduler', 'worker']);
  expect(roles('topology both without a scheduler').sort()).toEqual(['all', 'api', 'worker']);
});

test("the chart's alerts read only metrics of the release's namespace, and only of its job if two releases share the namespace", () => {
  const expressions = (name: string): string =>
    JSON.stringify(ofKind(objectsFor(name), 'PrometheusRule')[0].spec.groups).replaceAll('\\"', '"');
  expect(expressions('two releases in one namespace')).toContain('{namespace="identity",job="second-metrics"');
  expect(expressions('another namespace')).toContain('{namespace="other",job="bridge-scim-bridge-metrics"');
});

test('with a registry in the values of an umbrella chart every pod image comes from this registry', () => {
  const images = podsOf(objectsFor('a mirror of images')).flatMap(({ spec }) =>
    spec.containers.map(({ image }: Manifest) => image),
  );
  for (const image of images) expect(image).toMatch(/^mirror\.example\.com:5000\/scim-bridge@/);
});

test('with a registry in the values of an umbrella chart the images of the backup command come from this registry too', () => {
  const images = podsOf(objectsFor('a mirror for every image of a backup')).flatMap(({ spec }) =>
    [...(spec.initContainers ?? []), ...spec.containers].map(({ name, image }: Manifest) => [name, image]),
  );
  const ofChart = images.filter(([name]) => ['bridge', 'backup', 'send', 'settings', 'service'].includes(name));
  expect(ofChart.map(([name]) => name)).toContain('send');
  for (const [, image] of ofChart) expect(image).toMatch(/^mirror\.example\.com\//);
});

test('the load balancer admits only the given networks, and keeps the client address', () => {
  const [service, ...others] = ofKind(objectsFor('a load balancer for the networks of the provider'), 'Service');
  expect(service.spec).toMatchObject({
    type: 'LoadBalancer',
    loadBalancerClass: 'service.k8s.aws/nlb',
    loadBalancerSourceRanges: ['192.0.2.0/24', '2001:db8::/32'],
    externalTrafficPolicy: 'Local',
  });
  for (const { spec } of others) expect([spec.type, spec.loadBalancerSourceRanges]).toEqual(['ClusterIP', undefined]);
});

test('the Service is dual-stack if both address families are given', () => {
  const [service] = ofKind(objectsFor('both families of addresses'), 'Service');
  expect(service.spec).toMatchObject({ ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6', 'IPv4'] });
});

test('the backup command starts after the backup file is complete', () => {
  const [job] = ofKind(objectsFor('backups to a command'), 'CronJob');
  const { initContainers, containers } = job.spec.jobTemplate.spec.template.spec;
  expect(initContainers).toMatchObject([
    { args: [expect.stringContaining('scim-bridge backup /backup/backup.ndjson --overwrite')] },
  ]);
  expect(containers[0].command.slice(0, 4)).toEqual([
    'sh',
    '-c',
    expect.stringContaining('exec "$0" "$@" < /backup/backup.ndjson'),
    'aws',
  ]);
});

/** Returns a new folder with these programs, as shell scripts by name. */
function folderWith(programs: Record<string, string>): string {
  const at = mkdtempSync(join(folder, 'programs-'));
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(at, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return at;
}

/** Runs a shell script that finds the programs of the folder first. */
const runAt = (at: string, script: string, ...args: string[]) =>
  spawnSync('sh', ['-c', script, ...args], {
    encoding: 'utf8',
    env: { PATH: `${at}:${process.env.PATH}` },
  });

test.each([
  [0, 0, 0],
  [2, 0, 100],
  [2, 1, 1],
  [78, undefined, 78],
])(
  'backup ends with %s and the backup command with %s → the job ends with %s, and the file is sent whenever there is one',
  (ofBackup, ofCommand, expected) => {
    const [job] = ofKind(objectsFor('backups to a command'), 'CronJob');
    const { initContainers, containers } = job.spec.jobTemplate.spec.template.spec;
    const at = folderWith({ 'scim-bridge': `echo data > "$2"; exit ${ofBackup}` });
    const run = (script: string, ...args: string[]) =>
      runAt(at, script.replaceAll('/backup/', `${at}/`), ...args);
    const taken = run(initContainers[0].args[0]).status;
    const sent = join(at, 'sent');
    const send = () => run(containers[0].command[2], 'sh', '-c', `cat > ${sent}; exit ${ofCommand}`).status;
    expect(taken === 0 ? send() : taken).toBe(expected);
    expect(existsSync(sent)).toBe(taken === 0);
    expect(job.spec.jobTemplate.spec.podFailurePolicy.rules[0].onExitCodes.values).toEqual([100, 65, 78]);
  },
);

test('a backup to a volume that lacks damaged items → old backups and their parts are removed and no other file, and the job ends with 2 and is not tried again', () => {
  const [job] = ofKind(objectsFor('backups to a volume'), 'CronJob');
  const { podFailurePolicy, template } = job.spec.jobTemplate.spec;
  const at = folderWith({ 'scim-bridge': 'exit 2' });
  const [script] = template.spec.containers[0].args;
  const [, start] = /"\/backup\/(.+?)\$/.exec(script) ?? [];
  const old = ['', '.0123456789ab.part', '.gz', '.sha256'].map((end) => `${start}20200101T000000Z.ndjson${end}`);
  const others = [...old.slice(2), 'mine.ndjson'];
  const recent = `${start}20991231T000000Z.ndjson`;
  for (const name of [...old, 'mine.ndjson', recent]) writeFileSync(join(at, name), '');
  for (const name of [...old, 'mine.ndjson']) utimesSync(join(at, name), 0, 0);
  expect(runAt(at, script.replaceAll('/backup', at)).status).toBe(2);
  expect(readdirSync(at).sort()).toEqual([...others, recent, 'scim-bridge'].sort());
  expect(podFailurePolicy.rules[0].onExitCodes.values).toEqual([2, 65, 78]);
});

test.each(['a restore of a file', 'a restore by a command', 'a restore in a split topology'])(
  'during %s no pod of the service runs, and the restore waits until the last pod has ended',
  (name) => {
    const objects = objectsFor(name);
    for (const { spec } of ofKind(objects, 'Deployment')) expect(spec.replicas).toBe(0);
    expect([...ofKind(objects, 'HorizontalPodAutoscaler'), ...ofKind(objects, 'ScaledObject')]).toEqual([]);
    for (const { spec } of ofKind(objects, 'CronJob')) expect(spec.suspend).toBe(true);
    const [job] = ofKind(objects, 'Job');
    const [pause] = job.spec.template.spec.initContainers;
    // A killed process counts as running for 15 s.
    expect(Number(pause.command[1])).toBe(graceOf(name) + 20);
    expect(job.spec.template.spec.containers[0].args[0]).toBe('restore');
  },
);
});
