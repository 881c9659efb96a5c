// Writes docs/platform-coverage.md (`npm run coverage-table`) from the results of the tests that name an
// acceptance row.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];
const OWN = 'test/contract/sandbox/platform-coverage.test.ts';

function jest(args, env = {}) {
  const run = spawnSync(process.execPath, [...JEST, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return run.status ?? 1;
}

const folder = mkdtempSync(join(tmpdir(), 'coverage-table-'));
const results = join(folder, 'results.json');
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((name) => name.endsWith('.test.ts') && name !== OWN)
  // Test files without a row id do not contribute to the page.
  .filter((name) => /['"`][A-Z]+-\d+/.test(readFileSync(name, 'utf8')));
try {
  const tests = jest(['--json', `--outputFile=${results}`, '--runTestsByPath', ...files]);
  const page = jest(['--runTestsByPath', OWN], { COVERAGE_RESULTS: results });
  process.exitCode = tests || page;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
