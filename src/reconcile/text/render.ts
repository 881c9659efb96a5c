// Formats a plan as text. Pure. From top to bottom: a headline, the coverage, warnings, the changes, the entries that no run
// writes, the exceptions, the handover, and the cost of the comparison. `renderPlan` chooses how much is listed, so that the text
// fits a screen.
import { isChange, type PlanEntry } from '../entry.ts';
import { withoutExceptions } from './exception-words.ts';
import { exceptionLines } from './exception-lines.ts';
import { coverageText } from './coverage-text.ts';
import { handoverLines } from '../handover/render-handover.ts';
import { headline } from './headline.ts';
import type { Listed, Paint } from './listed.ts';
import type { Plan } from '../plan.ts';
import { warningLines } from './render-warnings.ts';
import { causeLines, summaryLines } from './render-summary.ts';
import { actionName, diffLines, signOf } from './render-words.ts';
import { memberIn, reportedLines } from './reported-lines.ts';
import { wholeLines } from '../../support/columns.ts';
import { counted } from '../../support/counted.ts';

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
/** Terminal colours (ANSI SGR) by sign: red, green, yellow, magenta, faint. */
const COLOURS: Record<string, number> = { '-': 31, '+': 32, '~': 33, '!': 35, '?': 2 };

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

/** Returns the cause with actor and time, for brackets; '' for the cause `none`. */
function causeOf({ attribution: { cause, by, at } }: PlanEntry): string {
  const who = by === undefined ? '' : ` by ${by}`;
  return cause === 'none' ? '' : `${cause}${who}${at === undefined ? '' : ` at ${at}`}`;
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
