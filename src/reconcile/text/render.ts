// Formats a plan as text: one line of counts, then a summary or every difference. Pure.
import { ACTIONS, isChange, type PlanEntry } from '../entry.ts';
import { EXCEPTION_WORDS, withoutExceptions, withoutGuardHolds } from './exception-words.ts';
import { coverageText } from './coverage-text.ts';
import { handoverLines, handoverWords } from '../handover/render-handover.ts';
import { isByFormerSettings } from '../../directory/outbox/condition-text.ts';
import type { StandingException } from '../../directory/outbox/exceptions.ts';
import type { Plan } from '../plan.ts';
import { warningLines } from './render-warnings.ts';
import { EXAMPLES, causeLines, groupsOf, suchAs, summaryLines } from './render-summary.ts';
import { actionCount, actionName, diffLines, signOf } from './render-words.ts';
import { isToBeHeld } from '../unwritten/to-be-held.ts';
import { wholeLines } from '../../support/columns.ts';
import { counted } from '../../support/counted.ts';
import { capital } from '../../support/sentence-parts.ts';
import { isoTime } from '../../support/sources.ts';

export interface RenderOptions {
  /** Whether to list every entry. */
  all: boolean;
  colour: boolean;
  /** The plan has only the entries caused at the platform. */
  driftOnly?: boolean;
  /** Redis came back empty: a plan without changes proves nothing. */
  isDataLost?: boolean;
}

/** Largest number of lines of a terminal that a plan takes, and of changes that it lists one by one, unless `all` is set. */
const MOST_LINES = 50;
/** Largest number of rows of one list of exceptions, or of entries that no run writes, unless `all` is set. */
const MOST_ROWS = 40;
/** Terminal colours (ANSI SGR) by sign: red, green, yellow, magenta, faint. */
const COLOURS: Record<string, number> = { '-': 31, '+': 32, '~': 33, '!': 35, '?': 2 };

type Paint = (sign: string, text: string) => string;

/** Which parts of a plan are listed entry by entry; the others are counted, with examples. */
interface Listed {
  changes: boolean;
  /** Entries that no run writes, exceptions and the handover. */
  others: boolean;
  /** Lists are not cut, and each change has several lines. */
  all: boolean;
}

/** Returns the plan as lines of text: every change, or as many details as fit a screen. */
export function renderPlan(plan: Plan, options: RenderOptions): string[] {
  const { all, colour } = options;
  const paint: Paint = (sign, text) => (colour ? `\u001b[${COLOURS[sign] ?? 0}m${text}\u001b[0m` : text);
  const isListable = all || plan.entries.filter(isChange).length <= MOST_LINES;
  // From the most details to the fewest.
  const levels: Listed[] = [
    { changes: isListable, others: true, all },
    { changes: isListable, others: false, all },
    { changes: false, others: false, all },
  ];
  let lines: string[] = [];
  for (const listed of levels) {
    lines = renderLevel(plan, listed, options, paint);
    if (all || lines.flatMap((line) => wholeLines(line)).length <= MOST_LINES) break;
  }
  return lines;
}

function renderLevel(plan: Plan, listed: Listed, options: RenderOptions, paint: Paint): string[] {
  const changes = plan.entries.filter(isChange);
  const others = plan.entries.filter((entry) => !isChange(entry));
  const isShort = !listed.all;
  return [
    headline(plan, changes, others, options),
    `  people: ${coverageText(plan.coverage.users)}`,
    ...(plan.coverage.groups.desired > 0 ? [`  groups: ${coverageText(plan.coverage.groups)}`] : []),
    ...(listed.changes || changes.length === 0 ? [] : causeLines(changes)),
    ...warningLines(plan),
    // `oneByOne` begins each change with an empty line of its own.
    ...(changes.length > 0 && isShort ? [''] : []),
    ...(listed.changes
      ? changes.flatMap((entry) => (isShort ? inShort(entry, paint) : oneByOne(entry, paint)))
      : summaryLines(changes, paint)),
    ...reportedLines(plan, withoutExceptions(plan, others), listed, paint),
    ...exceptionLines(plan, listed, paint),
    ...handoverLines(plan.handover, listed),
    ...(listed.changes || changes.length === 0 ? [] : ['', 'Every single change: --all, or --json.']),
    ...costLines(plan),
  ];
}

