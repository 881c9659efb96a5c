// Tests the summary of a test run in the pipeline.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SUMMARY = join(import.meta.dirname, '../../../.ci/summary.mjs');
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-summary-'));
afterAll(() => rmSync(folder, { recursive: true }));

function summary(passed: number, failed: number, skipped: string[]): { code: number; text: string } {
  const file = join(folder, 'report.json');
  const assertionResults = skipped.map((fullName) => ({ status: 'pending', fullName }));
  const counts = { numPassedTests: passed, numFailedTests: failed, numFailedTestSuites: 0 };
  writeFileSync(file, JSON.stringify({ ...counts, testResults: [{ assertionResults }] }));
  try {
    return { code: 0, text: execFileSync(process.execPath, [SUMMARY, file], { encoding: 'utf8' }) };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { code: status, text: stdout };
  }
}

describe('the summary of a test run', () => {
  it('the summary counts skipped tests by reason, and ends with the number of passed and failed tests', () => {
    const { code, text } = summary(7, 2, [
      'a [needs helm on PATH]',
      'page [needs Chromium] b',
      'c [needs helm on PATH]',
    ]);
    expect(text).toBe('2 skipped: needs helm on PATH\n1 skipped: needs Chromium\n7 passed, 2 failed\n');
    expect(code).toBe(0);
  });

  it('the summary fails when a test is skipped without a reason', () => {
    expect(summary(7, 0, ['a test'])).toEqual({
      code: 1,
      text: 'skipped without a reason: a test\n7 passed, 0 failed\n',
    });
  });

  it('the summary fails when no test passed', () => {
    expect(summary(0, 0, [])).toEqual({ code: 1, text: '0 passed, 0 failed\n' });
  });
});
