// Renders explanations as lines of text: everything, or a page that fits a screen. A page has a top (head, summary, reasons, record
// and link, `topOf`) and lists (values, memberships, timeline), which share the lines that the top leaves. Pure.
import { isDeepStrictEqual } from 'node:util';
import type { Explanation } from './explanation.ts';
import { pagePartsOf, type PageParts } from './page-parts.ts';
import { fitsLine, linesOf, rowLine, sharesOf, someRows, type PageRows } from './page-lists.ts';
import { nameShortener } from './short-names.ts';
import { LINE_COLUMNS, wrapLines } from '../support/columns.ts';
import { total } from '../support/counted.ts';

/** Size of a page. */
interface Room {
  /** Largest number of lines of the page. */
  page: number;
  /** Number of lines that all reasons together get at least. */
  reasons: number;
  /** Largest number of lines of one reason. */
  reason: number;
  /** Whether empty lines part the sections. */
  isWide: boolean;
}
/** One such page fits a screen of 40 lines. */
const ALONE: Room = { page: 36, reasons: 8, reason: 4, isWide: true };
/** Two such pages fit a screen of 50 lines. */
const BESIDE: Room = { page: 24, reasons: 6, reason: 4, isWide: true };
/** Three such pages fit a screen of 60 lines. */
const NARROW: Room = { page: 19, reasons: 4, reason: 3, isWide: false };

/** Number of rows that a list keeps for itself when the reasons need its other lines. */
const LEAST_ROWS = 3;
/** Number of lines at the end of a page for the names of the options that show everything. */
const OPTIONS_LINES = 1;

/** Largest numbers of lines of the texts at the top of a page, also of all reasons. */
interface TopLimits extends Pick<Room, 'reasons' | 'reason'> {
  head: number;
  summary: number;
  stored: number;
  link: number;
}
/** Limits on a page that has no room for every text; those of the reasons are in `Room`. */
const SHORT = { head: 2, summary: 3, stored: 2, link: 2 };
const UNLIMITED: TopLimits = {
  head: Infinity,
  summary: Infinity,
  reasons: Infinity,
  reason: Infinity,
  stored: Infinity,
  link: Infinity,
};

/** Returns the room of each of several pages. */
const roomOf = (pages: number): Room => (pages === 1 ? ALONE : pages === 2 ? BESIDE : NARROW);

/**
 * Returns the lines of explanations that are shown together: a page of each, or with `all` every line in full. A page does not
 * repeat what an earlier page of the same resource shows.
 */
export const renderExplanations = (all: Explanation[], options: { all: boolean }): string[][] =>
  all.map((found, at) => {
    const parts = pagePartsOf(found, options);
    if (options.all) return everything(parts);
    const earlier = all
      .slice(0, at)
      .filter(({ ref, connection }) => ref === found.ref && connection === found.connection);
    return page(parts, found, {
      room: roomOf(all.length),
      alone: aloneOptions(found, all),
      earlier: earlier.map((each) => ({ target: each.target, parts: pagePartsOf(each, { all: false }) })),
    });
  });

/** Returns how one of several explanations is asked for alone: by its target, its ref or both. A single explanation has ''. */
function aloneOptions({ ref, target }: Explanation, all: readonly Explanation[]): string {
  if (all.length === 1) return '';
  const isOnly = (isSame: (each: Explanation) => boolean): boolean => all.filter(isSame).length === 1;
  if (isOnly((each) => each.target === target)) return `More: --target ${target}. `;
  const isOnlyOfRef = isOnly((each) => each.ref === ref);
  return `More: scim-bridge explain ${ref}${isOnlyOfRef ? '' : ` --target ${target}`}. `;
}