function headline(
  plan: Plan,
  changes: PlanEntry[],
  others: PlanEntry[],
  { driftOnly = false, isDataLost = false }: RenderOptions,
): string {
  const { connection, target, coverage, exceptions, handover, proof, unknown } = plan;
  const where = `${connection} → ${target}`;
  const work = handoverWords(handover);
  if (changes.length > 0) {
    const parts = ACTIONS.flatMap((action) => {
      const count = changes.filter((entry) => entry.action === action).length;
      return count === 0 ? [] : [actionCount(action, count)];
    });
    const held = changes.filter(isToBeHeld).length;
    const besides = held === 0 ? '' : ` The guard is to hold ${held} of them: an operator has to approve.`;
    return `${where}: ${counted(changes.length, 'change')}. ${[...parts, ...(work === undefined ? [] : [work])].join(', ')}.${besides}`;
  }
  const also = work === undefined ? '' : ` Besides, ${work}, see below.`;
  const left = withoutExceptions(plan, others).filter(({ action }) => action !== 'unmanaged').length;
  if (coverage.users.missing + coverage.groups.missing > 0)
    return `${where}: no changes are known, but not everything is covered: run scim-bridge reconcile, which looks at what is missing.${also}`;
  // A hold is counted, as in the list below, and says nothing about the platform.
  const isOnHold = exceptions.items.some(({ reason }) => reason === 'OnHold');
  const isAsDesired = exceptions.total - (isOnHold ? 1 : 0) + left === 0;
  const parts = [
    ...(exceptions.total > 0 ? [counted(exceptions.total, 'exception')] : []),
    ...(left > 0 ? [`${counted(left, 'difference')} that no run changes`] : []),
  ];
  if (!(proof.users.complete && proof.groups.complete && unknown === 0))
    return `${where}: no changes are known, but the platform could not be read whole${parts.length > 0 ? `, and there ${left + exceptions.total === 1 ? 'is' : 'are'} ${parts.join(' and ')}` : ''}, see below.${also}`;
  if (!isAsDesired)
    return `${where}: nothing to write${work === undefined ? '' : ' to accounts and groups'}, but the platform is not as desired: ${parts.join(' and ')}, see below.${also}`;
  if (isDataLost)
    return `${where}: no changes are known, because Redis came back empty: accounts of people and groups that were not pushed again are not compared.${also}`;
  if (driftOnly) return `${where}: no changes by others.`;
  if (work !== undefined) return `${where}: no changes of accounts and groups, but ${work}, see below.`;
  if (handover && handover.problem !== null)
    return `${where}: no changes. Accounts and groups are as desired, but the work of closed accounts is not handed over, see below.`;
  if (isOnHold)
    return `${where}: nothing to write. The platform is as desired, and all writes are stopped, see below.`;
  return `${where}: no changes. The platform is as desired.`;
}

/** Returns the cause with actor and time, for brackets; '' for the cause `none`. */
function causeOf({ attribution: { cause, by, at } }: PlanEntry): string {
  const who = by === undefined ? '' : ` by ${by}`;
  return cause === 'none' ? '' : `${cause}${who}${at === undefined ? '' : ` at ${at}`}`;
}

function factsOf(entry: PlanEntry): { title: string; facts: string[] } {
  const whom = entry.member
    ? memberIn(entry.member, entry.name)
    : `${entry.kind.toLowerCase()} ${entry.name}`;
  const cause = causeOf(entry);
  return {
    title: `${signOf(entry.action)} ${actionName(entry.action)} ${whom}`,
    facts: [`${entry.reason}${cause === '' ? '' : ` (${cause})`}`, ...(entry.member ? [] : diffLines(entry))],
  };
}

