// Installs Chromium for the tests of the operators' page and promtool for the tests of the alerts, on Debian
// machines where this process is root, and helm 3 and 4 for the tests of the chart on Linux with an x64 processor.
// On other machines these tests are skipped.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apt, canInstall, has, install } from './apt.mjs';
import { fetchHelm } from './helm.mjs';

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell'];
const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '.local', 'bin');

/** Extracts promtool from the package; installing the package would start Prometheus as a service. */
function fetchPromtool() {
  console.error('Fetching promtool (apt-get download prometheus) ...');
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-promtool-'));
  try {
    // The user of apt's own sandbox may not write to this folder.
    if (!apt(['download', '-o', 'APT::Sandbox::User=root', 'prometheus'], { cwd: folder })) return;
    const [archive = ''] = readdirSync(folder);
    mkdirSync(bin, { recursive: true });
    const unpack = 'dpkg-deb --fsys-tarfile "$0" | tar -xC "$1" --strip-components=3 ./usr/bin/promtool';
    spawnSync('sh', ['-c', unpack, join(folder, archive), bin], { stdio: ['ignore', 'ignore', 'inherit'] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const isForHelm = process.platform === 'linux' && process.arch === 'x64';
const wanted = [
  ...(isForHelm && !has('unzip') ? [() => install('unzip')] : []),
  ...(BROWSERS.some(has) ? [] : [() => install('chromium-headless-shell')]),
  ...(has('promtool') || existsSync(join(bin, 'promtool')) ? [] : [fetchPromtool]),
];
if (wanted.length > 0 && process.getuid?.() === 0 && canInstall() && apt(['update'])) {
  for (const bring of wanted) bring();
}
if (isForHelm && has('unzip')) fetchHelm(bin);
