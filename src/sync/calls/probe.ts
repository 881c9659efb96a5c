// Probes a target whose breaker is open while no sync calls it, because otherwise no call would close the breaker after an
// outage.
import type { Clock } from '../../support/sources.ts';
import type { Target } from '../target.ts';
import { timeLimit } from '../../support/time-limit.ts';

/**
 * Time between two checks of the breaker. Each probe moves the due time of the next one, and this pause is longer than the longest
 * interval of probes (breaker.ts). So if the due time is the same at two checks, no process has probed between them.
 */
const CHECK_MS = 3000;
/** Longest time that a probe waits, for the request budget of the target (budget.ts) and for the answer. */
const PROBE_TIMEOUT_MS = 10_000;

type Probed = Pick<Target, 'breaker'> & { client: Pick<Target['client'], 'users'> };

/** Probes until the signal fires. All replicas may do so: the request budget lets one probe through at a time. */
export async function probeWhileIdle(target: Probed, clock: Clock, signal: AbortSignal): Promise<void> {
  /** Due time of the next probe, as the last check read it. A call of a sync, or a probe of this function, moves it. */
  let seenProbeAt: number | undefined;
  while (!signal.aborted) {
    await clock.sleep(CHECK_MS, signal);
    // If Redis does not answer, nothing is probed before the next check.
    const { open, probeAt } = await target.breaker.read().catch(() => ({ open: false, probeAt: undefined }));
    const isProbeLeftOut = open && probeAt === seenProbeAt;
    seenProbeAt = open ? probeAt : undefined;
    if (!isProbeLeftOut || signal.aborted) continue;
    const limited = AbortSignal.any([signal, timeLimit(PROBE_TIMEOUT_MS)]);
    // The client reports the result of each call to the breaker.
    await target.client.users.list({ startIndex: 1, count: 1 }, { signal: limited }).catch(() => undefined);
  }
}
