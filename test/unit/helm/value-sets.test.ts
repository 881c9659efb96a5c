import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { testWith } from '../../support/needs.ts';
import { hasHelm, helmTemplate, isSelected, objectsOf, ofKind, podsOf, valuesFile, type Manifest } from './chart.ts';
import { CUSTOM_KINDS, isBuiltIn, kindOf, strictFaults, validate } from './kubernetes.ts';
import { VALUE_SETS } from './value-sets.ts';

const withHelm = testWith(hasHelm(), 'helm on PATH');
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-value-sets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rendered = new Map<string, Manifest[]>();

/** Renders a set once. */
function objectsFor(name: string): Manifest[] {
  const known = rendered.get(name);
  if (known) return known;
  const { base, values } = VALUE_SETS[name] ?? { base: '', values: {} };
  const file = join(folder, `${rendered.size}.yaml`);
  writeFileSync(file, stringify(values));
  const { ok, text } = helmTemplate([valuesFile(base), file]);
  if (!ok) throw new Error(text);
  const objects = objectsOf(text);
  rendered.set(name, objects);
  return objects;
}

const names = Object.keys(VALUE_SETS);

withHelm.each(names)('%s: every object fits the schema of its kind and is there once', (name) => {
  const objects = objectsFor(name);
  for (const object of objects) {
    if (isBuiltIn(object)) validate(object);
    else expect(CUSTOM_KINDS).toContain(kindOf(object));
  }
  const places = objects.map((object) => `${kindOf(object)}/${object.metadata.name}`);
  expect(places).toEqual([...new Set(places)]);
});

withHelm(
  'no set renders a field that Kubernetes does not know',
  () => expect(strictFaults(names.flatMap(objectsFor))).toEqual([]),
  240_000,
);

withHelm.each(names)('%s: a Service that is reachable from outside has the port of SCIM alone', (name) => {
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

withHelm('the grace period follows preStopSeconds and drainMs, unless it is given', () => {
  expect(graceOf('a public load balancer')).toBe(10 + 3 + 45);
  expect(graceOf('a longer drain')).toBe(20 + 26 + 45);
  expect(graceOf('a grace period of its own')).toBe(300);
});

withHelm('topology both runs the roles of single and of split', () => {
  const roles = (name: string): string[] =>
    ofKind(objectsFor(name), 'Deployment').map(({ metadata }) => metadata.labels['app.kubernetes.io/component']);
  expect(roles('topology both').sort()).toEqual(['all', 'api', 'scheduler', 'worker']);
  expect(roles('topology both without a scheduler').sort()).toEqual(['all', 'api', 'worker']);
});

withHelm('alerts look at the metrics of their own release', () => {
  const expressions = (name: string): string =>
    JSON.stringify(ofKind(objectsFor(name), 'PrometheusRule')[0].spec.groups).replaceAll('\\"', '"');
  expect(expressions('two releases in one namespace')).toContain('{namespace="identity",job="second-metrics"');
  expect(expressions('another namespace')).toContain('{namespace="other",job="bridge-scim-bridge-metrics"');
});

withHelm('every image comes from the registry of the umbrella chart', () => {
  const images = podsOf(objectsFor('a mirror of images')).flatMap(({ spec }) =>
    spec.containers.map(({ image }: Manifest) => image),
  );
  for (const image of images) expect(image).toMatch(/^mirror\.example\.com:5000\/scim-bridge@/);
});

withHelm('a backup for a command is sent after it is whole', () => {
  const [job] = ofKind(objectsFor('backups to a command'), 'CronJob');
  const { initContainers, containers } = job.spec.jobTemplate.spec.template.spec;
  expect(initContainers.map(({ args }: Manifest) => args)).toEqual([['backup', '/backup/backup.ndjson', '--overwrite']]);
  expect(containers[0].command.slice(0, 4)).toEqual(['sh', '-c', 'exec "$0" "$@" < /backup/backup.ndjson', 'aws']);
});

withHelm.each(['a restore of a file', 'a restore by a command', 'a restore in a split topology'])(
  '%s: no pod of the service runs meanwhile, and the restore waits until the last one has ended',
  (name) => {
    const objects = objectsFor(name);
    for (const { spec } of ofKind(objects, 'Deployment')) expect(spec.replicas).toBe(0);
    expect([...ofKind(objects, 'HorizontalPodAutoscaler'), ...ofKind(objects, 'ScaledObject')]).toEqual([]);
    for (const { spec } of ofKind(objects, 'CronJob')) expect(spec.suspend).toBe(true);
    const [job] = ofKind(objects, 'Job');
    const [pause] = job.spec.template.spec.initContainers;
    expect(Number(pause.command[1])).toBe(graceOf(name));
    expect(job.spec.template.spec.containers[0].args[0]).toBe('restore');
  },
);
