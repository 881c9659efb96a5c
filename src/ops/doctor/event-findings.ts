// Warns in doctor of security events that a receiver does not take, refused or did not get.
import type { DesiredState } from '../../directory/desired-state.ts';
import { counted } from '../../support/counted.ts';
import { capital } from '../../support/sentence-parts.ts';
import { AFTER_DROPPED, droppedEventsText } from '../events.ts';
import { findingFor, type DoctorFinding } from './doctor-finding.ts';

/**
 * Time after the last dropped event for which doctor warns of it. The warning ends by time, because nothing shows whether the
 * receiver has read everything anew since.
 */
const DROPPED_MS = 7 * 86_400_000;

/** Age of the oldest waiting event from which a receiver does not keep up, as for the alert ScimBridgeEventsWait. */
const LATE_MS = 3_600_000;

/** Returns the warnings about each connection with a receiver. @param now Unix milliseconds */
export async function eventFindings(
  states: readonly Pick<DesiredState, 'connection' | 'directory' | 'events'>[],
  now: number,
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  for (const { connection, directory, events } of states) {
    if (!directory.tellsEvents) continue;
    const { warning } = findingFor(`events ${connection}`);
    const delivery = await events.delivery();
    const { problem, pending, oldestMs, kept, droppedAt } = delivery;
    // Without a failed push, only the age shows that a receiver does not keep up. A failure counts until events are taken again.
    if (pending > 0 && (problem !== null || oldestMs > LATE_MS))
      findings.push(
        warning(
          `the receiver ${problem ?? 'has not taken the oldest event for over an hour'}; ${counted(pending, 'event waits', 'events wait')}`,
          'Events are pushed again, or wait to be fetched. What is too old or too much is dropped: see docs/events.md.',
        ),
      );
    if (kept > 0)
      findings.push(
        warning(
          `the receiver refused ${counted(kept, 'event')}`,
          'scim-bridge events refused says why. Remove the cause, then scim-bridge events retry or scim-bridge events drop.',
        ),
      );
    const dropped = droppedEventsText(delivery);
    if (dropped !== undefined && droppedAt !== null && now - droppedAt < DROPPED_MS)
      findings.push(
        warning(
          dropped,
          `${capital(AFTER_DROPPED)}. The limits are connections.${connection}.events.mostPending and maxAge.`,
        ),
      );
  }
  return findings;
}
