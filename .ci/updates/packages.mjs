// Writes the newest version within the same major of each package into package.json, and makes the lock file again.
// Prints what changed; a newer major is only named, because it needs a person.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/* global structuredClone */

const GROUPS = ['dependencies', 'optionalDependencies', 'devDependencies'];
const npm = (...args) => spawnSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/**
 * @param {Record<string, { current?: string, latest: string }>} outdated as `npm outdated --json` prints it
 * @returns the manifest with newer versions, and lines that tell what is new
 */
export function updated(manifest, outdated) {
  const lines = [];
  const result = structuredClone(manifest);
  for (const [name, { latest }] of Object.entries(outdated)) {
    const group = GROUPS.find((each) => result[each]?.[name] !== undefined);
    if (!group) continue;
    const current = result[group][name];
    const isSameMajor = latest.split('.')[0] === current.split('.')[0];
    lines.push(
      `${name} ${current} → ${latest}${isSameMajor ? '' : ': another major version, left as it is'}`,
    );
    if (isSameMajor) result[group][name] = latest;
  }
  return { manifest: result, lines };
}

if (process.argv[1]?.endsWith('packages.mjs')) {
  // npm exits 1 when something is outdated.
  const outdated = JSON.parse(npm('outdated', '--json').stdout || '{}');
  const { manifest, lines } = updated(JSON.parse(readFileSync('package.json', 'utf8')), outdated);
  for (const line of lines) console.log(line);
  writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
  process.exitCode = npm('install', '--package-lock-only', '--no-audit', '--no-fund').status ?? 1;
}
