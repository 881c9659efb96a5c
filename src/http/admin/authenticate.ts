// Admits operators by the admin token. Wrong tokens are slowed down and logged.
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import { originOf } from '../middleware/bad-credentials.ts';
import type { ClientAddress } from '../middleware/client-address.ts';
import { Problem, tooManyProblem } from './problem.ts';

/** Number of wrong tokens from one address within the window; further ones are answered 429. */
const TRIES = 10;
const WINDOW_MS = 60_000;
/** Number of addresses kept in memory; the oldest entry is removed first. */
const ADDRESSES = 1000;

/** @throws Problem 401 for a missing or wrong admin token, 429 after many wrong ones from one address */
export type AdminCheck = (request: IncomingMessage) => void;

/**
 * @param deps.token is called at every request, so a rotated secret is valid at once. The right token is never
 * refused with 429: behind a load balancer all operators share one address.
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
  const failures = new Map<string, { count: number; endsAt: number }>();

  function noteFailure(address: string): number {
    const now = clock.now();
    const origin = originOf(address);
    const known = failures.get(origin);
    const current = known && known.endsAt > now ? known : { count: 0, endsAt: now + WINDOW_MS };
    current.count += 1;
    failures.delete(origin);
    failures.set(origin, current);
    const [oldest] = failures.keys();
    if (failures.size > ADDRESSES && oldest !== undefined) failures.delete(oldest);
    if (current.count === TRIES) logger.warn({ address }, 'wrong admin tokens again and again');
    return current.count > TRIES ? (current.endsAt - now) / 1000 : 0;
  }

  return (request) => {
    const [, presented = ''] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    // Digests have one length, so the time of the comparison does not depend on the secret.
    const isRight = timingSafeEqual(digest(presented), digest(token()));
    if (isRight && presented !== '') return;
    const waitSeconds = noteFailure(clientAddress(request));
    if (waitSeconds > 0) throw tooManyProblem('Too many wrong tokens from this address: wait.', waitSeconds);
    throw new Problem(401, 'Send the admin token: Authorization: Bearer <ADMIN_TOKEN>.', {
      headers: { 'WWW-Authenticate': 'Bearer realm="admin"' },
    });
  };
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
