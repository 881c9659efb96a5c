// Formats an entry of the provisioning log as one line of text: time, target, name of the resource, what was done, the written
// values, the members, the message, and the id of the request that caused it.
import type { LogAction } from '../directory/logs/provisioning-log.ts';
import type { LocatedEntry } from '../ops/log/provisioning-log.ts';
import { writtenValueText } from '../ops/log/provisioning-csv.ts';
import { STATUS_WORDS } from '../ops/log/provisioning-record.ts';
import { withoutGuardHolds } from '../reconcile/text/exception-words.ts';
import { counted } from '../support/counted.ts';
import { someOf } from '../support/sentence-parts.ts';
import { isoTime } from '../support/sources.ts';

/** Largest number of members that a line names. */
export const MOST_MEMBERS = 5;
/** Largest number of written values in a line. Values that decide about access count too, but all of them are shown. */
const MOST_VALUES = 3;

/**
 * Returns an entry as one line of text, which ends with the id of the request that caused the change: `[…]`.
 * @param named names of the first members
 */
export function logLineText(
  { at, target, ref, name, action, status, changes, members, message, request, forgotten }: LocatedEntry,
  named: readonly string[] = [],
): string {
  const what = [action === 'none' ? '' : action, STATUS_WORDS[status]].filter(Boolean).join(' ');
  const detail = [
    ...valuesText(action, changes ?? []),
    ...(members ? [membersText(members.length, named)] : []),
    ...(message ? [status === 'held' ? withoutGuardHolds(message) : message] : []),
  ].join('; ');
  // The ref tells people apart whose names were removed.
  const shownName = forgotten ? `${name} ${ref}` : name;
  return `${isoTime(at)}  ${target}  ${shownName}  ${what}${detail ? `  ${detail}` : ''}  [${request}]`;
}

/** A written value: its name (`active`, or an attribute as `attributes.<name>`), the value before, the value after. */
type Change = NonNullable<LocatedEntry['changes']>[number];
const isAttribute = ([name]: Change): boolean => name.startsWith('attributes.');
const isActive = ([name]: Change): boolean => name === 'active';

/** Returns all written values that decide about access, then others up to MOST_VALUES, and the number of those left out. */
function valuesText(action: LogAction, changes: readonly Change[]): string[] {
  // Only attribute values of a create are listed: every account or group gets its core values, such as userName, and `active`
  // is a later write.
  const listed = action === 'create' ? changes.filter(isAttribute) : changes;
  const access = listed.filter((each) => isAttribute(each) || isActive(each));
  const others = listed.filter((each) => !access.includes(each));
  const shown = others.slice(0, Math.max(0, MOST_VALUES - access.length));
  const more = others.length - shown.length;
  return [
    ...[...access, ...shown].map(([name, before, after]) => writtenValueText(name, before, after)),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

function membersText(count: number, named: readonly string[]): string {
  return counted(count, 'member') + (named.length === 0 ? '' : `: ${someOf(named, { count })}`);
}
