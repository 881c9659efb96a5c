// Watches whether Redis comes back empty or with older data while the service runs (docs/redis.md).
import type { DesiredState } from '../directory/desired-state.ts';
import { createFleetStore } from '../directory/fleet/fleet-store.ts';
import { isStoreUnavailable } from '../directory/redis/connection.ts';
import { checkEachBeat } from './each-beat.ts';
import type { Parts } from './parts.ts';

/**
 * Checks the data of each connection of the settings now, and then as often as `checkEachBeat` does. If the data is older, the
 * check also puts the targets of the connection on hold (directory/redis/older-data.ts); an empty Redis is announced to the fleet.
 * A process that starts together with Redis has seen no earlier data, so it logs the loss that the fleet has noted. Resolves after
 * the first checks.
 */
export async function watchForOlderData(parts: Parts, states: readonly DesiredState[]): Promise<void> {
  const { logger, config } = parts;
  const fleet = createFleetStore(parts, config.redis);
  // If Redis does not answer, `check` logs nothing either.
  const emptiedAfter = await fleet.read().then(
    (view) => view.emptiedAfter,
    () => null,
  );
  if (emptiedAfter !== null)
    logger.error({ until: emptiedAfter, loss: 'empty' }, 'Redis came back without changes up to this time');
  for (const { connection, olderData } of states) {
    const check = async (): Promise<void> => {
      try {
        const { loss, until } = await olderData.check();
        // `whole`: nothing is lost.
        if (loss === 'whole') return;
        logger.error({ connection, until, loss }, 'Redis came back without changes up to this time');
        if (loss === 'empty') await fleet.noteEmptied(until);
      } catch (error) {
        if (isStoreUnavailable(error)) return;
        logger.warn({ connection, reason: (error as Error).message }, 'age of the stored data not checked');
      }
    };
    await check();
    checkEachBeat(parts, `age of the data of ${connection}`, check);
  }
}
