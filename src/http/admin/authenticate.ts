// Checks the admin token. After many wrong tokens, an address has to wait, and the log has a warning.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import { originOf } from '../middleware/bad-credentials.ts';
import { bearerTokenOf, isSecret } from '../middleware/bearer-token.ts';
import type { ClientAddress } from '../middleware/client-address.ts';
import { Problem, tooManyProblem } from './problem.ts';

/** Number of wrong tokens from one address within WINDOW_MS; further ones are answered 429. */
const MOST_ATTEMPTS = 10;
const WINDOW_MS = 60_000;
/** Number of addresses kept in memory; the address with the oldest attempt is removed first. */
const MOST_ADDRESSES = 1000;

/** @throws Problem 401 for a missing or wrong admin token, 429 after many wrong ones from one address */
export type AdminCheck = (request: IncomingMessage) => void;

/**
 * Returns the check. The right token is never refused with 429, because behind a load balancer all operators share one
 * address.
 * @param token called at every request, so that a rotated secret is valid at once
 */
export function createAdminCheck(
  {
    clock,
    logger,
    clientAddress,
  }: {
    clock: Clock;
    logger: Logger;
    clientAddress: ClientAddress;
  },
  token: () => string,
): AdminCheck {
  /** By origin (`originOf`); `endsAt`: end of the counting, Unix milliseconds. */
  const failures = new Map<string, { count: number; endsAt: number }>();

  /** Counts a wrong token. @returns the seconds to wait, 0 while the limit is not reached */
  function noteFailure(address: string): number {
    const now = clock.now();
    const origin = originOf(address);
    const known = failures.get(origin);
    const current = known && known.endsAt > now ? known : { count: 0, endsAt: now + WINDOW_MS };
    current.count += 1;
    // Deleting and setting keeps the map in order of the last attempt.
    failures.delete(origin);
    failures.set(origin, current);
    const [oldest] = failures.keys();
    if (failures.size > MOST_ADDRESSES && oldest !== undefined) failures.delete(oldest);
    if (current.count === MOST_ATTEMPTS) logger.warn({ address }, 'wrong admin tokens again and again');
    return current.count > MOST_ATTEMPTS ? (current.endsAt - now) / 1000 : 0;
  }

  return (request) => {
    if (isSecret(bearerTokenOf(request), token())) return;
    const waitSeconds = noteFailure(clientAddress(request));
    if (waitSeconds > 0) throw tooManyProblem('Too many wrong tokens from this address: wait.', waitSeconds);
    throw new Problem(401, 'Send the admin token: Authorization: Bearer <ADMIN_TOKEN>.', {
      headers: { 'WWW-Authenticate': 'Bearer realm="admin"' },
    });
  };
}
