// Counts pushes and calls since the start of the process, for the history of the operators' page.
import type { ScimOperation } from '../http/scim/operation.ts';

const PUSHES: ReadonlySet<ScimOperation> = new Set(['create', 'replace', 'patch', 'delete', 'bulk']);

export interface PushTally {
  /** Requests that changed something, and requests of any kind that failed. */
  pushes: number;
  pushesRefused: number;
}
export interface CallTally {
  /** All calls; of those the ones that the platform refused (4xx), and the ones without a useful answer (none, 429, 5xx). */
  calls: number;
  callsRefused: number;
  callsFailed: number;
}

export interface Tallies {
  /** By connection. */
  pushes: Map<string, PushTally>;
  /** By target. */
  calls: Map<string, CallTally>;
}

export const createTallies = (): Tallies => ({ pushes: new Map(), calls: new Map() });

/** Returns the counter of the requests of a connection. */
export function tallyPushes(
  { pushes }: Tallies,
  connection: string,
): (operation: ScimOperation, failed: boolean) => void {
  const tally = pushes.get(connection) ?? { pushes: 0, pushesRefused: 0 };
  pushes.set(connection, tally);
  return (operation, failed) => {
    if (failed) tally.pushesRefused++;
    else if (PUSHES.has(operation)) tally.pushes++;
  };
}

/** Returns the counter of the calls to a target. @returns a function of the HTTP status; 0: no complete answer */
export function tallyCalls({ calls }: Tallies, target: string): (status: number) => void {
  const tally = calls.get(target) ?? { calls: 0, callsRefused: 0, callsFailed: 0 };
  calls.set(target, tally);
  return (status) => {
    tally.calls++;
    if (status === 0 || status === 429 || status >= 500) tally.callsFailed++;
    else if (status >= 400) tally.callsRefused++;
  };
}
