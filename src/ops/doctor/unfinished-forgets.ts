// Completes interrupted orders to forget a person: the process was killed, or a sync of the person ran. Doctor names the orders
// that stay incomplete.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { StoredForgetOrder } from '../../directory/person/forget-orders.ts';
import type { Ref } from '../../directory/records.ts';
import type { Logger } from '../../support/logger.ts';
import { startRounds } from '../../support/rounds.ts';
import { settledWithin } from '../../support/within.ts';
import type { DoctorFinding } from './doctor-finding.ts';
import { forgetPerson, type ForgetDeps } from '../person/forget.ts';
import type { IdentifyOptions } from '../person/identify-person.ts';

const EVERY_MS = 60_000;
/** Shortest pause after an attempt. It is longer than an order takes, so that an order that runs is left alone. */
const REST_MS = 5 * EVERY_MS;
/** Longest pause after an attempt. */
const LONGEST_REST_MS = 24 * 60 * EVERY_MS;
/** Age from which doctor names an order. */
const LATE_MS = 60 * EVERY_MS;
/** Longest time that the shutdown waits for a running attempt. An order that is not complete stays stored for the next start. */
const LAST_MS = 3000;

/**
 * Starts the attempts, the first one at once. They obey the checks of the command forget: an order stays while an account may be
 * active that the order was not told to leave. An order whose person is pushed again is left to an operator, also after that person
 * leaves again.
 * @returns a function that stops them
 */
export function startFinishingForgets(
  deps: ForgetDeps & { logger: Logger },
  states: readonly DesiredState[],
  identify: Omit<IdentifyOptions, 'otherPeople'>,
): () => Promise<void> {
  const { clock, logger } = deps;

  async function finish(state: DesiredState, order: StoredForgetOrder, signal: AbortSignal): Promise<void> {
    const { connection, forgetOrders } = state;
    const now = clock.now();
    if (signal.aborted || order.wasPushedAgain || now - order.triedAt < restMs(order, now)) return;
    const claimed = await forgetOrders.change(order, { triedAt: now });
    // Another process tries the order now, or has completed it.
    if (!claimed) return;
    const { ref, actor, leaveAccounts, otherPeople, since } = order;
    const options = { actor, leaveAccounts, since, ...identify, otherPeople };
    const { kind } = await forgetPerson(deps, [state], ref, options);
    // Nothing shows whether an unclear user is the person, so an operator decides.
    if (kind === 'pushed' || kind === 'unclear') await forgetOrders.change(claimed, { wasPushedAgain: true });
    logger.info({ connection, ref, outcome: kind }, 'tried to complete an interrupted order to forget');
  }

  const stop = startRounds(clock, async (signal) => {
    const warn = (about: { connection: string; ref?: Ref }, text: string) => (error: unknown) => {
      if (!signal.aborted) logger.warn({ ...about, err: error as Error }, text);
    };
    for (const state of states) {
      const { connection, forgetOrders } = state;
      const orders = await forgetOrders
        .incomplete()
        .catch(warn({ connection }, 'interrupted orders to forget cannot be read'));
      for (const order of orders ?? [])
        await finish(state, order, signal).catch(
          warn({ connection, ref: order.ref }, 'an interrupted order to forget cannot be completed'),
        );
    }
    return EVERY_MS;
  });
  return async () => {
    await settledWithin(clock, stop(), LAST_MS);
  };
}

/** Returns the pause after an attempt: a twelfth of the age of the order within the limits, because an attempt reads all logs. */
const restMs = ({ since }: { since: number }, now: number): number =>
  Math.min(LONGEST_REST_MS, Math.max(REST_MS, (now - since) / 12));

/** Returns one warning for each order that has not been complete for an hour. */
export async function unfinishedForgetFindings(
  states: readonly DesiredState[],
  now: number,
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  for (const { connection, forgetOrders } of states)
    for (const { ref, since } of await forgetOrders.incomplete())
      if (now - since > LATE_MS)
        findings.push({
          area: `forget ${connection}`,
          level: 'warning',
          message: `an order to forget ${ref} is not complete, so names of the person are still kept`,
          advice: `scim-bridge forget ${ref} completes it, or says why it cannot.`,
        });
  return findings;
}
