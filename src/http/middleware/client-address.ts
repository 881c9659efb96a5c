// Which address a request comes from: that of the peer, or what trusted proxies say about whom they speak for.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The address of the client, `''` where nobody can tell. */
export type ClientAddress = (request: IncomingMessage) => string;

/** Longest chain of proxies that is followed. */
const MAX_HOPS = 20;

/**
 * Without trusted proxies: the peer, whatever headers say. With them: from the right, the first address in
 * X-Forwarded-For that is not a trusted proxy; everything left of it is that client's own claim.
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

/** An IPv4 address in the clothes of IPv6 is an IPv4 address. */
function plainAddress(address: string): string {
  const mapped = address.toLowerCase().startsWith('::ffff:') ? address.slice(7) : '';
  return isIP(mapped) === 4 ? mapped : address;
}

/** Networks of a CIDR list; undefined for none at all. */
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

/** Never true for what is no address. */
export function isWithin(networks: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && networks.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
