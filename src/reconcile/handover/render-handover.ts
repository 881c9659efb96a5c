// Formats the handover section of a plan as text. Pure.
import { counted } from '../../support/counted.ts';
import { MOST_ITEMS, type OwnedItem } from './owned-items.ts';
import {
  hasWork,
  peopleDue,
  whyNothingMoves,
  type HandoverSection,
  type PlannedHandover,
} from './plan-handover.ts';

/** Largest numbers of people, and of items of each, that are shown: in a long and in a short form of the plan. */
const MOST_LISTED = { people: 20, items: 5 };
const MOST_SUMMARISED = { people: 4, items: 1 };

/** Returns what a run does with the items of closed accounts, which texts call their work; undefined: nothing. */
export function handoverWords(section: HandoverSection | undefined): string | undefined {
  const due = peopleDue(section);
  const workOf = (count: number, verb: string): string[] =>
    count === 0 ? [] : [`the work of ${counted(count, 'person', 'people')} to ${verb}`];
  const returning = due.filter(({ state }) => state === 'return').length;
  const parts = [...workOf(due.length - returning, 'hand over'), ...workOf(returning, 'give back')];
  return parts.length === 0 ? undefined : parts.join(', ');
}

/**
 * Returns lines with owner, time, destination and items.
 * @param options `all`: everybody, with all items. Else `others` decides (Listed in text/listed.ts): true shows MOST_LISTED, false
 *   MOST_SUMMARISED
 */
export function handoverLines(
  section: HandoverSection | undefined,
  { all, others }: { all: boolean; others: boolean },
): string[] {
  if (!section) return [];
  const { deployment, folder } = section;
  const problem = whyNothingMoves(section);
  const people = section.people.filter(hasWork);
  if (people.length === 0 && problem === null) return [];
  const most = others ? MOST_LISTED : MOST_SUMMARISED;
  const shown = all ? people : people.slice(0, most.people);
  const dueNow = people.filter(({ state }) => state === 'due').length;
  return [
    '',
    `→ handover of the work of closed accounts to the folder ${folder} of the deployment ${deployment}${
      problem !== null && people.length === 0 ? '' : `: ${counted(dueNow, 'person', 'people')} due`
    }`,
    ...(problem === null ? [] : [`    ! Nothing is moved: ${problem}.`]),
    ...shown.flatMap((person) => personLines(person, all ? Infinity : most.items)),
    ...(shown.length < people.length
      ? [`    … and ${people.length - shown.length} more: --all, or --json`]
      : []),
  ];
}

function personLines({ name, state, at, closedAt, folder, items }: PlannedHandover, most: number): string[] {
  if (state === 'return')
    return [`    ${name} is active again: the work in ${folder} goes back to its places`];
  const shown = items.slice(0, most);
  const when = state === 'due' ? `due since ${at}` : `on ${at}`;
  return [
    `    ${name}, closed ${closedAt}: ${items.length < MOST_ITEMS ? '' : 'the first '}${counted(items.length, 'item')} to ${folder}, ${when}`,
    ...shown.map((item) => `      ${itemText(item)} from ${placeText(item)}`),
    ...(shown.length < items.length ? [`      … and ${items.length - shown.length} more`] : []),
  ];
}

/** Returns an item as text: `workbook "NAME" (ID)`. */
export const itemText = ({ type, name, id }: Pick<OwnedItem, 'type' | 'name' | 'id'>): string =>
  `${type.toLowerCase()} "${name}" (${id})`;

const placeText = ({ fromPath }: OwnedItem): string =>
  fromPath.length === 0 ? 'the root' : fromPath.join('/');
