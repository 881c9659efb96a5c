// Formats the entries that no run writes: for each part of them (`reportedParts`) a title with their number, and a list or
// examples.
import type { PlanEntry } from '../entry.ts';
import type { Plan } from '../plan.ts';
import { counted } from '../../support/counted.ts';
import { capital } from '../../support/sentence-parts.ts';
import { MOST_ROWS, type Listed, type Paint } from './listed.ts';
import { EXAMPLES, suchAs } from './render-summary.ts';
import { actionName, signOf } from './render-words.ts';

/** Returns the lines of the entries that no run writes. */
export function reportedLines(
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

/** A part of the entries that no run writes: its title by their number, and a test of whether an entry belongs to it. */
type ReportedPart = [title: (count: number) => string, isPart: (entry: PlanEntry) => boolean];

function reportedParts(isRestored: boolean): ReportedPart[] {
  const addedBy = 'added by others, or by the bridge before the restore,';
  const [one, many] = isRestored
    ? [`was ${addedBy}`, `were ${addedBy}`]
    : // The text names nobody: the bridge may have written the membership itself, before an operator dropped the link.
      // Another connection may manage the account.
      ['is not managed through this connection now', 'are not managed through this connection now'];
  return [
    [
      (count) =>
        `${counted(count, 'conflict')} ${count === 1 ? 'needs' : 'need'} a person: scim-bridge explain NAME tells what to do`,
      ({ action, kind }) => action === 'conflict' && kind !== 'Attribute',
    ],
    [
      (count) =>
        `${counted(count, 'attribute definition')} ${count === 1 ? 'needs' : 'need'} a person: correct the settings, or the definition at the platform. Until then a sync that has a value of another type to write, or a new value, ends as a dead letter`,
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

const isUnmapped = ({ action, kind }: PlanEntry): boolean => action === 'unmanaged' && kind === 'Attribute';

/** Returns the subject of an entry in words; if the platform has another name than the source, with both names. */
function subjectWords({ kind, name, member, before, after }: PlanEntry): string {
  if (member) return capital(memberIn(member, name));
  const [present = name, wanted] = [before, after].map(
    (shown) => shown?.[kind === 'User' ? 'userName' : 'displayName'],
  );
  const isRenamed = typeof present === 'string' && typeof wanted === 'string' && wanted !== present;
  return `${kind} ${isRenamed ? `${present}, to be ${wanted}` : name}`;
}

/** Returns a membership in words: `person NAME in GROUP`, or `account NAME in GROUP` for an unmanaged account. */
export const memberIn = (
  { ref, name, platformId }: NonNullable<PlanEntry['member']>,
  group: string,
): string => `${ref === null ? 'account' : 'person'} ${name || (platformId ?? '')} in ${group}`;
