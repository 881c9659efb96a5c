// Determines the client address of a request: the peer, or the address that trusted proxies report.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Returns the client address; `''` when it is unknown. */
export type ClientAddress = (request: IncomingMessage) => string;

/** Largest number of proxies in X-Forwarded-For. */
const MAX_HOPS = 20;

/**
 * Without trusted proxies the peer is the client. With them it is the right-most address in X-Forwarded-For that is
 * not a trusted proxy; the addresses left of it are unverified.
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
      if (hop.trim() === '') return nearest;
      nearest = hopAddress(hop.trim());
      if (nearest === '' || !isWithin(trusted, nearest)) return nearest;
    }
    return nearest;
  };
}

/** `1.2.3.4`, `1.2.3.4:5678`, `2001:db8::1` or `[2001:db8::1]:5678`; `''` for everything else. */
function hopAddress(text: string): string {
  const inner = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = plainAddress(inner);
  return isIP(address) === 0 ? '' : address;
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
export function plainAddress(address: string): string {
  const mapped = address.toLowerCase().startsWith('::ffff:') ? address.slice(7) : '';
  return isIP(mapped) === 4 ? mapped : address;
}

/** Parses a CIDR list; undefined for an empty one. */
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

/** Returns false for text that is no IP address. */
export function isWithin(networks: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && networks.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
