// Refuses a restore that would mix data or write beside a running service. Nothing was changed when one of these checks throws.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DesiredState } from '../../directory/desired-state.ts';
import { runningText } from '../status/fleet-text.ts';
import type { ReadFleet } from '../status/fleet.ts';
import { RestoreRefused } from './lone-restore.ts';
import type { CheckedBackup } from './backup-file.ts';
import type { BackupHeader } from './backup-format.ts';

/** @throws RestoreRefused for a file without valid HMAC when `backup.key` is set, because its origin is unknown */
export function refuseUnlessProven({ proof }: CheckedBackup, acceptUnproven: boolean): void {
  if (acceptUnproven || proof === 'valid' || proof === 'unknown') return;
  const says = proof === 'invalid' ? 'The HMAC of the backup does not fit' : 'The backup has no HMAC';
  throw new RestoreRefused(
    `${says}, and backup.key is set: somebody may have written users, links or tokens into it. --accept-forgeable takes it all the same.`,
  );
}

/**
 * Returns the states of the connections of a backup.
 * @throws RestoreRefused when one of them, or a target, is not in the settings
 */
export function statesFor({ connections }: BackupHeader, states: readonly DesiredState[]): DesiredState[] {
  return Object.entries(connections).map(([name, targets]) => {
    const state = states.find(({ connection }) => connection === name);
    if (!state)
      throw new RestoreRefused(
        `The backup holds the connection ${name}, which the settings do not have. Restore with the settings of that time, which feed ${targets.join(', ')} from ${name}, and take it out afterwards (docs/removed-targets.md).`,
      );
    const missing = targets.filter((target) => !state.outboxes.has(target));
    if (missing.length > 0)
      throw new RestoreRefused(
        `In the backup ${name} feeds ${missing.join(', ')}, in the settings it does not: add it, or restore with the settings of that time.`,
      );
    return state;
  });
}

/** @throws RestoreRefused when something is stored for a connection */
export async function refuseUnlessEmpty(states: readonly DesiredState[]): Promise<void> {
  for (const { connection, archive } of states) {
    if (!(await archive.isEmpty()))
      throw new RestoreRefused(
        `There is something stored for the connection ${connection} already: stop the service and say --replace to remove it first.`,
      );
  }
}

/** Interval at which the beats of processes are read. */
const CHECK_MS = 500;

/**
 * A process that runs would write between the removal and the end of the restore, also into an empty Redis: Redis then takes
 * no older entry of a log, and the hash chain of the log breaks. A process without a new beat may have been killed, so the
 * restore waits until its last beat is overdue.
 * @throws RestoreRefused when a process beats
 */
export async function refuseWhileRunning(
  readFleet: ReadFleet,
  onWait: (running: string) => void,
): Promise<void> {
  let before: Map<string, number> | undefined;
  for (;;) {
    const { processes } = await readFleet();
    const running = processes.filter(({ silent }) => !silent);
    const names = runningText(running);
    if (names === undefined) return;
    // In the first round nothing is known about earlier beats.
    const beating = running.filter(({ id, lastBeatAt }) => before && before.get(id) !== lastBeatAt);
    if (beating.length > 0) {
      throw new RestoreRefused(
        `The service runs: ${names}. Nothing was changed. Stop every process (docs/restore.md says how: virtual machine, container, Kubernetes), then repeat the command.`,
      );
    }
    if (!before) onWait(names);
    before ??= new Map(running.map(({ id, lastBeatAt }) => [id, lastBeatAt]));
    await sleep(CHECK_MS);
  }
}
