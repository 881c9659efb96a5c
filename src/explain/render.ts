// Renders an explanation as lines of text: one screen, or everything. Pure.
import { withoutGuardName } from '../reconcile/exception-words.ts';
import { doneBy } from './guard-reasons.ts';
import { redisRefusalOf } from './reasons.ts';
import type { AttributeState, Explanation, ExplanationVerdict, MembershipState } from './explanation.ts';
import { besideCommands, clipLine, clipWords, LINE_COLUMNS, wrapLines } from '../support/columns.ts';
import { visible } from '../support/visible.ts';

/** Number of lines of a page and of its reasons: of a page alone, and of one of several, two of which fit a screen of 50 lines. */
const ALONE = { page: 36, reasons: 8 };
const BESIDE = { page: 24, reasons: 6 };
/** Largest number of lines of each other part at the start of a page. */
const MOST = { head: 2, summary: 2, link: 2 };
/** Largest number of lines of one reason. */
const REASON_LINES = 4;

const SIGNS: Record<ExplanationVerdict, string> = {
  asDesired: '✔',
  onItsWay: '…',
  held: '⏸',
  stopped: '⏸',
  needsPerson: '✘',
  leftAlone: '–',
  notForTarget: '–',
  differs: '≠',
  gone: '–',
};

/** Parts of a page, from its first line to its last; each text is one line before it is wrapped. */
interface Parts {
  head: string;
  summary: string;
  reasons: string[];
  /** State of the record, and of the account or group at the target. */
  stored: string;
  link: string;
  values: string[];
  /** Title of the memberships. */
  groups: string;
  memberships: string[];
  timeline: string[];
}

/** @param options.pages number of pages that are shown together @returns lines; a page, or with `all` every line in full */
export function renderExplanation(
  found: Explanation,
  { all, pages = 1 }: { all: boolean; pages?: number },
): string[] {
  const parts = partsOf(found, all);
  return all ? everything(parts) : page(parts, found, pages > 1 ? BESIDE : ALONE);
}

/** Returns every line in full. */
function everything(parts: Parts): string[] {
  const { head, summary, reasons, stored, link, values, groups, memberships, timeline } = parts;
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
    ...section(groups, memberships),
    ...section(TIMELINE, timeline),
  ];
}

const VALUES = 'Values (desired ← last applied)';
const TIMELINE = 'Timeline';

/** Returns a page of at most that many lines: head, summary, reasons, record and link, then lists that share the other lines. */
function page(parts: Parts, found: Explanation, most: typeof ALONE): string[] {
  const short = shortener(found);
  const text = (line: string, lines: number, indent = ''): string[] =>
    wrapLines(short(line), { columns: LINE_COLUMNS, most: lines, indent });
  const reasons = parts.reasons.map((reason) => text(`  - ${reason}`, REASON_LINES, '    '));
  const shownReasons = fitting(reasons, most.reasons);
  const leftOut = reasons.length - shownReasons.length;
  const top = [
    ...text(parts.head, MOST.head),
    ...text(parts.summary, MOST.summary, '  '),
    ...shownReasons.flat(),
    ...(leftOut > 0 ? [`  … and ${leftOut} more ${leftOut === 1 ? 'reason' : 'reasons'}`] : []),
    '',
    ...text(parts.stored, 1),
    ...text(parts.link, MOST.link, '  '),
  ];
  const sections = [
    { title: VALUES, rows: parts.values, newestLast: false },
    { title: parts.groups, rows: parts.memberships, newestLast: false },
    { title: TIMELINE, rows: parts.timeline, newestLast: true },
  ].filter(({ rows }) => rows.length > 0);
  const shares = sharesOf(
    sections.map(({ rows }) => rows.length),
    most.page - top.length - 2 * sections.length - 1,
  );
  const isWhole = leftOut === 0 && sections.every(({ rows }, at) => fits(rows.map(short), shares[at] ?? 0));
  const lists = sections.flatMap(({ title, rows, newestLast }, at) => [
    '',
    `${title}:`,
    ...someRows(rows, shares[at] ?? 0, newestLast).map((row) => toLine(short(row))),
  ]);
  const more = most === BESIDE ? `More: --target ${found.target}. ` : '';
  return [...top, ...lists, ...(isWhole ? [] : [`${more}Everything: --all, or --json.`])];
}

