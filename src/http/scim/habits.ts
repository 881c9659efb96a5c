// Logs each deviation of a connection's identity provider once, and the profile that its deviations indicate.
import { suggestProfile, type DeviationName, type ProfileName } from '../../scim/index.ts';
import type { Logger } from '../../support/logger.ts';

/** Told of every deviation that was accepted; `connection` is its name. Called within the request, so it has to be quick. */
export type OnDeviation = (connection: string, kind: DeviationName) => void;

/** The evidence is weighed when it has grown by this much: a provider repeats its habits thousands of times. */
const WEIGH_EVERY = 5;

/** @returns what the profile of the connection calls with every deviation it accepts */
export function createHabits(
  deps: { logger: Logger; onDeviation?: OnDeviation },
  connection: { name: string; profile: ProfileName },
): (kind: DeviationName) => void {
  const { logger, onDeviation } = deps;
  const { name, profile } = connection;
  const counts = new Map<DeviationName, number>();
  let total = 0;
  let suggested: ProfileName | undefined;
  return (kind) => {
    onDeviation?.(name, kind);
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    total += 1;
    if (count === 1) {
      logger.info({ connection: name, deviation: kind }, 'accepted a deviation of the identity provider');
    }
    if (profile !== 'auto' || total % WEIGH_EVERY !== 0) return;
    const fitting = suggestProfile(counts);
    if (fitting === undefined || fitting === suggested) return;
    suggested = fitting;
    logger.info(
      { connection: name, profile: fitting, deviations: Object.fromEntries(counts) },
      'the identity provider behaves like this profile; it can be set for the connection',
    );
  };
}
