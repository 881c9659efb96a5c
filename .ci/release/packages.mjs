// Builds the npm packages (`npm run packages`): scim-bridge and @scim-bridge/platform-client, as archives in
// .local/packages or in the folder of `--out`. `--repository URL` names the source, as npm's provenance needs it.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readJson, stagePlatformClient, writeJson } from './platform-client.mjs';
import { ROOT } from './shipped-packages.mjs';

/** Members of package.json that only a checkout needs. */
const OF_A_CHECKOUT = ['private', 'scripts', 'jest', 'prettier', 'devDependencies'];

/** Folders whose types the export `./platform` of package.json reaches. */
const TYPED = ['dist/platform/', 'dist/support/'];

/** Returns whether the package needs the file: types only where a program can import them. */
const isForUsers = (file) =>
  !file.endsWith('.d.ts') || TYPED.some((folder) => file.startsWith(join(ROOT, folder)));

/** Copies the bridge as npm would pack it from a checkout, without types that no program can import. */
function stageBridge(to) {
  const manifest = readJson('package.json');
  for (const path of [...manifest.files.filter((each) => !each.startsWith('!')), 'README.md', 'LICENSE'])
    cpSync(join(ROOT, path), join(to, path), { recursive: true, filter: isForUsers });
  writeJson(
    join(to, 'package.json'),
    Object.fromEntries(Object.entries(manifest).filter(([name]) => !OF_A_CHECKOUT.includes(name))),
  );
}

function pack(folder, out) {
  const npm = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (npm.status !== 0) throw new Error(`npm pack failed: ${npm.stderr}`);
  const [{ name, version, filename, size, unpackedSize, entryCount }] = JSON.parse(npm.stdout);
  return { name, version, file: join(out, filename), size, unpackedSize, entryCount };
}

const { values } = parseArgs({
  options: { out: { type: 'string' }, repository: { type: 'string' }, json: { type: 'boolean' } },
});
const out = resolve(values.out ?? join(ROOT, '.local/packages'));
rmSync(out, { recursive: true, force: true });
const build = spawnSync(process.execPath, [join(ROOT, '.ci/build.mjs'), '--if-needed'], { stdio: 'inherit' });
if (build.status !== 0) process.exit(1);
const packed = [
  ['scim-bridge', stageBridge],
  ['platform-client', stagePlatformClient],
].map(([name, stage]) => {
  const folder = join(out, name);
  mkdirSync(folder, { recursive: true });
  stage(folder);
  if (values.repository) {
    const manifest = join(folder, 'package.json');
    writeJson(manifest, {
      ...JSON.parse(readFileSync(manifest, 'utf8')),
      repository: { type: 'git', url: values.repository },
    });
  }
  return pack(folder, out);
});
if (values.json) console.log(JSON.stringify(packed));
else
  for (const { name, version, file, size, unpackedSize, entryCount } of packed)
    console.log(
      `${name} ${version}: ${Math.ceil(size / 1024)} KB packed, ${Math.ceil(unpackedSize / 1024)} KB in ${entryCount} files, ${file}`,
    );
