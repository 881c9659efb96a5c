// Acceptance rows and the tests that carry their ids.
import { join } from 'node:path';
import { findProofs, rowsOf, testNames } from './coverage.ts';
import { SECTIONS } from './rows.ts';

const ROOT = join(import.meta.dirname, '../../..');
const ids = SECTIONS.flatMap(({ rows }) => rows.map(([id]) => id));
const proofs = findProofs(ROOT);

test('test names are read as they stand in the source', () => {
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

test('the rows are the 462 of the contract, each once, and no test names another', () => {
  expect([ids.length, new Set(ids).size]).toEqual([462, 462]);
  const areas = new Set(ids.map((id) => id.replace(/\d+$/, '')));
  const named = [...proofs.keys()].filter((id) => areas.has(id.replace(/\d+$/, '')));
  expect(named.filter((id) => !ids.includes(id))).toEqual([]);
});
