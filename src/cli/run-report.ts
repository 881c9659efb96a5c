// Prints the report of a run, and turns the reports of a command into its exit code.
import type { Outcome, RunReport } from '../directory/outbox/runs.ts';
import { workerMissing } from '../ops/status/fleet.ts';
import { counted } from '../support/counted.ts';
import { BLANK_LINE, complain, say } from './output.ts';
import type { CommandContext, SelectedScope } from './scopes.ts';

/** Exit code of each outcome of a run. 2: held by the guard or only reported; 1: not everything is as desired. */
export const RUN_EXITS: Record<Outcome, 0 | 1 | 2> = {
  converged: 0,
  held: 2,
  drifted: 2,
  blocked: 1,
  unproven: 1,
  incomplete: 1,
  failed: 1,
};

/** Prints the outcome of a run. @param name of the connection and target */
export function printReport(name: string, { outcome, message }: RunReport): void {
  say(BLANK_LINE, `${name}: ${outcome}${message === undefined ? '' : `: ${message}`}`);
}

/** Returns the exit code of a command with these reports: 1 if one of them gives 1, else 2 if one gives 2, else 0. */
export function exitCodeOf(reports: readonly RunReport[]): number {
  const codes = reports.map(({ outcome }) => RUN_EXITS[outcome]);
  if (codes.includes(1)) return 1;
  return codes.includes(2) ? 2 : 0;
}

/**
 * Prints how many resources of each scope still wait for a worker, if no worker runs: the command has written only the entries of
 * its plan.
 */
export async function complainUnapplied(
  scopes: readonly SelectedScope[],
  readFleet: CommandContext['readFleet'],
): Promise<void> {
  const { findings } = await readFleet();
  const found = workerMissing(findings);
  if (!found) return;
  for (const { name, scope } of scopes) {
    const left = await scope.outbox.countWaiting();
    if (left === 0) continue;
    const waits = `${counted(left, 'resource')} still ${left === 1 ? 'waits' : 'wait'} for a worker`;
    complain(`${name}: ${waits}; ${found.message}. ${found.advice}`);
  }
}
