// Makes the end of a run whose resources were synced: the outcome, and a message for operators about changes that are held or need
// a person.
import type { Outcome } from '../../directory/outbox/runs.ts';
import { counted } from '../../support/counted.ts';
import type { ReconcileScope } from '../scope.ts';

export interface End {
  outcome: Outcome;
  message?: string;
  /** A hold or the acceptance of another tenant ended the run before one of its changes was applied. */
  isStopped?: true;
  /** With `blocked`: people wait for the removal from a refused group, and nothing else needs a person. */
  isOnlyWaiting?: true;
}

/** The end of a run after which the platform is as desired. */
export const CONVERGED: End = { outcome: 'converged' };

/**
 * Returns whether a run left nothing to write or to decide, apart from the changes of people who wait for the removal from a refused
 * group. One such person may wait for weeks, so what follows a converged run must not wait too.
 */
export const convergedBesideWaiting = ({ outcome, isOnlyWaiting }: End): boolean =>
  outcome === 'converged' || isOnlyWaiting === true;

/**
 * Returns the end of a run with held changes; its message names the approval and counts the dead letters.
 * @param counts.letters number of dead letters
 * @param counts.ofRun number of held changes that belong to this run; default: all changes of the approval
 */
export function toHeld(
  { connection }: ReconcileScope,
  { id, total }: { id: string; total: number },
  { letters, ofRun = total }: { letters: number; ofRun?: number },
): End {
  const changes =
    ofRun === total
      ? counted(total, 'change')
      : `${counted(ofRun, 'change')} of this run, ${ofRun} of ${total} in the approval`;
  return {
    outcome: 'held',
    message: `the guard holds ${changes}: scim-bridge approvals show ${connection}.${id}${besides(letters)}`,
  };
}

/** Returns the number of dead letters, and where they are listed. */
const deadLetters = (count: number): string =>
  `${counted(count, 'dead letter')}: see scim-bridge dead-letters list`;

/** The dead letters, as the end of a text about held changes; '' without any. */
const besides = (letters: number): string => (letters > 0 ? `; ${deadLetters(letters)}` : '');

/**
 * Returns the end of a run with changes that need a person.
 * @param counts.letters number of dead letters
 * @param counts.waiting number of people who first have to leave a group whose last sync was refused
 * @param counts.conflicts number of other conflicts
 */
export function blockedEnd({
  letters,
  waiting,
  conflicts = 0,
}: {
  letters: number;
  waiting: number;
  conflicts?: number;
}): End {
  const parts = [
    ...(letters > 0 ? [deadLetters(letters)] : []),
    ...(conflicts > 0
      ? [
          `${counted(conflicts, 'conflict')} ${conflicts === 1 ? 'needs' : 'need'} a person: see scim-bridge plan`,
        ]
      : []),
    // Last, because `status` leaves out the message from its first advice on.
    ...(waiting > 0
      ? [
          `${waiting === 1 ? '1 person waits' : `${waiting} people wait`} for the removal from a group that needs a person: scim-bridge explain of the person names the group`,
        ]
      : []),
  ];
  const end: End = { outcome: 'blocked', message: parts.join('; ') };
  return letters + conflicts === 0 ? { ...end, isOnlyWaiting: true } : end;
}

/**
 * Returns the end of a run with changes that wait for another resource, whose change is held; dead letters are named too.
 * @param approval undefined: an operator has just decided it
 */
export function behindHeldEnd(
  { connection }: ReconcileScope,
  approval: { id: string; total: number } | undefined,
  { count, letters }: { count: number; letters: number },
): End {
  const where = approval ? `scim-bridge approvals show ${connection}.${approval.id}` : 'scim-bridge status';
  const held = approval ? `the guard holds ${counted(approval.total, 'change')}` : 'the guard held a change';
  return {
    outcome: 'held',
    message: `${held}, for which ${counted(count, 'change')} of this run ${count === 1 ? 'waits' : 'wait'}: ${where}${besides(letters)}`,
  };
}