/** Returns every line in full. */
function everything(parts: PageParts): string[] {
  const { head, summary, reasons, stored, link, values, membershipsTitle, memberships } = parts;
  const { hiddenMembers, timeline } = parts;
  const section = (title: string, lines: string[]): string[] =>
    lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
  return [
    head,
    summary,
    ...reasons.map((reason) => `  - ${reason}`),
    '',
    stored,
    link,
    ...section(VALUES, values),
    ...section(membershipsTitle, someRows({ rows: memberships, hidden: hiddenMembers }, Infinity)),
    ...section(TIMELINE, timeline),
  ];
}

const VALUES = 'Values (desired ← last applied)';
const TIMELINE = 'Timeline';

/** A page of the same resource at another target, which is shown above. */
interface EarlierPage {
  target: string;
  parts: PageParts;
}

/**
 * Returns a page of at most `room.page` lines: the top (head, summary, reasons, record and link), then lists that share the other
 * lines.
 */
function page(
  parts: PageParts,
  found: Explanation,
  { room, alone, earlier }: { room: Room; alone: string; earlier: EarlierPage[] },
): string[] {
  const short = nameShortener(found);
  const gap = room.isWide ? [''] : [];
  const sections = shownSections(parts, earlier);
  const titleLines = (1 + gap.length) * sections.length;
  // Lines for the top and the rows of the lists.
  const freeLines = room.page - titleLines - OPTIONS_LINES;
  const top = fittingTop((limits) => topOf(parts, found, { short, gap, earlier, limits }), {
    room,
    freeLines,
    lengths: sections.map(linesOf),
  });
  const shares = sharesOf(sections.map(linesOf), freeLines - top.lines.length);
  const lists = sections.flatMap((section, at) => [
    ...gap,
    section.title,
    ...someRows(section, shares[at] ?? 0).map((row) => rowLine(short(row))),
  ]);
  const areListsWhole = sections.every(
    (section, at) =>
      linesOf(section) <= (shares[at] ?? 0) && section.rows.every((row) => fitsLine(short(row))),
  );
  const isWhole = top.isWhole && areListsWhole;
  return [...top.lines, ...lists, ...(isWhole ? [] : [`${alone}Everything: --all, or --json.`])];
}

/** A list with its title. */
type Section = PageRows & { title: string };

/** Returns the lists that have rows. A list with the rows of an earlier page has only a title, which names that page. */
function shownSections(parts: PageParts, earlier: EarlierPage[]): Section[] {
  return sectionsOf(parts).flatMap((section, at) => {
    const { title, rows } = section;
    if (rows.length === 0) return [];
    const same = earlier.find((each) => isDeepStrictEqual(sectionsOf(each.parts)[at]?.rows, rows));
    return same
      ? { ...section, title: `${title}: as at ${same.target}`, rows: [] }
      : { ...section, title: `${title}:` };
  });
}

/** Returns the lists of a page in their order, also those without rows. */
const sectionsOf = ({
  values,
  membershipsTitle,
  memberships,
  hiddenMembers,
  timeline,
}: PageParts): Section[] => [
  { title: VALUES, rows: values },
  { title: membershipsTitle, rows: memberships, hidden: hiddenMembers },
  { title: TIMELINE, rows: timeline, newestLast: true },
];

/**
 * Returns the top in full if it takes at most half of the page, or if the page has room for everything. Else its texts are cut, and
 * its reasons get the lines that remain when each list keeps LEAST_ROWS rows: the reasons contain the advice, so the lists are cut
 * before the reasons.
 * @param topWith returns the top within limits
 * @param freeLines lines for the top and the rows of the lists
 * @param lengths numbers of lines that the lists need
 */
function fittingTop(
  topWith: (limits: TopLimits) => CutLines,
  { room, freeLines, lengths }: { room: Room; freeLines: number; lengths: number[] },
): CutLines {
  const whole = topWith(UNLIMITED);
  const isRoomy = whole.lines.length <= room.page / 2 || whole.lines.length + total(lengths) <= freeLines;
  if (isRoomy) return whole;
  const cutTop = (reasonLines: number) => topWith({ ...SHORT, ...room, reasons: reasonLines });
  const leastRowLines = total(lengths.map((length) => Math.min(length, LEAST_ROWS)));
  // A top with no reason in full has one line that counts the reasons; that line is left out here.
  const otherTopLines = cutTop(0).lines.length - 1;
  return cutTop(Math.max(room.reasons, freeLines - leastRowLines - otherTopLines));
}

