// Prints the skipped tests by reason, then `N passed, M failed` as the last line. The argument is a report of
// `jest --json`. Fails when no test passed or when a test is skipped without a reason.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The end that `test/support/needs.ts` adds to the name of a skipped test. */
const REASON = / \[needs (.+?)\]/;

/** @returns the lines to print, and whether the report is acceptable */
export function summarise(report) {
  const skipped = new Map();
  for (const { assertionResults } of report.testResults) {
    for (const { status, fullName } of assertionResults) {
      if (status !== 'pending') continue;
      const reason = REASON.exec(fullName)?.[1] ?? null;
      skipped.set(reason, [...(skipped.get(reason) ?? []), fullName]);
    }
  }
  const lines = [...skipped].flatMap(([reason, names]) =>
    reason === null
      ? names.map((name) => `skipped without a reason: ${name}`)
      : [`${names.length} skipped: needs ${reason}`],
  );
  const { numPassedTests, numFailedTests, numFailedTestSuites } = report;
  // A test file that cannot be loaded counts as failed.
  lines.push(`${numPassedTests} passed, ${numFailedTests || numFailedTestSuites} failed`);
  return { lines, isAcceptable: numPassedTests > 0 && !skipped.has(null) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { lines, isAcceptable } = summarise(JSON.parse(readFileSync(process.argv[2], 'utf8')));
  console.log(lines.join('\n'));
  if (!isAcceptable) process.exitCode = 1;
}
