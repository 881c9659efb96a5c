// Who may push: a bearer token of the connection, from an allowed network.
import { BlockList, isIP } from 'node:net';
import type { RequestHandler } from 'express';
import { forbidden, tooManyRequests, unauthorized, unavailable } from '../../scim/index.ts';
import type { Clock } from '../../support/clock.ts';
import type { Door } from '../../tokens/doors.ts';
import type { HeldToken } from '../../tokens/keyring.ts';
import { isMarked } from '../../tokens/secret.ts';

export interface AuthenticateOptions {
  /** CIDR list; empty = every network. The peer address counts, no header does. */
  allowedNetworks: readonly string[];
}

const RETRY_AFTER_SECONDS = 5;

/** Neither the time nor the length of the answer tells anything about a secret. */
export function createAuthenticate(
  deps: { clock: Clock; door: Door },
  options: AuthenticateOptions,
): RequestHandler {
  const { clock } = deps;
  const { keyring } = deps.door;
  const networks = toBlockList(options.allowedNetworks);

  return (request, _response, next) => {
    if (networks && !isAllowed(networks, request.socket.remoteAddress ?? '')) {
      throw forbidden('This address is not in allowedNetworks of the connection.');
    }
    const presented = tokenOf(request.headers.authorization);
    const now = clock.now();
    const token = keyring.find(presented, now);
    if (!token) {
      // 401 makes an identity provider give up; who merely can not be judged yet comes back.
      if (!keyring.isComplete && isMarked(presented)) {
        throw unavailable('The tokens are not known yet: come back.', RETRY_AFTER_SECONDS);
      }
      throw unauthorized();
    }
    admit(token, now);
    next();
  };
}

/** @throws 429 when the token's budget is spent */
function admit(token: HeldToken, now: number): void {
  token.lastUsedAt = now;
  const waitMs = token.budget.take(now);
  if (waitMs > 0) throw tooManyRequests('This token sends more than rateLimit allows.', waitMs / 1000);
}

/** Okta's header authentication sends the token bare, everybody else behind a scheme. */
function tokenOf(header: string | undefined): string {
  const value = (header ?? '').trim();
  return /^bearer\s/i.test(value) ? value.slice(7).trim() : value;
}

function toBlockList(networks: readonly string[]): BlockList | undefined {
  if (networks.length === 0) return undefined;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return list;
}

function isAllowed(networks: BlockList, peer: string): boolean {
  const address = peer.startsWith('::ffff:') ? peer.slice(7) : peer;
  return networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
