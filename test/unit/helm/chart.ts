// Reads the chart for tests: its files, the complete sets of values in ci/, and the rendered manifests. Only helm
// renders templates, and not every machine has helm. So the rendered manifests are stored in test/fixtures/helm with
// the hash of the chart: a test fails when the chart changed and was not rendered again. Where helm is found they are
// rendered and compared, by helm 3 and by helm 4 if both are there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { parseAllDocuments, parse } from 'yaml';
import { findTool } from '../../support/needs.ts';

export const CHART = join(import.meta.dirname, '../../../helm/scim-bridge');
export const RENDERED = join(import.meta.dirname, '../../fixtures/helm');
export const RELEASE = 'bridge';
export const NAMESPACE = 'identity';
export const UPDATE = 'node .ci/test-tools.mjs && UPDATE_CHART=1 npm test -- test/unit/helm/rendering.test.ts';

/** Sets of values in ci/, by name. */
export const CASES = ['minimal', 'ha', 'locked-down', 'cronjob', 'roles-split', 'backup'];

/** A Kubernetes object as parsed YAML. */
export type Manifest = any;

export const chartFile = (name: string): string => readFileSync(join(CHART, name), 'utf8');
export const chartYaml = (name: string): any => parse(chartFile(name));
export const valuesFile = (name: string): string => join(CHART, 'ci', `${name}-values.yaml`);

/** Every file that the rendering depends on. */
export function chartHash(): string {
  const hash = createHash('sha256');
  const files = readdirSync(CHART, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) hash.update(`${relative(CHART, file)}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

export const renderedText = (name: string): string => readFileSync(join(RENDERED, `${name}.yaml`), 'utf8');

export function objectsOf(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0]) throw document.errors[0];
    const object: Manifest = document.toJS();
    return object === null ? [] : [object];
  });
}

export const rendered = (name: string): Manifest[] => objectsOf(renderedText(name));

export const kindOf = (object: Manifest): string => `${object.apiVersion} ${object.kind}`;
export const ofKind = (objects: Manifest[], kind: string): Manifest[] =>
  objects.filter((object) => object.kind === kind);

/** Returns the pod specs of all workloads, with the labels of their pods. */
export function podsOf(objects: Manifest[]): { name: string; labels: any; spec: any }[] {
  return objects.flatMap((object) => {
    const name: string = `${object.kind}/${object.metadata.name}`;
    if (object.kind === 'Pod') return [{ name, labels: object.metadata.labels, spec: object.spec }];
    const template = object.kind === 'CronJob' ? object.spec.jobTemplate.spec.template : object.spec?.template;
    return template?.spec ? [{ name, labels: template.metadata.labels, spec: template.spec }] : [];
  });
}

/** Returns whether labels match a selector of matchLabels. */
export const isSelected = (selector: Record<string, string>, labels: Record<string, string>): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);

const pathsOf = (...names: string[]): string[] => names.flatMap((name) => findTool(name) ?? []);
const both = pathsOf('helm4', 'helm3');

/** Paths of helm by the name of the program; `.ci/test-tools.mjs` fetches helm 3 and helm 4. */
export const HELMS = new Map((both.length > 0 ? both : pathsOf('helm')).map((path) => [basename(path), path]));
/** Names for tests that run once with each helm; one name where none is found, so that the skipped tests are counted. */
export const HELM_NAMES = HELMS.size > 0 ? [...HELMS.keys()] : ['helm'];

/** @returns the output of helm: the manifests, or its error */
export function helmTemplate(valueFiles: string[], helm = HELM_NAMES[0] ?? 'helm'): { ok: boolean; text: string } {
  const values = valueFiles.flatMap((file) => ['--values', file]);
  const args = ['template', RELEASE, CHART, '--namespace', NAMESPACE, ...values];
  const { status, stdout, stderr } = spawnSync(HELMS.get(helm) ?? helm, args, { encoding: 'utf8' });
  return status === 0 ? { ok: true, text: stdout } : { ok: false, text: stderr };
}