function oneByOne(entry: PlanEntry, paint: Paint): string[] {
  const { title, facts } = factsOf(entry);
  return ['', paint(signOf(entry.action), title), ...facts.map((fact) => `    ${fact}`)];
}

/** Returns one line with a change and all its facts, or a second one when they do not fit. */
function inShort(entry: PlanEntry, paint: Paint): string[] {
  const { title, facts } = factsOf(entry);
  const text = facts.join('; ');
  const line = `${title}: ${text}`;
  return wholeLines(line).length === 1
    ? [`${paint(signOf(entry.action), title)}: ${text}`]
    : [paint(signOf(entry.action), title), `    ${text}`];
}

const isUnmapped = ({ action, kind }: PlanEntry): boolean => action === 'unmanaged' && kind === 'Attribute';

/** A part of the entries that no run writes: its title by their number, and a test of whether an entry belongs to it. */
type ReportedPart = [title: (count: number) => string, isPart: (entry: PlanEntry) => boolean];

function reportedParts(isRestored: boolean): ReportedPart[] {
  const addedBy = 'added by others, or by the bridge before the restore,';
  const [one, many] = isRestored
    ? [`was ${addedBy}`, `were ${addedBy}`]
    : // The text names nobody: the bridge may have written the membership itself, before an operator dropped the link.
      ['is not managed by the bridge now', 'are not managed by the bridge now'];
  return [
    [
      (count) =>
        `${counted(count, 'conflict')} ${count === 1 ? 'needs' : 'need'} a person: scim-bridge explain NAME tells what to do`,
      ({ action, kind }) => action === 'conflict' && kind !== 'Attribute',
    ],
    [
      (count) =>
        `${counted(count, 'attribute definition')} ${count === 1 ? 'needs' : 'need'} a person: correct the settings, or the definition at the platform`,
      ({ action, kind }) => action === 'conflict' && kind === 'Attribute',
    ],
    [
      (count) => `${count} ${count === 1 ? 'is' : 'are'} shown only and not changed`,
      ({ action, effect }) => action !== 'conflict' && action !== 'unmanaged' && effect === 'report',
    ],
    [
      (count) =>
        `${counted(count, 'attribute')} ${count === 1 ? 'has' : 'have'} left the settings, and no run changes ${count === 1 ? 'its' : 'their'} values: scim-bridge doctor tells how to clear them`,
      isUnmapped,
    ],
    [
      (count) => `${count} at the platform ${count === 1 ? 'is' : 'are'} unmanaged and left alone`,
      (entry) => entry.action === 'unmanaged' && !entry.member && !isUnmapped(entry),
    ],
    [
      (count) => `${counted(count, 'member')} ${count === 1 ? `${one} and stays` : `${many} and stay`}`,
      ({ action, member }) => action === 'unmanaged' && !!member,
    ],
  ];
}

function reportedLines(
  { restored }: Plan,
  entries: PlanEntry[],
  { all, others: byOne }: Listed,
  paint: Paint,
): string[] {
  const lines: string[] = [];
  for (const [title, isPart] of reportedParts(restored !== undefined)) {
    const some = entries.filter(isPart);
    const [first] = some;
    if (!first) continue;
    if (byOne) lines.push('');
    lines.push(paint(signOf(first.action), `${signOf(first.action)} ${title(some.length)}`));
    if (!byOne) {
      lines.push(suchAs(some.map(subjectWords)));
      continue;
    }
    const most = first.action === 'unmanaged' && !isUnmapped(first) ? EXAMPLES : MOST_ROWS;
    const shown = all ? some : some.slice(0, most);
    for (const entry of shown) {
      const { reason, action } = entry;
      const told = isUnmapped(entry)
        ? ` ${reason}`
        : action === 'unmanaged'
          ? ''
          : `: ${actionName(action)}, ${reason}`;
      lines.push(`    ${subjectWords(entry)}${told}`);
    }
    if (shown.length < some.length) lines.push(`    … and ${some.length - shown.length} more`);
  }
  return lines;
}

