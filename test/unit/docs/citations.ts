// Finds citations in text: sections and decisions of the platform's contract, acceptance rows, promises, ADRs, RFCs,
// pages. Each kind has one strict form; other spellings are faults, because no search would find them.

/** Ids of possible targets. */
export interface Targets {
  readonly sections: ReadonlySet<string>;
  readonly decisions: ReadonlySet<string>;
  readonly rows: ReadonlySet<string>;
  readonly promises: ReadonlySet<string>;
  readonly adrs: ReadonlySet<string>;
  /** Paths of all Markdown files of the repository. */
  readonly pages: readonly string[];
}

/** Joins the lines of a comment, so that a citation may be wrapped. */
const unwrapped = (text: string): string => text.replaceAll(/\s*\n\s*(?:\*(?!\/)|\/\/|--|#)?\s*/g, ' ');

/** Kinds with numbers; the first group of a pattern is the list of numbers. */
const NUMBERED = [
  [/\b[Cc]ontract (\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*)(?![\w-])/g, 'sections'],
  [/\bASSUMED-(\d{2,3})\b/g, 'decisions'],
  [/\b[Pp]romises? (\d+(?:(?:, | and )\d+)*)/g, 'promises'],
  [/\bADRs? (\d{4}(?:(?:, | and | to )\d{4})*)\b/g, 'adrs'],
] as const;
const ROW = /(\brows? )?\b([A-Z]{2,8})-\d{1,3}\b/g;
const PAGE = /[\w./-]*[\w-]\.md\b/g;
const RFC = /\bRFC \d{4,5} §\d[\d.]*(?:(?:, | and | to )§\d[\d.]*)*/g;

/** Spellings without a target, with the correct form. */
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

const isPage = (name: string, pages: readonly string[]): boolean => {
  const end = `/${name.replace(/^(?:\.{0,2}\/)+/, '')}`;
  return pages.some((page) => `/${page}`.endsWith(end));
};

function withoutTarget(flat: string, targets: Targets): string[] {
  const series = new Set([...targets.rows].map((row) => row.split('-')[0]));
  return [
    ...NUMBERED.flatMap(([pattern, kind]) =>
      [...flat.matchAll(pattern)]
        .filter(([, list = '']) => list.split(/, | and | to /).some((id) => !targets[kind].has(id)))
        .map(([citation]) => citation),
    ),
    ...[...flat.matchAll(ROW)]
      .filter(([, word, name]) => word !== undefined || series.has(name))
      .filter(([citation, word = '']) => !targets.rows.has(citation.slice(word.length)))
      .map(([citation]) => citation),
    ...(flat.match(PAGE) ?? []).filter((name) => !isPage(name, targets.pages)),
  ];
}

/** Returns one sentence for every citation in `text` without a target or in another form. */
export function faultsOf(text: string, targets: Targets): string[] {
  const flat = unwrapped(text);
  const sections = flat.replaceAll(RFC, '').match(/.{0,20}§.{0,8}/g) ?? [];
  return [
    ...withoutTarget(flat, targets).map((citation) => `"${citation}" leads nowhere`),
    ...sections.map((citation) => `"${citation}": write "RFC 7644 §3.5.2"`),
    ...LOOSE.flatMap(([pattern, instead]) =>
      (flat.match(pattern) ?? []).map((found) => `"${found}": write "${instead}"`),
    ),
  ];
}
