// Writes THIRD-PARTY-LICENSES (`npm run licenses`): the licence of every package that is shipped, with its text.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, shippedPackages } from './shipped-packages.mjs';

export const LICENSES = join(ROOT, 'THIRD-PARTY-LICENSES');
const FILE = /^(licen[cs]e|copying|notice)/i;
const RULE = '='.repeat(80);

const INTRODUCTION = `Licences of third-party software that scim-bridge is shipped with.

Written by \`npm run licenses\` from package-lock.json and node_modules. The image has the packages of the first
part, and beside them Node.js (MIT, https://github.com/nodejs/node/blob/main/LICENSE) and the packages of Debian
(/usr/share/doc/*/copyright in the image). The npm package scim-bridge contains none of them: npm installs them.
`;

/** @returns the texts of the licence files of a package; empty if it has none */
function textsOf(path) {
  const folder = join(ROOT, path);
  if (!existsSync(folder)) throw new Error(`${path} is not installed: run npm ci`);
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && FILE.test(entry.name) && !/\.[cm]?[jt]s$/.test(entry.name))
    .map(({ name }) => name)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim());
}

/** @returns the whole text of THIRD-PARTY-LICENSES */
export function licensesText() {
  const packages = shippedPackages();
  const sections = new Map();
  for (const { path, name, version, license } of packages.filter(({ isOptional }) => !isOptional)) {
    const texts = textsOf(path);
    const text =
      texts.length > 0 ? texts.join('\n\n') : `The package has no licence file. Its licence: ${license}.`;
    const key = `${license}\n\n${text}`;
    sections.set(key, [...(sections.get(key) ?? []), `${name} ${version}`]);
  }
  const shipped = [...sections].map(
    ([text, names]) => `${RULE}\n${[...new Set(names)].join('\n')}\n\nLicence: ${text}\n`,
  );
  const optional = packages
    .filter(({ isOptional }) => isOptional)
    .map(({ name, version, license }) => `${name} ${version}: ${license}`);
  const last = `${RULE}\nOptional packages, which npm installs for the sandbox and the image leaves out:\n\n${[...new Set(optional)].join('\n')}\n`;
  return [INTRODUCTION, ...shipped, last].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(LICENSES, licensesText());
