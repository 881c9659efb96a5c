// Tests that `npm run release` changes all files of a version together, and refuses inconsistent ones.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATA_VERSION } from '../../../src/directory/fleet/data-version.ts';

const ROOT = join(import.meta.dirname, '../../..');
const { compareVersions, versionFor } = (await import(join(ROOT, '.ci/release/versions.mjs'))) as {
  compareVersions: (one: string, other: string) => number;
  versionFor: (order: string, current: string) => string;
};
const CURRENT = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
const MINOR = versionFor('minor', CURRENT);
const COPIED = [
  'package.json',
  'package-lock.json',
  'CHANGELOG.md',
  'THIRD-PARTY-LICENSES',
  'docs/versions.md',
].concat(
  [
    'helm/scim-bridge/Chart.yaml',
    'helm/scim-bridge/CHANGELOG.md',
    '.ci/release',
    'test/fixtures/stored-data',
  ],
  ['src/directory/fleet/data-version.ts'],
);

const CHANGELOGS = ['CHANGELOG.md', 'helm/scim-bridge/CHANGELOG.md'];

let folder: string;
const path = (name: string): string => join(folder, name);
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@acme.example', ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
const change = (name: string, from: string | RegExp, to: string): void =>
  writeFileSync(path(name), readFileSync(path(name), 'utf8').replace(from, to));
const release = (...args: string[]) => {
  const env = {
    ...process.env,
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'Acme/scim-bridge',
  };
  const { status, stdout, stderr } = spawnSync(process.execPath, ['.ci/release/release.mjs', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env,
  });
  return { status, out: stdout, errors: stderr };
};
const addUnreleased = (): void => {
  change('CHANGELOG.md', /^## /m, '## Unreleased\n\n### Fixed\n\n- A fault.\n\n## ');
  git('commit', '-qam', 'fix: a fault');
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scim-bridge-release-'));
  for (const name of COPIED) cpSync(join(ROOT, name), path(name), { recursive: true });
  // The tests start from changelogs without unreleased changes, independent of the present content of the repository.
  for (const name of CHANGELOGS) change(name, /^## Unreleased\n[^]*?(?=^## \d)/m, '');
  symlinkSync(join(ROOT, 'node_modules'), path('node_modules'));
  writeFileSync(path('.gitignore'), 'node_modules\n');
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'first');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the release check passes for this repository and for the tag of its version, and refuses another tag', () => {
  expect(release('--check')).toMatchObject({
    status: 0,
    out: expect.stringContaining(`${CURRENT} is consistent`),
  });
  expect(release('--check', `v${CURRENT}`).status).toBe(0);
  expect(release('--check', 'v0.9.0')).toMatchObject({
    status: 1,
    errors: expect.stringContaining('The tag is v0.9.0'),
  });
});

test.each(CHANGELOGS)(
  'a release tag is refused while %s has unreleased changes; without a tag the check passes',
  (name) => {
    change(name, /^## /m, '## Unreleased\n\n- A change.\n\n## ');
    expect(release('--check').status).toBe(0);
    expect(release('--check', `v${CURRENT}`)).toMatchObject({
      status: 1,
      errors: expect.stringContaining(
        `${name} has changes under Unreleased, which v${CURRENT} would ship without a mention`,
      ),
    });
  },
);

test('setting a version changes package, lock file, chart and both changelogs, and nothing else', () => {
  addUnreleased();
  const { status, errors } = release('minor', '--date', '2027-01-31', '--no-render');
  expect([status, errors]).toEqual([0, '']);
  const lock = JSON.parse(readFileSync(path('package-lock.json'), 'utf8'));
  expect([lock.version, lock.packages[''].version]).toEqual([MINOR, MINOR]);
  expect(readFileSync(path('package.json'), 'utf8')).toContain(`"version": "${MINOR}"`);
  const chart = readFileSync(path('helm/scim-bridge/Chart.yaml'), 'utf8');
  expect(chart.match(/^(version|appVersion): .*$/gm)).toEqual([`version: ${MINOR}`, `appVersion: ${MINOR}`]);
  const heading = `## ${MINOR} (2027-01-31)`;
  expect(readFileSync(path('CHANGELOG.md'), 'utf8')).toContain(
    `${heading}\n\n### Fixed\n\n- A fault.\n\n## ${CURRENT}`,
  );
  expect(readFileSync(path('helm/scim-bridge/CHANGELOG.md'), 'utf8')).toContain(`${heading}\n\nNo change`);
  const diff = git('diff', '--numstat').trim().split('\n');
  expect(diff.map((line) => line.split('\t').slice(0, 2).map(Number)).flat()).toEqual([
    1, 1, 4, 0, 2, 2, 2, 2, 1, 1,
  ]);
  const notes = release('--notes').out;
  expect(notes).toMatch(/^### Fixed\n\n- A fault\.\n\n## Chart\n\nNo change/);
  expect(notes).toContain(`ghcr.io/acme/scim-bridge:${MINOR}`);
  expect(notes).toContain(
    `https://github.com/Acme/scim-bridge/blob/v${MINOR}/docs/security.md#verify-a-release`,
  );
});

test.each([
  ['a checkout with changes', () => writeFileSync(path('new.txt'), ''), 'minor', 'The checkout has changes'],
  ['the same version', () => undefined, CURRENT, `${CURRENT} is not greater than ${CURRENT}`],
  ['an older version', () => undefined, '0.9.0', `0.9.0 is not greater than ${CURRENT}`],
  ['text that is no version', () => undefined, 'v2', 'v2 is no version'],
  ['a tag that exists', () => git('tag', `v${MINOR}`), 'minor', `The tag v${MINOR} exists`],
  [
    'a chart of another version',
    () => {
      change('helm/scim-bridge/Chart.yaml', /^appVersion: .*$/m, 'appVersion: 0.9.0');
      git('commit', '-qam', 'chore: a chart');
    },
    'minor',
    'Chart.yaml, appVersion is 0.9.0',
  ],
  [
    'another data version in a minor release',
    () => {
      change(
        'src/directory/fleet/data-version.ts',
        /DATA_VERSION = \d+/,
        `DATA_VERSION = ${DATA_VERSION + 1}`,
      );
      git('commit', '-qam', 'feat: another form');
    },
    'minor',
    'only a major release may change it',
  ],
])('the release script refuses %s and writes nothing', (_name, spoil, order, words) => {
  addUnreleased();
  spoil();
  const before = git('status', '--porcelain');
  expect(release(order, '--no-render')).toMatchObject({ status: 1, errors: expect.stringContaining(words) });
  expect(git('status', '--porcelain')).toBe(before);
});

test.each([
  ['without the section Unreleased', () => undefined],
  [
    'with an empty section Unreleased',
    () => (change('CHANGELOG.md', /^## /m, '## Unreleased\n\n## '), git('commit', '-qam', 'x')),
  ],
])('the release check refuses a changelog %s', (_name, spoil) => {
  spoil();
  expect(release('minor', '--no-render')).toMatchObject({
    status: 1,
    errors: expect.stringContaining('CHANGELOG.md has no section "## Unreleased" with content'),
  });
});

test('versions are ordered as in Semantic Versioning', () => {
  const ordered = [
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
  ];
  ordered.push('1.0.0', '1.0.9', '1.0.10', '1.9.0', '1.10.0', '2.0.0');
  expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered);
  expect(['major', 'minor', 'patch', '3.0.0-rc.1'].map((order) => versionFor(order, '1.2.3'))).toEqual([
    '2.0.0',
    '1.3.0',
    '1.2.4',
    '3.0.0-rc.1',
  ]);
});
