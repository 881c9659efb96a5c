// Texts about the condition of a resource for operators, beside its stored message: what the present settings change about it,
// and what follows for the account of a leaver.
import { BUT_NOT_ON_HOLD } from '../guard/operator-hold.ts';
import { isAwaitingDecision, isByConnections, isBySettingsOfThen, type Condition } from './link-condition.ts';
import { isoTime } from '../../support/sources.ts';

const FORMER_SETTINGS = 'by settings that have changed meanwhile';

/** Returns whether the text of a condition has the note that other settings judged it. */
export const isByFormerSettings = (text: string): boolean => text.includes(`, ${FORMER_SETTINGS}: `);

/** Note on a change held under other settings: the present ones may not want it. Each run has such changes judged anew. */
const JUDGED_BEFORE = ` (the settings have changed since the guard held it: the next reconcile, or scim-bridge sync, judges it anew${BUT_NOT_ON_HOLD})`;

/** Returns whether the text of a condition or held change notes that the settings have changed since the guard held the change. */
export const isHeldByFormerSettings = (text: string): boolean => text.includes(JUDGED_BEFORE);

/**
 * Returns the note that the settings have changed since the guard held the change; '' if they have not, or nothing is held.
 * @param condition of the resource
 * @param settings print of the present settings
 */
export const formerSettingsNote = (condition: Condition | undefined, settings: string): string =>
  condition?.reason === 'Held' && isBySettingsOfThen(condition, settings) ? JUDGED_BEFORE : '';

/**
 * Returns the message of a condition under the present settings. If other settings judged it, there are two cases. A held change
 * gets a note, because the present settings may not want it any more. A condition that other connections may end loses the advice
 * behind its first colon: such a connection may have left the settings, or be back in them and have the account.
 * @param settings print of the present settings
 */
export function presentMessage(condition: Condition, settings: string): string {
  const { reason, message } = condition;
  if (!isBySettingsOfThen(condition, settings)) return message;
  if (reason === 'Held') return `${message}${formerSettingsNote(condition, settings)}`;
  return isByConnections(condition) ? message.replace(/: .*/s, '') : message;
}

/**
 * Returns the message of a condition, with a note if other settings judged it.
 * @param settings print of the present settings
 */
export function conditionText(condition: Condition, settings: string): string {
  const message = presentMessage(condition, settings);
  // The message of a held change has its note already.
  const lacksNote = condition.reason !== 'Held' && isBySettingsOfThen(condition, settings);
  if (!lacksNote) return message;
  return (
    `${message} (since ${isoTime(condition.since)}, ${FORMER_SETTINGS}: ` +
    'scim-bridge dead-letters retry, or sync, tries it again)'
  );
}

/** End of a message about the held deactivation of a leaver, whose account the settings delete. */
export const DELETED_AFTERWARDS = '; the account is deleted afterwards, if guard.delete allows it';

/**
 * Returns the end of the message about a leaver whose deactivation is held (the deletion follows it) or rejected (no deletion
 * follows); '' for every other condition, also for a refused write (`write`).
 * @param deletesLeavers whether the present settings delete the account of a leaver after its deactivation
 */
export function deletionText(condition: Condition | undefined, deletesLeavers: boolean): string {
  if (!condition?.isLeaver || condition.write || !deletesLeavers || !isAwaitingDecision(condition)) return '';
  return (condition.besides ?? condition.reason) === 'Rejected'
    ? '; the account is not deleted either, although users.deprovision is delete'
    : DELETED_AFTERWARDS;
}
