// Tests the demo: one command, its output and its exit code.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScenarios } from '../support/scenario.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');

interface Run {
  code: number | null;
  output: string;
  errors: string;
}

async function runDemo(folder: string, onOutput?: (output: string, pid: number) => void): Promise<Run> {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1', TMPDIR: folder };
  // The demo starts its own Redis, independent of the test run.
  delete env.REDIS_URL;
  const child = spawn(process.execPath, [MAIN, 'demo'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const run: Run = { code: null, output: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    run.output += text;
    onOutput?.(run.output, child.pid ?? 0);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (run.errors += text));
  [run.code] = (await once(child, 'close')) as [number | null];
  return run;
}

/** The demo's temporary files go into one folder, so that remaining files are found. */
const test = createScenarios(
  () => mkdtempSync(join(tmpdir(), 'scim-bridge-test-')),
  (folder) => rmSync(folder, { recursive: true, force: true }),
);

test('the demo ends with equal source and platform, and leaves no files behind', async (folder) => {
  const { code, output, errors } = await runDemo(folder);
  expect(errors).toBe('');
  expect(code).toBe(0);
  // Plain lines: no colours, no cursor movements.
  expect(output).not.toContain('\u001b');
  const rows = output.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' | '));
  const amara = 'PT | 5 | false | 4100,4200,4300 | region-emea | analysts, region-emea | active';
  expect(rows).toContain(`✔ Amara Okafor | ${amara}`);
  expect(rows[rows.indexOf(`✔ Amara Okafor | ${amara}`) + 1]).toBe(`platform | ${amara}`);
  expect(rows).toContain('✔ Ida Berg | DK | 3 | false | 7200 | region-nord | region-nord | active');
  expect(rows).toContain('✔ Georg Steiner | CH | 3 | true | 7000 | – | finance | inactive');
  expect(rows).toContain('✔ equal | 24 of 24 people, 6 of 6 groups');
  expect(rows).toContain('✔ identical push | 0 platform calls');
  expect(output).toMatch(/push to applied +p50 \S+.* ms, p99 \S+.* ms over 35 changes/);
  expect(output).toMatch(/✔ access +each sees only their own rows; push to row \d+ ms/);
  expect(output).toMatch(/✔ Daniel Kim, analyst, US +Core Data US (\d+) +chat US \1/);
  expect(output).toMatch(/✔ Keiko Tanaka, analyst, JP +Core Data JP (\d+) +chat JP \1/);
  expect(output).toMatch(/Carmen Ortega.* chat nothing/);
  expect(output).toMatch(/Hugo Martins leaves.* answer cut off; asked again: internalId is not/);
  for (const stage of ['push', 'stored', 'applied', 'visible'])
    expect(output).toMatch(new RegExp(`✔ ${stage} +20`));
  expect(output).not.toContain('✘');
  expect(readdirSync(folder)).toEqual([]);
}, 60_000);

test('an interrupted demo reports the interruption, removes its files and exits with an error code', async (folder) => {
  let sent = false;
  const { code, errors } = await runDemo(folder, (output, pid) => {
    if (sent || !output.includes('The first day')) return;
    sent = true;
    process.kill(pid, 'SIGTERM');
  });
  expect(code).toBe(1);
  expect(errors).toContain('Interrupted (SIGTERM)');
  expect(readdirSync(folder)).toEqual([]);
}, 60_000);
