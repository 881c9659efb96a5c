// Judges and changes the files that carry the version of the project: pure functions of their texts.

/** Files by the name under which the functions below take their texts. */
export const VERSION_FILES = {
  manifest: 'package.json',
  lock: 'package-lock.json',
  chart: 'helm/scim-bridge/Chart.yaml',
  changelog: 'CHANGELOG.md',
  chartChangelog: 'helm/scim-bridge/CHANGELOG.md',
};

const SEMVER = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;
const HEADING = /^## (?:(Unreleased)|(\S+) \((\d{4}-\d{2}-\d{2})\))$/;

export const isVersion = (text) => SEMVER.test(text);

/** Compares as Semantic Versioning says. @returns less than zero when `one` is the older version */
export function compareVersions(one, other) {
  const [a, b] = [one, other].map((text) => SEMVER.exec(text));
  for (const part of [1, 2, 3]) if (a[part] !== b[part]) return Number(a[part]) - Number(b[part]);
  if (a[4] === b[4]) return 0;
  if (a[4] === undefined || b[4] === undefined) return a[4] === undefined ? 1 : -1;
  return comparePreReleases(a[4].split('.'), b[4].split('.'));
}

function comparePreReleases(ones, others) {
  for (const [index, one] of ones.entries()) {
    const other = others[index];
    if (other === undefined) return 1;
    if (one === other) continue;
    const [isNumber, isOtherNumber] = [one, other].map((text) => /^\d+$/.test(text));
    if (isNumber && isOtherNumber) return Number(one) - Number(other);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return ones.length - others.length;
}

/** @returns the version that `major`, `minor` or `patch` leads to; other orders are versions themselves */
export function versionFor(order, current) {
  const [, major, minor, patch] = SEMVER.exec(current).map(Number);
  if (order === 'major') return `${major + 1}.0.0`;
  if (order === 'minor') return `${major}.${minor + 1}.0`;
  return order === 'patch' ? `${major}.${minor}.${patch + 1}` : order;
}

/** @returns the sections of a changelog by version, or `Unreleased`, without their headings */
export function sectionsOf(changelog) {
  const sections = new Map();
  let lines;
  for (const line of changelog.split('\n')) {
    const heading = HEADING.exec(line);
    if (heading) sections.set(heading[1] ?? heading[2], (lines = []));
    else if (/^## /.test(line)) lines = undefined;
    else lines?.push(line);
  }
  return new Map([...sections].map(([name, text]) => [name, text.join('\n').trim()]));
}

const chartField = (chart, field) => new RegExp(`^${field}: "?([^"\\s]+)"?$`, 'm').exec(chart)?.[1];

/** @returns the versions that the files name, by place */
export function versionsIn({ manifest, lock, chart }) {
  const { version, packages } = JSON.parse(lock);
  return {
    'package.json': JSON.parse(manifest).version,
    'package-lock.json': version,
    'package-lock.json, packages': packages[''].version,
    'Chart.yaml, version': chartField(chart, 'version'),
    'Chart.yaml, appVersion': chartField(chart, 'appVersion'),
  };
}

/** @returns what does not fit together, as sentences */
export function faultsOfState(texts) {
  const versions = versionsIn(texts);
  const version = versions['package.json'];
  const faults = Object.entries(versions)
    .filter(([, found]) => found !== version)
    .map(([place, found]) => `${place} is ${found}, and package.json is ${version}.`);
  for (const name of ['changelog', 'chartChangelog'])
    if (!sectionsOf(texts[name]).get(version))
      faults.push(`${VERSION_FILES[name]} has no section "## ${version} (date)" with content.`);
  return faults;
}

/** @returns why `next` cannot follow the present state, as sentences */
export function faultsOfNext(texts, next) {
  if (!isVersion(next)) return [`${next} is no version: write it as 1.2.3, or say major, minor or patch.`];
  const current = JSON.parse(texts.manifest).version;
  const sections = sectionsOf(texts.changelog);
  return [
    ...faultsOfState(texts),
    ...(compareVersions(next, current) > 0 ? [] : [`${next} is not greater than ${current}.`]),
    ...(sections.has(next) ? [`CHANGELOG.md has a section ${next} already.`] : []),
    ...(sections.get('Unreleased')
      ? []
      : [
          'CHANGELOG.md has no section "## Unreleased" with content: write there what changes for operators.',
        ]),
  ];
}

function closeSection(changelog, next, date) {
  const heading = `## ${next} (${date})`;
  if (sectionsOf(changelog).get('Unreleased')) return changelog.replace(/^## Unreleased$/m, heading);
  const rest = changelog.replace(/^## Unreleased\n+/m, '');
  return rest.replace(/^## /m, `${heading}\n\nNo change of the chart itself.\n\n## `);
}

/** @returns the texts of all files with the version `next` */
export function withVersion({ manifest, lock, chart, changelog, chartChangelog }, next, date) {
  const current = JSON.parse(manifest).version;
  const line = `"version": "${current}"`;
  const replaceFirst = (text, times) => {
    let left = times;
    return text.replaceAll(line, (found) => (left-- > 0 ? `"version": "${next}"` : found));
  };
  return {
    manifest: replaceFirst(manifest, 1),
    // The first two are those of the project; a package may have the same version.
    lock: replaceFirst(lock, 2),
    chart: chart.replace(/^(version|appVersion): .*$/gm, `$1: ${next}`),
    changelog: closeSection(changelog, next, date),
    chartChangelog: closeSection(chartChangelog, next, date),
  };
}
