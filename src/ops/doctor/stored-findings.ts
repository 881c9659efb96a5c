// Gathers the findings of doctor that come from data in Redis, such as processes, reconcile runs, holds, tokens, events and logs.
import { holdAdvice } from '../../directory/guard/operator-hold.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import { isoTime, type Clock } from '../../support/sources.ts';
import { logFindings } from './check-logs.ts';
import { eventFindings } from './event-findings.ts';
import { findingsByTarget, findingFor, orUnmade, type DoctorFinding } from './doctor-finding.ts';
import { failingFindings } from '../status/failing.ts';
import { fleetFindings } from '../status/fleet-text.ts';
import type { ReadFleet } from '../status/fleet.ts';
import { lastProofFindings } from './proof-findings.ts';
import { lastProofs } from './prove.ts';
import { reconcileFindings } from './reconcile-age.ts';
import { tokenFindings, type TokenPlaces } from './token-findings.ts';
import { movedText } from '../../reconcile/tenant/tenant.ts';
import { unfinishedForgetFindings } from './unfinished-forgets.ts';

export interface StoredSubject extends TokenPlaces {
  states: readonly DesiredState[];
  readFleet: ReadFleet;
  notices: { findings: () => Promise<DoctorFinding[]> };
  clock: Clock;
}

/** Returns the findings of the last comparison of derived data, then those of storedFindings. */
export async function dataFindings(subject: StoredSubject): Promise<DoctorFinding[]> {
  const { states, clock } = subject;
  const connections = states.map(({ connection }) => connection);
  const proofs = await orUnmade('data', async () =>
    lastProofFindings(connections, await lastProofs(states), clock.now()),
  );
  return [...proofs, ...(await storedFindings(subject))];
}

/** Returns the findings of every check. A check that fails has one finding with the reason. */
export async function storedFindings(subject: StoredSubject): Promise<DoctorFinding[]> {
  const { states, readFleet, notices, clock } = subject;
  const checks = await Promise.all([
    orUnmade('fleet', async () => fleetFindings(await readFleet())),
    orUnmade('hold', () => holdFindings(states)),
    orUnmade('address', () => movedFindings(states)),
    orUnmade('sync', () => failingFindings(states)),
    orUnmade('reconcile', () => reconcileFindings(states)),
    orUnmade('forget', () => unfinishedForgetFindings(states, clock.now())),
    orUnmade('tokens', () => tokenFindings(subject, clock)),
    orUnmade('events', () => eventFindings(states, clock.now())),
    ...states.map((state) => orUnmade(`log ${state.connection}`, () => logFindings([state]))),
    orUnmade('notices', () => notices.findings()),
  ]);
  return checks.flat();
}

/** Returns one warning for each target to which nothing is written, because an operator or a reconcile stopped it. */
const holdFindings = (states: readonly DesiredState[]): Promise<DoctorFinding[]> =>
  findingsByTarget(states, async ({ connection }, target, { guardStore }) => {
    const hold = await guardStore.onHold();
    if (!hold) return undefined;
    const note = hold.note ? ` (${hold.note})` : '';
    return findingFor(`hold ${connection} → ${target}`).warning(
      `on hold since ${isoTime(hold.since)} by ${hold.by}${note}: nothing is written`,
      `scim-bridge status says what is decided there. ${holdAdvice(target, hold)}.`,
    );
  });

/** Returns one error for each target to which nothing is written, because no linked account was found at its new address yet. */
const movedFindings = (states: readonly DesiredState[]): Promise<DoctorFinding[]> =>
  findingsByTarget(states, async ({ connection }, target, { hasMoved }) =>
    (await hasMoved())
      ? findingFor(`address ${connection} → ${target}`).error(
          movedText(target),
          `If ${target} is to be the same tenant, check targets.${target}.url.`,
        )
      : undefined,
  );
