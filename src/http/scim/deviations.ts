// Logs each deviation of an identity provider from the RFC once, and the profile that fits its deviations.
import { suggestProfile, type DeviationName, type ProfileName } from '../../scim/index.ts';
import type { Logger } from '../../support/logger.ts';

/** Called synchronously for every accepted deviation; `connection` is the name of the connection. */
export type OnDeviation = (connection: string, kind: DeviationName) => void;

/** Number of deviations between two choices of the fitting profile. A choice at each deviation would cost time for nothing new. */
const SUGGEST_EVERY = 5;

/** Returns the function that the profile of the connection calls for every accepted deviation. */
export function createDeviationLog(
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
    if (profile !== 'auto' || total % SUGGEST_EVERY !== 0) return;
    const fitting = suggestProfile(counts);
    if (fitting === undefined || fitting === suggested) return;
    suggested = fitting;
    logger.info(
      { connection: name, profile: fitting, deviations: Object.fromEntries(counts) },
      'the identity provider behaves like this profile; it can be set for the connection',
    );
  };
}
