// Tests that each kubectl and helm command of the pages, of the examples and of the notes of the chart names a namespace,
// and objects, labels and containers of the rendered chart.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CASES, chartFile, ofKind, podsOf, rendered, type Manifest } from '../helm/chart.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const PAGES = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((page) => page.endsWith('.md') && !page.startsWith('adr/'))
  .map((page) => `docs/${page}`)
  .concat('README.md', 'SECURITY.md', 'helm/scim-bridge/README.md');

interface Call {
  place: string;
  text: string;
}

const COMMAND = /^(kubectl|helm) /;
/** Code in backticks, and the lines of code blocks; a line that ends with a backslash goes on in the next one. */
function callsOfPage(place: string): Call[] {
  const text = read(place).replaceAll(/\\\n\s*/g, '');
  const blocks = [...text.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block = '']) => block.split('\n'));
  const inline = [...text.replaceAll(/```[^]*?```/g, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, code = '']) => code,
  );
  return [...blocks, ...inline].filter((each) => COMMAND.test(each)).map((each) => ({ place, text: each }));
}

/** Commands of the notes, with names as in the pages in place of template expressions. */
const callsOfNotes = (): Call[] =>
  chartFile('templates/NOTES.txt')
    .replaceAll(/\{\{ (?:include "scim-bridge.namespace" \.|\.Release\.Namespace) \}\}/g, '<namespace>')
    .replaceAll('{{ .Release.Name }}', 'bridge')
    .replaceAll(/\{\{ [^}]* \}\}/g, '<name>')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => COMMAND.test(line))
    .map((text) => ({ place: 'NOTES.txt', text }));

/** Commands of a script, and those that it prints. */
const callsOfScript = (place: string): Call[] =>
  read(place)
    .split('\n')
    .flatMap((line) => /(?:^(?:step )?|:\s+)((?:kubectl|helm) [^']+)/.exec(line)?.[1] ?? [])
    .map((text) => ({ place, text: text.replaceAll(/"?(\$here[^ "]*)"?/g, '$1') }));

const CALLS = [
  ...PAGES.flatMap(callsOfPage),
  ...callsOfNotes(),
  ...['docs/examples/kind/kind.sh', '.ci/chart/kind.sh'].flatMap(callsOfScript),
].filter(
  ({ text }) =>
    // The name of a command, not a command: `kubectl exec -it`, `helm upgrade`.
    !/^(kubectl|helm) [a-z-]+( -it)?$/.test(text) && !text.startsWith('kubectl create namespace '),
);

/** Rendered charts. The objects and the release that a command names must be in one of them. */
const CHARTS = CASES.map((name) => rendered(name));
const nameOf = (objects: Manifest[]): string =>
  ofKind(objects, 'ConfigMap').find(({ metadata }) => !metadata.name.endsWith('-dashboard'))?.metadata.name;
const KINDS: Record<string, string> = {
  deploy: 'Deployment',
  deployment: 'Deployment',
  cronjob: 'CronJob',
  service: 'Service',
};
/**
 * Verbs of the pages. `scale` is not among them: helm 4 refuses to set replicas that kubectl set, so that the next
 * upgrade would fail with a conflict.
 */
const VERBS = [
  'apply',
  'create',
  'delete',
  'describe',
  'exec',
  'get',
  'logs',
  'port-forward',
  'rollout',
  'wait',
];

function faultsOf(text: string): string[] {
  const found: string[] = [];
  const [tool = '', ...rest] = text.split(' -- ')[0]?.split(' ') ?? [];
  const hasNamespace = /--namespace (<namespace>|identity)( |$)/.test(text);
  if (tool === 'helm') {
    if (!hasNamespace && rest[0] !== 'template') found.push('no namespace');
    // The API server gives no log of a pod with several containers without the name of one, which helm does not send.
    const [tested] = CHARTS.flatMap((objects) => ofKind(objects, 'Pod'));
    if (rest.includes('--logs') && tested.spec.containers.length > 1)
      found.push('--logs fails: several containers');
    return found;
  }
  const verb = rest.slice(rest[0] === '--namespace' ? 2 : 0)[0] ?? '';
  if (!hasNamespace) found.push('no namespace');
  if (!VERBS.includes(verb)) found.push(`no verb of the pages: ${verb}`);
  for (const [, kind = '', name = ''] of text.matchAll(
    /\b(deploy|deployment|cronjob|service)\/([^\s'`]+)/g,
  )) {
    const isThere = CHARTS.some((objects) => {
      const own = name.replace(/<name>|bridge-scim-bridge/, nameOf(objects));
      return ofKind(objects, KINDS[kind] ?? kind).some(({ metadata }) => metadata.name === own);
    });
    if (!isThere && name !== 'redis') found.push(`no ${kind} ${name}`);
  }
  const [, label = '', value = ''] = /--selector (\S+?)=(\S+)/.exec(text) ?? [];
  const [, container] = /--container (\S+)/.exec(text) ?? [];
  const pods = CHARTS.flatMap((objects) => podsOf(objects)).filter(
    ({ labels }) => label === '' || labels[label] === value,
  );
  // No complete set of values renders the Job of a restore, so its label is read from the template.
  const isRestore =
    value === 'restore' && chartFile('templates/restore.yaml').includes('"component" "restore"');
  if (pods.length === 0 && !isRestore) found.push(`no pod with ${label}=${value}`);
  const containers = pods.flatMap(({ spec }) =>
    [...spec.containers, ...(spec.initContainers ?? [])].map(({ name }: { name: string }) => name),
  );
  if (isRestore) containers.push('restore');
  if (container !== undefined && !containers.includes(container)) found.push(`no container ${container}`);
  return found;
}

test('each kubectl and helm command in docs names a namespace, and only objects and containers of the chart', () => {
  expect(CALLS.length).toBeGreaterThan(40);
  expect(
    CALLS.flatMap(({ place, text }) => faultsOf(text).map((fault) => `${place}: ${text}: ${fault}`)),
  ).toEqual([]);
});
