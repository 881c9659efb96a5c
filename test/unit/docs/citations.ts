// Finds citations in text: sections and decisions of the platform's contract, acceptance rows, promises, ADRs, RFCs, pages.
// Each kind has one strict form; other spellings of the same thing are faults, because no search would find them.

/** Ids that a citation may lead to. */
export interface Targets {
  readonly sections: ReadonlySet<string>;
  readonly decisions: ReadonlySet<string>;
  readonly rows: ReadonlySet<string>;
  readonly promises: ReadonlySet<string>;
  readonly adrs: ReadonlySet<string>;
  /** Paths of all Markdown files of the repository. */
  readonly pages: readonly string[];
}

/** A comment that goes on in the next line reads as one line, so that a citation may be wrapped. */
const unwrapped = (text: string): string => text.replaceAll(/\s*\n\s*(?:\*(?!\/)|\/\/|--|#)?\s*/g, ' ');

const SECTION = String.raw`\d+(?:\.\d+)?`;
const SECTIONS = new RegExp(
  String.raw`\b[Cc]ontract (${SECTION}(?:(?:, | and | to )${SECTION})*)(?![\w-])`,
  'g',
);
const DECISION = /\bASSUMED-\d{2,3}\b/g;
const ROW = /\b[A-Z]{3,6}-\d{2}\b/g;
const PROMISES = /\b[Pp]romises? (\d+(?:(?:, | and )\d+)*)/g;
const ADR = /\bADR (\d{4})\b/g;
const PAGE = /[\w./-]*[\w-]\.md\b/g;
const RFC = /\bRFC \d{4,5} §\d[\d.]*(?:(?:, | and | to )§\d[\d.]*)*/g;

/** Spellings that lead nowhere, with the form to write instead. */
const LOOSE: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/[Cc]ontract(?:'s|’s)? \(?(?:sections?|§) ?\d[\d.]*/g, 'contract 4.7'],
  [/(?:[Ss]ections?|§) ?\d[\d.]* of the (?:platform )?contract/g, 'contract 4.7'],
  [/\bASSUMED(?!-(?:\d{2,3}\b|…))[- ]?\w*/g, 'ASSUMED-78'],
  [/\bASSUMED-\d+(?:, | and | to )\d+\b/g, 'ASSUMED-70, ASSUMED-71'],
  [/\b(?:ADR-|ADRs? (?!\d{4}\b))\d+/g, 'ADR 0012'],
  [/\bRFC ?\d{4}(?:,? sections? \d[\d.]*)/g, 'RFC 7644 §3.5.2'],
  [/\bRFC\d{4}\b/g, 'RFC 7644'],
  [/\b[Ii]nterface(?: section)? \d+/g, 'a section of docs/sandbox.md'],
  [/\b(?:facts|lessons?|pitfalls?) \d+\b/gi, 'contract 12.9'],
  [/\(S [A-Z]\w+|\(specification, /g, 'contract 8'],
  [/(?<=\s)\(\d{1,2}\.\d(?: (?:to|and) \d{1,2}\.\d)?\)/g, 'contract 6.2'],
];

const numbers = (text: string): string[] => text.match(/\d+(?:\.\d+)?/g) ?? [];

/** Every citation of `text` that has no target or is not written in the strict form, as sentences; empty when all lead somewhere. */
export function faultsOf(text: string, targets: Targets): string[] {
  const flat = unwrapped(text);
  const faults: string[] = [];
  const check = (citation: string, found: boolean): void => {
    if (!found) faults.push(`"${citation}" leads nowhere`);
  };

  for (const [citation, list = ''] of flat.matchAll(SECTIONS)) {
    for (const id of numbers(list)) check(citation, targets.sections.has(id));
  }
  for (const [citation] of flat.matchAll(DECISION)) check(citation, targets.decisions.has(citation));
  const series = new Set([...targets.rows].map((row) => row.split('-')[0]));
  for (const [citation] of flat.matchAll(ROW)) {
    if (series.has(citation.split('-')[0])) check(citation, targets.rows.has(citation));
  }
  for (const [citation, list = ''] of flat.matchAll(PROMISES)) {
    for (const id of numbers(list)) check(citation, targets.promises.has(id));
  }
  for (const [citation, id = ''] of flat.matchAll(ADR)) check(citation, targets.adrs.has(id));
  for (const [citation] of flat.matchAll(PAGE)) {
    const name = citation.replace(/^(?:\.{1,2}\/)+/, '/').replace(/^(?!\/)/, '/');
    check(
      citation,
      targets.pages.some((page) => `/${page}`.endsWith(name)),
    );
  }
  if (flat.replaceAll(RFC, '').includes('§')) {
    const [citation = '§'] = /.{0,20}§.{0,8}/.exec(flat.replaceAll(RFC, '')) ?? [];
    faults.push(`"${citation}": write "RFC 7644 §3.5.2"`);
  }
  for (const [pattern, instead] of LOOSE) {
    for (const [citation] of flat.matchAll(pattern)) faults.push(`"${citation}": write "${instead}"`);
  }
  return faults;
}
