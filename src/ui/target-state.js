// Judges a row of the status: the label of its most severe state, and sentences about what stands in its way. Pure, so that tests
// compare both with the command status.
import { failureLabel } from './breaker.js';

/** Returns the number of desired users and groups that the coverage counts as missing: not synced, and no sync is due. */
export const missingIn = ({ coverage: { users, groups } }) => users.missing + groups.missing;

const conflictsOf = ({ reconcile: { last } }) => last?.conflicts?.count ?? 0;
/** Returns how many resources keep a difference, by the list of exceptions and by the coverage. */
const exceptionsOf = ({ exceptions, coverage: { users, groups } }) =>
  exceptions.total + users.held + users.exceptions + groups.held + groups.exceptions;

/**
 * Returns tone and text of the label of the most severe state. Without a finding about the processes the label is `In step`
 * exactly if the command status exits with 0. `blocked` are dead letters, `dirty` are changes that are not applied.
 */
export function labelOf(row) {
  const { hold, breaker, blocked, guard, dirty } = row;
  if (hold) return ['warn', 'On hold'];
  if (row.hasMoved) return ['bad', 'Address changed'];
  const failure = failureLabel(breaker);
  if (failure) return ['bad', failure];
  if (missingIn(row) > 0) return ['bad', 'Somebody is missing'];
  if (blocked + conflictsOf(row) > 0) return ['bad', 'Needs a person'];
  if (row.lostAttributes.length > 0) return ['bad', 'Values may be lost'];
  if (guard.held > 0) return ['warn', 'Waits for approval'];
  if (dirty > 0) return ['info', 'Catching up'];
  if (exceptionsOf(row) > 0) return ['warn', 'Exceptions stand'];
  return row.hasNewRules ? ['warn', 'Not by the new settings'] : ['good', 'In step'];
}

/** Returns sentences about conflicts, an overdue comparison, derived data and the receiver of events. */
export function obstacles({ reconcile, proof, events }) {
  const { last, overdue } = reconcile;
  return [
    last?.conflicts && conflictNote(last.conflicts),
    overdue &&
      `${overdue[0].toUpperCase()}${overdue.slice(1)}: order scim-bridge reconcile, and look at its reason`,
    proof?.faults > 0 &&
      `Derived data in Redis differs from the records (${proof.faults.toLocaleString('en')}): scim-bridge doctor --deep names what`,
    events && eventNote(events),
  ].filter(Boolean);
}

function conflictNote({ count, reason }) {
  const others =
    count > 1 ? `, and ${(count - 1).toLocaleString('en')} more: scim-bridge plan names them` : '';
  const what = count === 1 ? '1 conflict needs' : `${count.toLocaleString('en')} conflicts need`;
  return `${what} a person: ${reason}${others}. Then order scim-bridge reconcile`;
}

/** Returns words about security events that wait, were refused or were dropped; undefined: the receiver has taken all. */
function eventNote({ pending, kept, dropped, droppedAt, problem }) {
  const parts = [
    pending > 0 && `${pending.toLocaleString('en')} not taken yet`,
    kept > 0 && `${kept.toLocaleString('en')} refused: scim-bridge events refused lists them`,
    dropped > 0 &&
      `${dropped.toLocaleString('en')} dropped${droppedAt ? `, the last ${new Date(droppedAt).toLocaleString('en-GB')}` : ''}: the receiver has to read all users and groups anew, unless it has since`,
    problem !== null && `the receiver ${problem}`,
  ].filter(Boolean);
  return parts.length > 0 ? `Security events: ${parts.join(', ')}` : undefined;
}