const toLine = (row: string): string => clipLine(`  ${row}`, LINE_COLUMNS);

/** Returns whether all rows are shown in full on this number of lines. */
const fits = (rows: string[], lines: number): boolean =>
  rows.length <= lines && rows.every((row) => toLine(row) === `  ${row}`);

/** Divides `lines` between lists of the given lengths, one line in turn. A short list gets its length, the others share the rest. */
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

/** Returns at most `most` rows; one of them counts the rows that are left out. */
function someRows(rows: string[], most: number, newestLast: boolean): string[] {
  if (rows.length <= most) return rows;
  const left = rows.length - most + 1;
  if (!newestLast) return [...rows.slice(0, most - 1), `… and ${left} more`];
  return [`… ${left} earlier, since ${rows[0]?.split(' ', 1)[0] ?? ''}`, ...rows.slice(left)];
}

/** Returns the first reasons that fit with a line for the others. */
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

/** Returns a long name without its middle part. */
const middleCut = (name: string): string => {
  const characters = [...name];
  return characters.length <= LONG_NAME
    ? name
    : `${characters.slice(0, 30).join('')}…${characters.slice(-12).join('').trim()}`;
};

/** Formats each part of an explanation. */
function partsOf(found: Explanation, all: boolean): Parts {
  const { verdict, summary, reasons, kind, name, ref, connection, target } = found;
  return {
    head: `${kind} ${name}  (${ref}, ${connection} → ${target})`,
    summary: `${SIGNS[verdict]} ${summary}`,
    reasons,
    stored: `Stored: ${storedText(found)}`,
    link: `At the target: ${linkText(found)}`,
    values: byState(found.values, 'equal').map(valueLine),
    groups: kind === 'User' ? 'Groups' : membersTitle(found),
    memberships: membershipLines(byState(found.memberships, 'applied'), found, all),
    timeline: timelineLines(found),
  };
}

/** Items that need attention come first; otherwise the order is kept. */
const byState = <T extends { state: string }>(all: T[], last: string): T[] => [
  ...all.filter(({ state }) => state !== last),
  ...all.filter(({ state }) => state === last),
];

/**
 * Returns the stored state in words, without the times, which are in the timeline, and without `active`, which is one of the
 * values.
 */
function storedText({ stored, inScope, name, nameAtTarget }: Explanation): string {
  if (!stored) return 'deleted at the source';
  const { version, externalId } = stored;
  const meant = nameAtTarget === null || nameAtTarget === name ? '' : ` as ${nameAtTarget}`;
  return [
    `version ${version}`,
    ...(externalId === null ? [] : [`externalId ${externalId}`]),
    inScope ? `meant for this target${meant}` : 'not meant for this target',
  ].join(', ');
}

/** Returns the state of the account or group at the target in words, with what rules it: policy, adoption, leavers. */
function linkText({
  link,
  platform,
  policy,
  mark,
  values,
  timeline,
  condition,
  leftByHand,
  restored,
  fleet,
}: Explanation): string {
  const { platformId, account, origin, active, lastWrite, departed } = link;
  // The values of a present resource contain `active` already.
  const showsActive = active !== null && !values.some(({ name }) => name === 'active');
  // The bridge may have written the account between the backup and the restore.
  const isOld = !platform && !(lastWrite && restored && lastWrite > restored.at);
  const ofBackup = restored && isOld ? ` in ${restored.backup}` : '';
  // An applied change in the timeline tells the time of the last write.
  const isInTimeline = timeline.some(({ event }) => event === 'applied');
  const known =
    platformId === null
      ? [
          condition?.reason === 'Protected'
            ? 'no account is linked: the bridge does not touch a protected one'
            : 'no account of this record is known there',
        ]
      : [
          `id ${platformId}${account === null ? '' : `, account ${account}`}`,
          ...(origin === null ? [] : [origin === 'adopted' ? 'existed before' : 'made by the bridge']),
          ...(showsActive ? [`${active ? 'active' : 'inactive'}${ofBackup}`] : []),
          ...(departed && condition?.reason !== 'Protected' ? ['left by us'] : []),
          ...(lastWrite === null || isInTimeline ? [] : [`last written ${lastWrite}`]),
        ];
  const equal =
    (platform?.done ?? 0) > 0 || leftByHand.length > 0
      ? `, read now: changed there ${doneBy({ restored })}`
      : ', read now: as last written';
  const unread = redisRefusalOf(fleet) ? ', it was not read now' : ', it could not be read now';
  const read = { equal, differs: '', unread };
  const look = platform ? read[platform.state] : '';
  const marked = mark ? `; ${MARK_WORDS[mark.state]}` : '';
  return `${known.join(', ')}${look}; policy ${policy.policy}, adopt ${policy.adopt}, leavers: ${policy.deprovision}${marked}`;
}

