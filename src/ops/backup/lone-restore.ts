// Lets one restore run at a time: two at once would mix the lines of two files.
import type { ProcessLease } from '../../directory/redis/lease.ts';

/**
 * Thrown when another restore or the service runs, Redis is not empty, the settings lack a connection or target of the file, or the
 * file has no valid HMAC.
 */
export class RestoreRefused extends Error {
  override name = 'RestoreRefused';
}

/** A restore that was killed is noticed after this time. */
const LEASE_MS = 15_000;

/**
 * Runs a restore under the lease. `work` gets a function to call before each write. The function throws once a renewal has shown
 * that another restore has the lease, because this process was suspended.
 * @throws RestoreRefused while another restore runs
 */
export async function aloneRestoring<T>(
  { lead, resign }: ProcessLease,
  owner: string,
  work: (assertAlone: () => void) => Promise<T>,
): Promise<T> {
  if (!(await lead(owner, LEASE_MS)))
    throw new RestoreRefused(
      `Another restore is under way. Nothing was changed. Wait for its end; if it was killed, repeat the command after ${LEASE_MS / 1000} s.`,
    );
  let isTaken = false;
  const renewal = setInterval(() => {
    // The error of one renewal is ignored: two of them have to fail before the lease ends.
    lead(owner, LEASE_MS).then(
      (isHeld) => {
        if (!isHeld) isTaken = true;
      },
      () => undefined,
    );
  }, LEASE_MS / 3);
  try {
    return await work(() => {
      if (isTaken)
        throw new Error('Another restore began while this process was suspended, so this one ended.');
    });
  } finally {
    clearInterval(renewal);
    // An error is ignored: without a renewal the lease ends by itself.
    await resign(owner).catch(() => undefined);
  }
}
