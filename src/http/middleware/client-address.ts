// Determines the client address of a request: the peer, or the address that trusted proxies report.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Returns the client address; `''` when it is unknown. */
export type ClientAddress = (request: IncomingMessage) => string;

/** Number of right-most entries of X-Forwarded-For that are read. */
const MAX_HOPS = 20;

/**
 * Returns a function that determines the client address. Without trusted proxies the peer is the client. With them, the
 * client is the right-most address in X-Forwarded-For that is not a trusted proxy. Addresses left of it are not verified.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = toNetworks(trustedProxies);
  return (request) => {
    const peer = plainAddress(request.socket.remoteAddress ?? '');
    if (!trusted || !isWithin(trusted, peer)) return peer;
    // Node joins repeated headers in their order.
    const header = request.headers['x-forwarded-for'];
    const hops = (typeof header === 'string' ? header : '').split(',').slice(-MAX_HOPS).reverse();
    let nearest = peer;
    for (const hop of hops) {
      // An empty entry says nothing, and addresses left of it are not verified.
      if (hop.trim() === '') return nearest;
      nearest = hopAddress(hop.trim());
      // The client: the first entry that is no trusted proxy, or no address at all.
      if (nearest === '' || !isWithin(trusted, nearest)) return nearest;
    }
    return nearest;
  };
}

/**
 * Returns the address in one entry of X-Forwarded-For: `1.2.3.4`, `1.2.3.4:5678`, `2001:db8::1` or
 * `[2001:db8::1]:5678`. Returns `''` for any other text.
 */
function hopAddress(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1];
  const beforePort = /^([\d.]+):\d+$/.exec(text)?.[1];
  const address = plainAddress(bracketed ?? beforePort ?? text);
  return isIP(address) === 0 ? '' : address;
}

/** Converts an IPv4-mapped IPv6 address to IPv4, and returns any other text as it is. */
export function plainAddress(address: string): string {
  const mapped = address.toLowerCase().startsWith('::ffff:') ? address.slice('::ffff:'.length) : '';
  return isIP(mapped) === 4 ? mapped : address;
}

/** Parses a list of networks in CIDR notation; returns undefined for an empty list. */
export function toNetworks(networks: readonly string[]): BlockList | undefined {
  if (networks.length === 0) return undefined;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return list;
}

/** Returns whether an address belongs to one of the networks; false for text that is not an IP address. */
export function isWithin(networks: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && networks.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
