// Prepares a release (`npm run release -- 1.2.0`), or checks the present state (`--check`, with the tag in a pipeline).
// `--notes` prints the release notes. How a release is made: docs/versions.md.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LICENSES, licensesText } from './licenses.mjs';
import { notesOf } from './notes.mjs';
import { ROOT } from './shipped-packages.mjs';
import {
  compareVersions,
  faultsOfNext,
  faultsOfState,
  isVersion,
  sectionsOf,
  VERSION_FILES,
  versionFor,
  withVersion,
} from './versions.mjs';

/** On PATH, or fetched by `.ci/test-tools.mjs`. */
const HELMS = ['helm', join(ROOT, '.local/bin/helm4')];
const STORED_DATA = 'test/fixtures/stored-data';
const USAGE =
  'Usage: npm run release -- VERSION|major|minor|patch [--date YYYY-MM-DD], --check [TAG], or --notes';

const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const readTexts = () =>
  Object.fromEntries(Object.entries(VERSION_FILES).map(([name, path]) => [name, read(path)]));
const currentOf = (texts) => JSON.parse(texts.manifest).version;
const git = (...args) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });

function fail(faults, advice) {
  for (const fault of faults) console.error(fault);
  console.error(advice);
  process.exit(1);
}

/** @returns why the checkout cannot be released from, as sentences */
function faultsOfCheckout(next) {
  const status = git('status', '--porcelain');
  if (status.status !== 0) return ['This folder is no checkout of git.'];
  return [
    ...(status.stdout === ''
      ? []
      : [`The checkout has changes: commit them first.\n${status.stdout.trimEnd()}`]),
    ...(git('tag', '--list', `v${next}`).stdout === '' ? [] : [`The tag v${next} exists already.`]),
  ];
}

/** A release that changes the version of the stored data is a major one (docs/versions.md). */
function faultsOfStoredData(current, next) {
  const [, dataVersion] = /DATA_VERSION = (\d+);/.exec(read('src/directory/fleet/data-version.ts')) ?? [];
  const faults = read('docs/versions.md').includes(`\n| ${dataVersion} `)
    ? []
    : [`docs/versions.md has no row for the data version ${dataVersion}.`];
  const last = readdirSync(join(ROOT, STORED_DATA))
    .map((name) => name.replace(/(\.backup)?\.ndjson$/, ''))
    .filter(isVersion)
    .sort(compareVersions)
    .at(-1);
  if (last === undefined) return [...faults, `${STORED_DATA} is empty.`];
  const stored = /:dataVersion","type":"string","value":"(\d+)"/.exec(
    read(`${STORED_DATA}/${last}.ndjson`),
  )?.[1];
  const isMajor = next.split('.')[0] !== current.split('.')[0];
  return stored === dataVersion || isMajor
    ? faults
    : [
        ...faults,
        `The data version is ${dataVersion}, and ${last} has ${stored}: only a major release may change it.`,
      ];
}

/** Every change that a tag contains has to be in the notes of its version. */
const faultsOfUnreleased = (texts, tag) =>
  ['changelog', 'chartChangelog'].flatMap((name) =>
    sectionsOf(texts[name]).get('Unreleased')
      ? [`${VERSION_FILES[name]} has changes under Unreleased, which ${tag} would ship without a mention.`]
      : [],
  );

function check(tag) {
  const texts = readTexts();
  const version = currentOf(texts);
  const faults = [
    ...faultsOfState(texts),
    ...(tag === undefined || tag === `v${version}`
      ? []
      : [`The tag is ${tag}, and package.json is ${version}.`]),
    ...(tag === undefined ? [] : faultsOfUnreleased(texts, tag)),
    ...faultsOfStoredData(version, version),
    ...(existsSync(join(ROOT, STORED_DATA, `${version}.ndjson`))
      ? []
      : [
          `${STORED_DATA}/${version}.ndjson is missing: UPDATE_STORED_DATA=${version} npm test -- test/e2e/stored-data`,
        ]),
    ...(licensesText() === readFileSync(LICENSES, 'utf8')
      ? []
      : ['THIRD-PARTY-LICENSES is not current: npm run licenses']),
  ];
  if (faults.length > 0) fail(faults, `${version} cannot be released.`);
  console.log(
    `${version} is consistent: package.json, lock file, chart, changelogs, licences and stored data.`,
  );
}

/** Steps that make files again which contain the version. */
const rendered = (version) => [
  ['chart', { UPDATE_CHART: '1' }, ['npm', 'test', '--silent', '--', 'test/unit/helm']],
  ['licences', {}, ['node', '.ci/release/licenses.mjs']],
  ['stored data', { UPDATE_STORED_DATA: version }, ['npm', 'test', '--silent', '--', 'test/e2e/stored-data']],
];

function render(version) {
  for (const [what, env, [command, ...args]] of rendered(version)) {
    console.log(`${what} ...`);
    const run = spawnSync(command, args, {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...env },
    });
    if (run.status !== 0)
      fail(
        [`${command} ${args.join(' ')} failed.`],
        'Correct it, and begin again after: git restore . && git clean -f test',
      );
  }
}

function prepare(order, date, renders) {
  const texts = readTexts();
  const current = currentOf(texts);
  const next = versionFor(order, current);
  const faults = [
    ...faultsOfNext(texts, next),
    ...(/^\d{4}-\d{2}-\d{2}$/.test(date) ? [] : [`${date} is no date: write it as 2026-11-24.`]),
    ...faultsOfCheckout(next),
    ...faultsOfStoredData(current, next),
    ...(renders && !HELMS.some((helm) => spawnSync(helm, ['version']).status === 0)
      ? ['helm is missing, which renders the chart: node .ci/test-tools.mjs']
      : []),
  ];
  if (faults.length > 0) fail(faults, `${next} is not prepared, and nothing was changed.`);
  for (const [name, text] of Object.entries(withVersion(texts, next, date)))
    writeFileSync(join(ROOT, VERSION_FILES[name]), text);
  if (renders) {
    render(next);
    check();
  }
  console.log(
    `${next} is prepared. Read the differences, then: git add --all && git commit -m 'chore: release ${next}', and tag it v${next}.`,
  );
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: 'boolean' },
    notes: { type: 'boolean' },
    date: { type: 'string' },
    'no-render': { type: 'boolean' },
  },
});
const [order] = positionals;
if (positionals.length > 1) fail([], USAGE);
else if (values.notes) console.log(notesOf(readTexts(), process.env));
else if (values.check) check(order);
else if (order !== undefined)
  prepare(order, values.date ?? new Date().toISOString().slice(0, 10), !values['no-render']);
else {
  check();
  console.log(USAGE);
}