const MARK_WORDS = {
  due: 'a change waits',
  queued: 'a change is in the queue',
  running: 'a change is being written',
};

const STATE_SIGNS: Record<AttributeState['state'], string> = {
  equal: '=',
  differs: '≠',
  unsure: '?',
  unmappable: '!',
  unmapped: '–',
  kept: '–',
};

/** Returns a value as a line. The reason why a value cannot be mapped is among the reasons. */
function valueLine({ name, desired, applied, state }: AttributeState): string {
  const shown = `${STATE_SIGNS[state]} ${name}: ${JSON.stringify(desired)}`;
  return state === 'equal' ? shown : `${shown} ← ${JSON.stringify(applied)}`;
}

const MEMBERSHIP_SIGNS = { applied: '=', toAdd: '+', toRemove: '-', notForTarget: '–' };

/** Returns a line for each membership. The cause that the line before tells is not repeated on a page. */
const membershipLines = (
  memberships: MembershipState[],
  { condition }: Explanation,
  all: boolean,
): string[] =>
  memberships.map(({ name, state, because }, index) => {
    const isKnown = because === undefined || because === condition?.message;
    const isRepeated = !all && because === memberships[index - 1]?.because;
    return `${MEMBERSHIP_SIGNS[state]} ${name}${isKnown ? '' : ` (${isRepeated ? 'as above' : because})`}`;
  });

/** Returns the title of a group's members, with their numbers. */
const membersTitle = ({ members }: Explanation): string =>
  members
    ? `Members not equal yet (${members.desired} desired, ${members.toAdd} to add, ${members.toRemove} to remove)`
    : 'Members not equal yet';

/** A line of the timeline. */
interface Row {
  /** Time of the newest of the equal events, ISO 8601. */
  at: string;
  event: string;
  text: string;
  /** Number of equal events in this line. */
  times: number;
}

/**
 * Returns the timeline as lines. Equal consecutive events become one line, and equal consecutive pairs of events two lines.
 * The message of the condition is not repeated, because the reasons contain it.
 */
function timelineLines({ timeline, condition }: Explanation): string[] {
  const rows: Row[] = [];
  for (const { at, event, text } of timeline) {
    const told = condition ? text.replace(`: ${withoutGuardName(condition.message)}`, ', as above') : text;
    const row = { at, event, text: told, times: 1 };
    const last = rows.at(-1);
    if (last && isSame(last, row)) Object.assign(last, { at, times: last.times + 1 });
    else rows.push(row);
    joinPairs(rows);
  }
  return rows.map(
    ({ at, event, text, times }) =>
      `${at}  ${event.padEnd(8)}  ${text}${times > 1 ? ` (${times} times)` : ''}`,
  );
}

/** Returns the text of an event without the id of its run, so that the orders of several runs are equal. */
const withoutRun = (text: string): string => text.replace(/^(ordered by a reconcile) \(.*\)$/, '$1');

const isSame = (one: Row, other: Row): boolean =>
  one.event === other.event && withoutRun(one.text) === withoutRun(other.text);

/** Adds the last two rows to the two before when these are equal. */
function joinPairs(rows: Row[]): void {
  const [first, second, third, fourth] = rows.slice(-4);
  if (!first || !second || !third || !fourth || !isSame(first, third) || !isSame(second, fourth)) return;
  Object.assign(first, third, { times: first.times + third.times });
  Object.assign(second, fourth, { times: second.times + fourth.times });
  rows.splice(-2);
}
