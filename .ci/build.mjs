// Compiles src to dist with tsc and copies all other files, such as Lua scripts. With --if-needed it does
// nothing while dist is newer than every source.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'dist', '.built');

function files(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const sources = [...files('src'), ...['package-lock.json', 'tsconfig.json'].map((name) => join(root, name))];
const newest = Math.max(...sources.map((file) => statSync(file).mtimeMs));
const fresh = existsSync(stamp) && statSync(stamp).mtimeMs > newest;
if (!(process.argv.includes('--if-needed') && fresh)) {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const tsc = spawnSync(process.execPath, [compiler, '-p', join(root, '.ci', 'tsconfig.build.json')], {
    stdio: 'inherit',
  });
  if (tsc.status !== 0) process.exit(tsc.status ?? 1);
  for (const file of files('src').filter((name) => !name.endsWith('.ts'))) {
    cpSync(file, file.replace(join(root, 'src'), join(root, 'dist')));
  }
  chmodSync(join(root, 'dist', 'main.js'), 0o755);
  writeFileSync(stamp, '');
}
