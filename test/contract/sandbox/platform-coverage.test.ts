// Tests that every acceptance row has a test and docs/platform-coverage.md lists it. `npm run coverage-table` writes
// the page: it runs the tests of all rows and passes their results to this file.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProofs, renderCoverage, rowsOf, testNames } from './coverage.ts';
import { SECTIONS } from './rows.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = join(ROOT, 'docs/platform-coverage.md');
const ids = SECTIONS.flatMap(({ rows }) => rows.map(([id]) => id));
const proofs = findProofs(ROOT);

interface JestResults {
  testResults: { assertionResults: { title: string; status: string }[] }[];
}

/** Returns `passed` for a row if all of its tests passed. */
function readResults(file: string): (row: string) => string {
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as JestResults;
  const results = new Map<string, string>();
  for (const { title, status } of testResults.flatMap((one) => one.assertionResults)) {
    for (const row of rowsOf(title)) {
      if (status !== 'passed' || !results.has(row)) results.set(row, status);
    }
  }
  return (row) => results.get(row) ?? 'no test';
}

test('row ids are read from the start of test names, also of names with %s or ${}, and not from skipped tests', () => {
  const source = `
    test('GEN-01 one', () => {}); it("GEN-02, GEN-03 and GEN-04 two", f);
    test.each([['GEN-05', 1]])('GEN-06 %s', f); test(\`GEN-07 \${x}\`, f);
    test.skip('GEN-08 skipped', f); other('GEN-09 none'); test('about GEN-10', f);`;
  expect(testNames('x.test.ts', source).flatMap(rowsOf)).toEqual([
    'GEN-01',
    'GEN-02',
    'GEN-03',
    'GEN-04',
    'GEN-06',
    'GEN-07',
  ]);
});

test('the sandbox has the 462 acceptance rows of the contract, each once, and test names mention no other row', () => {
  expect([ids.length, new Set(ids).size]).toEqual([462, 462]);
  const areas = new Set(ids.map((id) => id.replace(/\d+$/, '')));
  const named = [...proofs.keys()].filter((id) => areas.has(id.replace(/\d+$/, '')));
  expect(named.filter((id) => !ids.includes(id))).toEqual([]);
});

test('every acceptance row is at the start of a test name', () => {
  expect(ids.filter((id) => !proofs.has(id))).toEqual([]);
});

test('the coverage page lists every acceptance row with its tests as passed', () => {
  const results = process.env['COVERAGE_RESULTS'];
  if (results) writeFileSync(PAGE, renderCoverage(proofs, readResults(results)));
  // A row with a failing test already fails the run, so the page of a passing run says passed for every row.
  expect(readFileSync(PAGE, 'utf8')).toBe(renderCoverage(proofs, () => 'passed'));
});