/** Returns a membership in words: `person NAME in GROUP`, or `account NAME in GROUP` for an unmanaged account. */
const memberIn = ({ ref, name, platformId }: NonNullable<PlanEntry['member']>, group: string): string =>
  `${ref === null ? 'account' : 'person'} ${name || (platformId ?? '')} in ${group}`;

/** Returns the subject of an entry in words; if the platform has another name than the source, with both names. */
function subjectWords({ kind, name, member, before, after }: PlanEntry): string {
  if (member) return capital(memberIn(member, name));
  const [present = name, wanted] = [before, after].map(
    (shown) => shown?.[kind === 'User' ? 'userName' : 'displayName'],
  );
  const isRenamed = typeof present === 'string' && typeof wanted === 'string' && wanted !== present;
  return `${kind} ${isRenamed ? `${present}, to be ${wanted}` : name}`;
}

/** Note on exceptions that other settings caused: only a retry tries them again, so the plan has no entries for it. */
const BY_FORMER_SETTINGS =
  'judged by other settings than these. scim-bridge dead-letters retry tries them again and may take over or close their accounts; scim-bridge sync NAME --dry-run shows what it would write.';

function exceptionLines(
  { exceptions: { total, items } }: Plan,
  { all, others: byOne }: Listed,
  paint: Paint,
): string[] {
  if (total === 0) return [];
  const isListed = all || (byOne && total <= MOST_ROWS);
  const nameOf = ({ ref, name }: StandingException): string =>
    `${ref === null ? 'Target' : ref.startsWith('Group:') ? 'Group' : 'User'} ${name}`;
  const lines = isListed
    ? items.map(
        (each) =>
          `    ${nameOf(each)}: ${EXCEPTION_WORDS[each.reason]} since ${isoTime(each.since)}${each.message === '' ? '' : `, ${withoutGuardHolds(each.message)}`}`,
      )
    : [...groupsOf(items, ({ reason }) => reason)].flatMap(([reason, some]) => [
        `${String(some.length).padStart(6)}  ${EXCEPTION_WORDS[reason]}`,
        suchAs(some.map(nameOf)),
      ]);
  const left = total - items.length;
  const isHeld = items.some(({ reason }) => reason === 'Held' || reason === 'LastAdministrator');
  const end = isHeld
    ? 'until a person acts or the guard judges it anew'
    : 'until a person acts or the change is unwanted';
  const former = items.filter(({ message }) => isByFormerSettings(message)).length;
  return [
    ...(byOne ? [''] : []),
    paint('!', `! ${counted(total, 'exception')}, ${end}${isListed ? '' : ': see scim-bridge exceptions'}`),
    ...lines,
    ...(left > 0 ? [`    … and ${left} more: see scim-bridge exceptions`] : []),
    ...(former === 0 ? [] : [`    ${left > 0 ? 'At least ' : ''}${former} of them: ${BY_FORMER_SETTINGS}`]),
  ];
}

function costLines({ cost: { calls, values, members, durationMs }, proof }: Plan): string[] {
  const lines = [
    '',
    `Compared ${counted(proof.users.seen, 'user')} and ${counted(proof.groups.seen, 'group')} with ${counted(calls, 'call')} in ${(durationMs / 1000).toFixed(1)} s. Members were read of ${members.read} of ${counted(members.of, 'group')}.`,
  ];
  if (values.of > values.read)
    lines.push(
      `Truth values and lists were read of ${values.read} of ${counted(values.of, 'user')}: --full reads all of them, one call each.`,
    );
  return lines;
}
