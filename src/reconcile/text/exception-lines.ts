// Formats the exceptions of a plan: the resources that differ from the desired state until a person acts.
import { isByFormerSettings } from '../../directory/outbox/condition-text.ts';
import type { StandingException } from '../../directory/outbox/exception-list.ts';
import type { Plan } from '../plan.ts';
import { counted } from '../../support/counted.ts';
import { isoTime } from '../../support/sources.ts';
import { EXCEPTION_WORDS, withoutGuardHolds } from './exception-words.ts';
import { MOST_ROWS, type Listed, type Paint } from './listed.ts';
import { groupsOf, suchAs } from './render-summary.ts';

/** Returns the lines of the exceptions, one by one or by reason; none without exceptions. */
export function exceptionLines(
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

/** Note on exceptions that other settings caused: only a retry tries them again, so the plan has no entries for it. */
const BY_FORMER_SETTINGS =
  'judged by other settings than these. scim-bridge dead-letters retry tries them again and may take over or close their accounts; scim-bridge sync NAME --dry-run shows what it would write.';
