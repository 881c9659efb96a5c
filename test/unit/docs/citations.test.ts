// Tests that every citation in code, tests and documents has a target in the repository or in public.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { faultsOf, type Targets } from './citations.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDERS = ['src', 'test', 'docs', 'bench', 'config', 'helm', '.ci'];
const SOURCES = /\.(?:ts|js|mjs|cjs|lua|md|ya?ml|css|html|tpl|py|sh)$/;
/** Files without the check: rendered output, and tests with wrong citations as examples. */
const LEFT_OUT = /^test\/(?:fixtures\/|unit\/docs\/|contract\/sandbox\/platform-coverage\.test\.ts$)/;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const below = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));

const top = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
const files = [...FOLDERS.flatMap(below), ...top].filter((path) => SOURCES.test(path));
const pages = files.filter((path) => path.endsWith('.md'));
const contract = pages.filter((path) => path.startsWith('docs/platform-contract'));

/** Returns the first groups of all matches of `pattern` in the pages `paths`. */
const idsOf = (paths: readonly string[], pattern: RegExp): string[] =>
  paths.flatMap((path) => [...read(path).matchAll(pattern)].map(([, id = '']) => id));

const sections = idsOf(contract, /^(?:#{1,3}|\| (?=11\.)) ?(\d+(?:\.\d+)?) /gm);
const decisions = idsOf(contract, /^\| ASSUMED-(\d{2,3}) +\|/gm);

const targets: Targets = {
  sections: new Set(sections),
  decisions: new Set(decisions),
  rows: new Set(idsOf(['docs/platform-coverage.md'], /^\| ([A-Z]+-\d{2}) \|/gm)),
  promises: new Set(idsOf(['docs/guarantees.md'], /^## (\d+) /gm)),
  adrs: new Set(pages.flatMap((path) => /^docs\/adr\/(\d{4})-/.exec(path)?.[1] ?? [])),
  pages,
};

test('every citation in the repository has a target', () => {
  const faults = files
    .filter((path) => !LEFT_OUT.test(path))
    .flatMap((path) => faultsOf(read(path), targets).map((fault) => `${path}: ${fault}`));
  expect(faults).toEqual([]);
  expect(files.length).toBeGreaterThan(500);
});

/** Returns the anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

test('every link between documents leads to a file, and to an existing heading', () => {
  const faults = pages
    .filter((path) => !LEFT_OUT.test(path))
    .flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(
        ([link, to = '', anchor]) => {
          const target = to === '' ? path : join(dirname(path), to);
          if (!existsSync(join(ROOT, target))) return [`${path}: ${link}`];
          if (anchor === undefined || !target.endsWith('.md')) return [];
          return idsOf([target], /^#{1,6} (.+)$/gm)
            .map(anchorOf)
            .includes(anchor)
            ? []
            : [`${path}: ${link}`];
        },
      ),
    );
  expect(faults).toEqual([]);
});

test('sections and decisions of the contract are unique, and decisions are numbered without a gap', () => {
  expect(sections).toHaveLength(targets.sections.size);
  expect(decisions.sort()).toEqual(
    Array.from({ length: 109 }, (_, index) => String(index + 1).padStart(2, '0')).sort(),
  );
});

describe('a citation without a target', () => {
  test.each([
    'a fact (contract 4.77)',
    'a fact (contract 4.7, 4.77)',
    'a fact that goes on in the next line (contract\n * 99.1)',
    'ASSUMED-110',
    'row DATA-99',
    'a row of that series, DATA-99',
    'row THING-01',
    'promise 9',
    'ADR 0999',
    'ADRs 0012 and 0999',
    'see words.md',
    'see ../design/interface.md',
  ])('%j is reported as a citation without a target', (text) =>
    expect(faultsOf(text, targets)).not.toEqual([]),
  );
});

describe('a citation in a loose form', () => {
  test.each([
    'Contract sections 4.1',
    'section 4.1 of the contract',
    'ASSUMED-70, 71',
    'marked ASSUMED',
    'ADR 12',
    'create (§3.3)',
    'create (7644 §3.3)',
    'RFC 7644 section 3.3',
    'interface 8',
    'pitfall 19',
    'as the agent does (6.2)',
  ])('the citation %j is reported because its form is not exact', (text) =>
    expect(faultsOf(text, targets)).not.toEqual([]),
  );
});

test('a citation in the exact form whose target exists is accepted', () => {
  const text = `Contract 4.1 to 4.6 and 10, ASSUMED-104 to ASSUMED-106, row DATA-18, promises 1, 2 and 5, ADR 0012,
    RFC 7644 §3.4.2, §3.5.2 and §4, docs/sandbox.md, UTF-16`;
  expect(faultsOf(text, targets)).toEqual([]);
});
