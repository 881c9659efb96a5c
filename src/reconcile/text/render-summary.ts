// Summarises the changes of a large plan: parts of each action by reason and cause, with examples. Pure.
import { clipLine, LINE_COLUMNS } from '../../support/columns.ts';
import { counted, total } from '../../support/counted.ts';
import { ACTIONS, type PlanEntry } from '../entry.ts';
import { actionCount, diffLines, signOf } from './render-words.ts';

/** Number of names that a part of the summary shows. */
export const EXAMPLES = 3;
/** Largest number of parts (changes with the same reason and cause) of one action, and of causes in the line of causes. */
const MOST_PARTS = 4;

/** Returns a line with the number of changes by cause, the largest first. */
export function causeLines(changes: PlanEntry[]): string[] {
  const counts = new Map<string, number>();
  for (const { attribution } of changes) {
    const cause = `${attribution.cause}${attribution.by === undefined ? '' : ` by ${attribution.by}`}`;
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
  }
  const largest = [...counts].sort(([, left], [, right]) => right - left);
  const shown = largest.slice(0, MOST_PARTS).map(([cause, count]) => `${count} ${cause}`);
  const left = total(largest.slice(MOST_PARTS).map(([, count]) => count));
  return [`  causes: ${shown.join(', ')}${left > 0 ? `, ${left} others` : ''}`];
}

/** Returns lines with the largest parts of each action, by reason and cause, and examples of each part. */
export function summaryLines(changes: PlanEntry[], paint: (sign: string, text: string) => string): string[] {
  return ACTIONS.flatMap((action) => {
    const ofAction = changes.filter((entry) => entry.action === action);
    if (ofAction.length === 0) return [];
    const parts = groupsOf(
      ofAction,
      ({ reason, attribution: { cause, by } }) =>
        `${reason} (${cause}${by === undefined ? '' : ` by ${by}`})`,
    );
    const largest = [...parts].sort(([, left], [, right]) => right.length - left.length);
    const others = largest.slice(MOST_PARTS).map(([, entries]) => entries.length);
    const title = `${signOf(action)} ${actionCount(action, ofAction.length)}`;
    const isOnePart = largest.length === 1;
    return [
      ...(isOnePart ? [] : [paint(signOf(action), title)]),
      ...largest.slice(0, MOST_PARTS).flatMap(([part, entries]) => {
        const text = `${subjectsOf(entries)}: ${part}`;
        return [
          isOnePart
            ? paint(signOf(action), `${title}, ${text}`)
            : `${String(entries.length).padStart(6)}  ${text}`,
          suchAs(entries.map(exampleOf)),
        ];
      }),
      ...(others.length > 0
        ? [`     … and ${total(others)} more in ${counted(others.length, 'smaller part')}: --all, or --json`]
        : []),
    ];
  });
}

/** Returns the items by key, in the order of the first item of each key. */
export function groupsOf<T, K>(all: readonly T[], keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const known = groups.get(keyOf(one));
    if (known) known.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups;
}

/** Returns one line with a few of the texts. */
export function suchAs(texts: string[]): string {
  const isCut = texts.length > EXAMPLES;
  const shown = texts.slice(0, EXAMPLES).join('; ');
  return clipLine(`        ${isCut ? `such as ${shown} …` : shown}`, LINE_COLUMNS);
}

/** Returns the name of a changed resource or member, with the change of an attribute. */
function exampleOf(entry: PlanEntry): string {
  const change = entry.attribute === undefined ? '' : ` ${diffLines(entry).join(', ')}`;
  return `${entry.member?.name ?? entry.name}${change}`;
}

/** Returns what a change is about: a group, an attribute, the updated values, or a kind of resource. */
function subjectOf({ kind, action, attribute, name, member, after }: PlanEntry): string {
  if (member) return `group ${name}`;
  if (attribute !== undefined) return `attribute ${attribute}`;
  if (action === 'update') return Object.keys(after ?? {}).join(', ');
  return { User: 'users', Group: 'groups', Attribute: 'attribute definitions' }[kind];
}

/** Returns what the changes of a part are about; several groups or attributes are counted. */
function subjectsOf(entries: PlanEntry[]): string {
  const subjects = [...new Set(entries.map(subjectOf))];
  const [first] = entries;
  if (subjects.length > 1 && first?.member) return counted(subjects.length, 'group');
  if (subjects.length > 1 && first?.attribute !== undefined) return counted(subjects.length, 'attribute');
  return subjects.join(', ');
}
