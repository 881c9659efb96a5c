// Restores a backup into Redis: refuses unless the file is proven, Redis is empty or is to be replaced, and neither the service nor
// another restore runs; then replaces the data (put-back.ts). A note in Redis (`beginRestore`) keeps the service from a start
// meanwhile, and after a restore that failed in the middle.
import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { createRestoreWithdrawal, DataVersion } from '../../directory/fleet/data-version.ts';
import type { ProcessLease } from '../../directory/redis/lease.ts';
import { isoTime } from '../../support/sources.ts';
import type { ReadFleet } from '../status/fleet.ts';
import type { CheckedBackup } from './backup-file.ts';
import { aloneRestoring } from './lone-restore.ts';
import { putBack, type PutBackOptions, type RestoreReport } from './put-back.ts';
import { refuseUnlessProven, statesFor, refuseUnlessEmpty, refuseWhileRunning } from './restore-refusals.ts';

interface RestoreOptions extends PutBackOptions {
  /** Deletes the stored data first. */
  replace: boolean;
  /** Accepts a file whose HMAC is missing or wrong. */
  acceptUnproven: boolean;
  readFleet: ReadFleet;
  dataVersion: DataVersion;
  /** Removes the note of this restore, if no other restore has begun since (createRestoreWithdrawal). */
  withdrawRestore: ReturnType<typeof createRestoreWithdrawal>;
  /** Only its holder may restore. */
  restoreLease: ProcessLease;
  /** Called when the restore waits for processes that may have been killed; their names. */
  onWait?: (running: string) => void;
}

/**
 * Restores a checked file.
 * @throws RestoreRefused before anything was changed
 */
export async function restore(
  states: readonly DesiredState[],
  file: FileHandle,
  checked: CheckedBackup,
  options: RestoreOptions,
): Promise<RestoreReport> {
  const { clock, replace, readFleet, dataVersion, onWait = () => undefined } = options;
  refuseUnlessProven(checked, options.acceptUnproven);
  const chosen = statesFor(checked.header, states);
  const owner = randomUUID();
  return aloneRestoring(options, owner, async (assertAlone) => {
    if (!replace) await refuseUnlessEmpty(chosen);
    await refuseWhileRunning(readFleet, onWait);
    assertAlone();
    const started = { time: isoTime(clock.now()), owner };
    // False: an earlier restore failed, so the data is not whole.
    let isUnchanged = await dataVersion.beginRestore(started);
    try {
      // A process that starts announces itself and then checks for a restore, so one of the two notices the other.
      await refuseWhileRunning(readFleet, onWait);
      const report = await putBack(chosen, file, checked, options, {
        assertAlone,
        beforeChange: () => {
          assertAlone();
          isUnchanged = false;
        },
      });
      assertAlone();
      await dataVersion.endRestore();
      return report;
    } catch (error) {
      // A restore that failed before it removed anything leaves the data whole. If it failed later, the note of the restore stays,
      // so that the service does not start. It also stays if it cannot be removed, because Redis is away: the next restore ends it.
      if (isUnchanged) await options.withdrawRestore(started).catch(() => undefined);
      throw error;
    }
  });
}
