// Deletes an account or a group at the platform, and judges whether the platform carried the deletion out.
// Flags of the link: directory/outbox/link.ts.
import { PlatformError } from '../platform/errors.ts';
import type { SyncContext } from './context.ts';
import { WriteIgnored } from './outcome.ts';

interface Deletion {
  operation: 'delete user' | 'delete group';
  run: () => Promise<unknown>;
  /** Reads the account or group by its id. */
  read: () => Promise<unknown>;
}

/**
 * Deletes an account or a group. Its link notes the deletion before the call, so that after a lost answer a later sync knows
 * that the bridge caused the absence.
 * @throws WriteIgnored when the platform answers success and still shows the account or group
 */
export async function deleteThere(context: SyncContext, { operation, run, read }: Deletion): Promise<void> {
  const { link } = context;
  const wasSent = link.deleting;
  link.deleting = true;
  await context.save();
  let isStillThere = false;
  try {
    // The last argument runs after the answer and returns the result for the log. 'ignored': the platform did not delete; {}: it
    // did, without a detail to log.
    await context.write(operation, run, async () => {
      isStillThere = await isShown(read);
      return isStillThere ? 'ignored' : {};
    });
  } catch (error) {
    // Neither this call nor an earlier one can have deleted anything, so the link notes no deletion. The sync's end saves the link.
    if (error instanceof PlatformError && !error.mayHaveCommitted && !wasSent) delete link.deleting;
    throw error;
  }
  const what = operation === 'delete user' ? 'account' : 'group';
  if (isStillThere) throw new WriteIgnored(`the platform answered success and did not delete the ${what}`);
}

/**
 * Returns whether the account or group is still there. Deletions are rare, so one read after each costs little. A failed
 * read returns false, so the answer to the deletion counts.
 */
const isShown = (read: Deletion['read']): Promise<boolean> =>
  read().then(
    () => true,
    () => false,
  );

/** Logs a deletion that was sent without an answer, after the account or group was proven to be absent. */
export function noteDeleted({ link, provisioning }: SyncContext, operation: Deletion['operation']): void {
  if (link.deleting) provisioning.carriedOut(operation);
}
