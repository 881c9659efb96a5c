// Renders explanations as lines of text: one screen, or everything. Pure.
import { isDeepStrictEqual } from 'node:util';
import type { Explanation } from './explanation.ts';
import { pagePartsOf, type PageParts } from './page-parts.ts';
import { besideCommands, clipLine, clipWords, LINE_COLUMNS, wrapLines } from '../support/columns.ts';
import { visible } from '../support/visible.ts';

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
      earlier: earlier.map((each) => ({ target: each.target, parts: pagePartsOf(each, { all: false }) })),
    });
  });

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
 * Returns a page of at most `room.page` lines: head, summary, reasons, record and link, then lists that share the other lines. The
 * texts above the lists are cut only if they would take more than half of a page that is too small for everything. Then each list
 * keeps at least LEAST_ROWS rows.
 */
function page(
  parts: PageParts,
  found: Explanation,
  { room, earlier }: { room: Room; earlier: EarlierPage[] },
): string[] {
  const short = shortener(found);
  const gap = room.isWide ? [''] : [];
  const sections = sectionsOf(parts)
    .map((section, at) => {
      const { title, rows } = section;
      const same = earlier.find((each) => isDeepStrictEqual(sectionsOf(each.parts)[at]?.rows, rows));
      if (rows.length === 0 || !same) return { ...section, title: `${title}:`, isShown: rows.length > 0 };
      return { ...section, title: `${title}: as at ${same.target}`, rows: [], isShown: true };
    })
    .filter(({ isShown }) => isShown);
  const titleLines = (1 + gap.length) * sections.length;
  const rowLines = sections.reduce((sum, section) => sum + linesOf(section), 0);
  // Lines for the top and the rows of the lists.
  const freeLines = room.page - titleLines - OPTIONS_LINES;
  const whole = topOf(parts, found, { short, gap, earlier, limits: UNLIMITED });
  const isRoomy = whole.lines.length <= room.page / 2 || whole.lines.length + rowLines <= freeLines;
  const cutTop = (reasonLines: number) =>
    topOf(parts, found, { short, gap, earlier, limits: { ...SHORT, ...room, reasons: reasonLines } });
  // The reasons contain the advice, so the lists are cut before the reasons.
  const leastRowLines = sections.reduce((sum, section) => sum + Math.min(linesOf(section), LEAST_ROWS), 0);
  // Without a reason in full, one line of the top counts the reasons.
  const otherTopLines = cutTop(0).lines.length - 1;
  const top = isRoomy ? whole : cutTop(Math.max(room.reasons, freeLines - leastRowLines - otherTopLines));
  const shares = sharesOf(sections.map(linesOf), freeLines - top.lines.length);
  const isWhole =
    top.isWhole &&
    sections.every(
      (section, at) => linesOf(section) <= (shares[at] ?? 0) && section.rows.every((row) => fits(short(row))),
    );
  const lists = sections.flatMap((section, at) => [
    ...gap,
    section.title,
    ...someRows(section, shares[at] ?? 0).map((row) => toLine(short(row))),
  ]);
  const more = room === ALONE ? '' : `More: --target ${found.target}. `;
  return [...top.lines, ...lists, ...(isWhole ? [] : [`${more}Everything: --all, or --json.`])];
}

/** Returns the lines of a page above its lists, and whether they contain every text in full. */
function topOf(
  parts: PageParts,
  found: Explanation,
  {
    short,
    gap,
    earlier,
    limits,
  }: { short: (text: string) => string; gap: string[]; earlier: EarlierPage[]; limits: TopLimits },
): { lines: string[]; isWhole: boolean } {
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

/** Matches the place before a clause. */
const CLAUSE = /(?<=[.:;] )/g;

/**
 * Returns at most `most` lines (two at least) of a text. A longer text loses its middle, because its last words are the advice. An
 * advice for several cases (`if they are two people, …; if they are one, …`) stays whole or loses its end, because the part for
 * one case alone would be read as advice for all.
 */
function withoutMiddle(text: string, most: number, indent: string): { lines: string[]; isWhole: boolean } {
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

/** Rows of a list. */
interface Rows {
  rows: string[];
  /** Number of rows that the list has besides, and that are only counted. */
  hidden?: number;
  newestLast?: boolean;
}

const sectionsOf = ({
  values,
  membershipsTitle,
  memberships,
  hiddenMembers,
  timeline,
}: PageParts): (Rows & { title: string })[] => [
  { title: VALUES, rows: values },
  { title: membershipsTitle, rows: memberships, hidden: hiddenMembers },
  { title: TIMELINE, rows: timeline, newestLast: true },
];

/** Returns the number of lines that show the rows, and the number of the hidden ones. */
const linesOf = ({ rows, hidden = 0 }: Rows): number => rows.length + (hidden > 0 ? 1 : 0);

const toLine = (row: string): string => clipLine(`  ${row}`, LINE_COLUMNS);

const fits = (row: string): boolean => toLine(row) === `  ${row}`;

/** Divides `lines` between lists of the given lengths, one line in turn. A short list gets its length, others share the rest. */
function sharesOf(lengths: number[], lines: number): number[] {
  const shares = lengths.map(() => 0);
  let left = lines;
  while (left > 0 && shares.some((share, at) => share < (lengths[at] ?? 0)))
    for (const [at, length] of lengths.entries())
      if (left > 0 && (shares[at] ?? 0) < length) {
        shares[at] = (shares[at] ?? 0) + 1;
        left--;
      }
  return shares;
}

/** Returns at most `most` rows; if rows are left out, one of them counts these: the first with `newestLast`, else the last. */
function someRows({ rows, hidden = 0, newestLast = false }: Rows, most: number): string[] {
  const moreText = (shown: number): string => `… and ${rows.length - shown + hidden} more`;
  if (linesOf({ rows, hidden }) <= most) return hidden > 0 ? [...rows, moreText(rows.length)] : rows;
  if (most === 0) return [];
  if (!newestLast) return [...rows.slice(0, most - 1), moreText(most - 1)];
  const left = rows.length - most + 1;
  // Only the timeline has the newest row last, and its rows begin with their time.
  return [`… ${left} earlier, since ${rows[0]?.split(' ', 1)[0] ?? ''}`, ...rows.slice(left)];
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

/** Returns a function that shortens the long names of an explanation, and every other long word, in a text beside its commands. */
function shortener({ name, nameAtTarget, memberships }: Explanation): (text: string) => string {
  const names = [name, nameAtTarget ?? '', ...memberships.map((each) => each.name)]
    .map(visible)
    .filter((each) => clipWords(each) !== each || each.length > LONG_NAME)
    // A name may contain another one, so the longest is replaced first.
    .toSorted((one, other) => other.length - one.length);
  const shorten = (part: string): string =>
    clipWords(names.reduce((left, each) => left.replaceAll(each, middleCut(each)), part));
  return (text) => besideCommands(visible(text), shorten);
}

/** Largest number of characters of a name on a page. */
const LONG_NAME = 48;
/** Numbers of characters that stay at the start and at the end of a longer name. */
const KEPT = { start: 30, end: 12 };

const middleCut = (name: string): string => {
  const characters = [...name];
  return characters.length <= LONG_NAME
    ? name
    : `${characters.slice(0, KEPT.start).join('')}…${characters.slice(-KEPT.end).join('').trim()}`;
};
