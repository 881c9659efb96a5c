// Checks the admin token. After many wrong tokens, an address has to wait, and the log has a warning.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import { createBadCredentials, MOST_OF_OPERATOR, TOO_MANY_WRONG } from '../middleware/bad-credentials.ts';
import { bearerTokenOf, isSecret } from '../middleware/bearer-token.ts';
import type { ClientAddress } from '../middleware/client-address.ts';
import { Problem, tooManyProblem } from './problem.ts';

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
  const badCredentials = createBadCredentials(MOST_OF_OPERATOR, {
    onReached: (address) => logger.warn({ address }, 'wrong admin tokens again and again'),
  });

  return (request) => {
    const presented = bearerTokenOf(request);
    if (isSecret(presented, token())) return;
    const waitMs = badCredentials.note(presented, clientAddress(request), clock.now());
    // Closes the connection, so that each further wrong token costs the client a new one.
    if (waitMs > 0) throw tooManyProblem(TOO_MANY_WRONG, waitMs / 1000, { Connection: 'close' });
    throw new Problem(401, 'Send the admin token: Authorization: Bearer <ADMIN_TOKEN>.', {
      headers: { 'WWW-Authenticate': 'Bearer realm="admin"' },
    });
  };
}
