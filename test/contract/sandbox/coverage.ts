// Reads from test names which test covers which acceptance row, and formats the table.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { SECTIONS } from './rows.ts';

/** Row id → test files with a test of the row, relative to the root of the checkout. */
export type Proofs = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Returns the row ids at the start of a test name: `AUTH-07 …`, `AUTH-07 AUTH-08 …`, `AUTH-07, AUTH-08 and AUTH-09
 * …`.
 */
export function rowsOf(testName: string): string[] {
  const [beginning = ''] = /^(?:[A-Z]+-\d+(?:(?:,| and)? |$))*/.exec(testName) ?? [];
  return beginning.match(/[A-Z]+-\d+/g) ?? [];
}

/** Returns the test function of a call such as `test(…)` or `test.each(…)(…)`. */
function calledName(call: ts.Expression): string {
  if (ts.isIdentifier(call)) return call.text;
  if (ts.isPropertyAccessExpression(call) || ts.isCallExpression(call)) return calledName(call.expression);
  return ts.isTaggedTemplateExpression(call) ? calledName(call.tag) : '';
}

/** Returns the names of the tests in a source file; skipped tests are left out. */
export function testNames(file: string, source: string): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ['test', 'it'].includes(calledName(node.expression))) {
      const [name] = node.arguments;
      const isSkipped = /\.(skip|todo)\b/.test(node.expression.getText());
      if (name && !isSkipped && ts.isStringLiteralLike(name)) names.push(name.text);
      if (name && !isSkipped && ts.isTemplateExpression(name)) names.push(name.head.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  return names;
}

/** Reads all test files below `<root>/test`. */
export function findProofs(root: string): Proofs {
  const proofs = new Map<string, Set<string>>();
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).sort();
  for (const name of files.filter((one) => one.endsWith('.test.ts'))) {
    const file = `test/${name.replaceAll('\\', '/')}`;
    const source = readFileSync(join(root, file), 'utf8');
    // Parsing is slow, so only files with a row id at the start of a string are parsed.
    const rows = /['"`][A-Z]+-\d+/.test(source) ? testNames(file, source).flatMap(rowsOf) : [];
    for (const row of rows) proofs.set(row, (proofs.get(row) ?? new Set()).add(file));
  }
  return proofs;
}

/** Returns the text of docs/platform-coverage.md. @param resultOf returns the result of the tests of a row */
export function renderCoverage(proofs: Proofs, resultOf: (row: string) => string): string {
  const tables = SECTIONS.map(({ title, rows }) => {
    const lines = rows.map(([id, rule]) => {
      const files = [...(proofs.get(id) ?? [])].map((file) => `\`${file.replace(/^test\//, '')}\``);
      return `| ${id} | ${rule} | ${resultOf(id)} | ${files.join(', ')} |`;
    });
    return [`## ${title}`, '', '| Row | Rule | Result | Tests |', '| --- | --- | --- | --- |', ...lines].join(
      '\n',
    );
  });
  const ids = SECTIONS.flatMap(({ rows }) => rows.map(([id]) => id));
  const passed = ids.filter((id) => resultOf(id) === 'passed').length;
  const intro = [
    '# What of the platform is proven',
    '',
    'Made by `npm run coverage-table` from the acceptance rows (`test/contract/sandbox/rows.ts`) and the results of',
    'the tests whose names begin with them; do not edit. Paths are below `test/`.',
    '',
    `${passed} of ${ids.length} rows passed.`,
  ].join('\n');
  return `${[intro, ...tables].join('\n\n')}\n`;
}