/** Lines of one text or several, which may be cut. */
interface CutLines {
  lines: string[];
  /** Whether the lines contain every text in full. */
  isWhole: boolean;
}

/** Returns the lines of a page above its lists. */
function topOf(
  parts: PageParts,
  found: Explanation,
  {
    short,
    gap,
    earlier,
    limits,
  }: { short: (text: string) => string; gap: string[]; earlier: EarlierPage[]; limits: TopLimits },
): CutLines {
  let isWhole = true;
  const text = (line: string, most: number, indent = ''): string[] => {
    const cut = withoutMiddle(short(line), most, indent);
    isWhole &&= cut.isWhole;
    return cut.lines;
  };
  const reasons = parts.reasons.map((reason) => text(`  - ${reason}`, limits.reason, '    '));
  const shownReasons = fitting(reasons, limits.reasons);
  const leftOut = reasons.length - shownReasons.length;
  const isStoredShown = earlier.some((each) => each.parts.stored === parts.stored);
  const lines = [
    ...(earlier.length > 0 ? [`${found.connection} → ${found.target}`] : text(parts.head, limits.head)),
    ...text(parts.summary, limits.summary, '  '),
    ...shownReasons.flat(),
    ...(leftOut > 0 ? [`  … and ${leftOut} more ${leftOut === 1 ? 'reason' : 'reasons'}`] : []),
    ...gap,
    ...(isStoredShown ? [] : text(parts.stored, limits.stored, '  ')),
    ...text(parts.link, limits.link, '  '),
  ];
  return { lines, isWhole: isWhole && leftOut === 0 };
}

/** Matches the position before a clause: the clause follows a full stop, colon or semicolon. */
const CLAUSE = /(?<=[.:;] )/g;

/**
 * Returns at most `most` lines (two at least) of a text. A longer text loses its middle, because its last words are the advice. An
 * advice for several cases (`if they are two people, …; if they are one, …`) stays whole or loses its end, because the part for
 * one case alone would be read as advice for all.
 */
function withoutMiddle(text: string, most: number, indent: string): CutLines {
  const wrap = (part: string, columns: number): string[] =>
    wrapLines(part, { columns, most: Infinity, indent });
  const whole = wrap(text, LINE_COLUMNS);
  if (whole.length <= most) return { lines: whole, isWhole: true };
  // A cut line gets ` …`, which takes two columns.
  const short = wrap(text, LINE_COLUMNS - 2);
  const [first = '', ...others] = short;
  const clauses = text.split(CLAUSE);
  const isCase = (clause: string): boolean => /^if /i.test(clause);
  if (clauses.filter(isCase).length < 2)
    return { lines: [`${first} …`, ...others.slice(1 - most)], isWhole: false };
  const advice = wrap(indent + clauses.slice(clauses.findIndex(isCase)).join(''), LINE_COLUMNS);
  if (advice.length < most) return { lines: [`${first} …`, ...advice], isWhole: false };
  return { lines: [...short.slice(0, most - 1), `${short[most - 1]} …`], isWhole: false };
}

/** Returns all reasons, each as its lines, if they fit `most` lines; else the first that leave a line free for a count. */
function fitting(reasons: string[][], most: number): string[][] {
  const isWhole = reasons.flat().length <= most;
  if (isWhole) return reasons;
  const shown: string[][] = [];
  for (const reason of reasons) {
    if (shown.flat().length + reason.length > most - 1) break;
    shown.push(reason);
  }
  return shown;
}
