// Lets one restore run at a time: two at once would mix the lines of two files.
import type { ProcessLease } from '../../directory/redis/lease.ts';
import type { Clock } from '../../support/sources.ts';

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
 * Runs a restore under the lease. `work` gets a function to call before each write. The function throws once the lease was not
 * renewed in time, as in a suspended process: another restore may have begun, and may even have ended.
 * @throws RestoreRefused while another restore runs
 */
export async function aloneRestoring<T>(
  { restoreLease: { lead, resign }, clock }: { restoreLease: ProcessLease; clock: Clock },
  owner: string,
  work: (assertAlone: () => void) => Promise<T>,
): Promise<T> {
  let renewedAt = clock.now();
  if (!(await lead(owner, LEASE_MS)))
    throw new RestoreRefused(
      `Another restore is under way. Nothing was changed. Wait for its end; if it was killed, repeat the command after ${LEASE_MS / 1000} s.`,
    );
  let isLost = false;
  /** Notes that the lease has ended by `now`, unless it was renewed before. */
  const isOver = (now: number): boolean => (isLost ||= now - renewedAt >= LEASE_MS);
  const renewal = setInterval(() => {
    const now = clock.now();
    if (isOver(now)) return;
    // The error of one renewal is ignored: two of them have to fail before the lease ends.
    lead(owner, LEASE_MS).then(
      (isHeld) => {
        if (isHeld) renewedAt = now;
        else isLost = true;
      },
      () => undefined,
    );
  }, LEASE_MS / 3);
  try {
    return await work(() => {
      if (isOver(clock.now()))
        throw new Error(
          `Another restore may have begun, because this process was suspended or could not reach Redis for ${LEASE_MS / 1000} s. So this one ended. If no other one was meant, repeat the command.`,
        );
    });
  } finally {
    clearInterval(renewal);
    // An error is ignored: without a renewal the lease ends by itself.
    await resign(owner).catch(() => undefined);
  }
}
