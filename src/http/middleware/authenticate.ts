// Who may push: a bearer token of the connection, from an allowed network.
import { hash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { RequestHandler } from 'express';
import { forbidden, unauthorized } from '../../scim/index.ts';
import type { Clock } from '../../support/clock.ts';

export interface AcceptedToken {
  name: string;
  secret: string;
  /** RFC 3339; the token is refused from then on. */
  expiresAt?: string;
}

export interface AuthenticateOptions {
  tokens: readonly AcceptedToken[];
  /** CIDR list; empty = every network. The peer address counts, no header does. */
  allowedNetworks: readonly string[];
}

const FRAME_BYTES = 1024;
const LONGEST = FRAME_BYTES - 2;

/** Secrets of any length as blocks of one length, so that comparing takes the same time whatever they are. */
function frame(text: string, block = Buffer.alloc(FRAME_BYTES)): Buffer {
  block.fill(0);
  const fits = text.length <= LONGEST / 3;
  const length = fits ? block.write(text) : hash('sha256', text, 'buffer').copy(block);
  // The length stands at the end: a secret with zeros behind it is another one.
  block.writeUInt16BE(fits ? length : FRAME_BYTES, LONGEST);
  return block;
}

/** Neither the time nor the length of the answer tells anything about a secret. */
export function createAuthenticate(
  deps: {
    clock: Clock;
    /** Told which token opened the door. */
    onUsed?: ((name: string) => void) | undefined;
  },
  options: AuthenticateOptions,
): RequestHandler {
  const accepted = options.tokens.map(({ name, secret, expiresAt }) => ({
    name,
    block: frame(secret),
    expiresAt: expiresAt === undefined ? Infinity : Date.parse(expiresAt),
  }));
  const networks = toBlockList(options.allowedNetworks);

  // One block for all requests: a comparison is over before the next one begins.
  const scratch = Buffer.alloc(FRAME_BYTES);

  return (request, _response, next) => {
    if (networks && !isAllowed(networks, request.socket.remoteAddress ?? '')) {
      throw forbidden('This address is not in allowedNetworks of the connection.');
    }
    const presented = frame(tokenOf(request.headers.authorization), scratch);
    let match: string | undefined;
    for (const token of accepted) {
      const equal = timingSafeEqual(token.block, presented);
      match = equal && token.expiresAt > deps.clock.now() ? token.name : match;
    }
    if (match === undefined) throw unauthorized();
    deps.onUsed?.(match);
    next();
  };
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
