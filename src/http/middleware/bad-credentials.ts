// Limits wrong tokens by client address, for providers and operators. Only requests with a wrong token are limited, so a client
// cannot lock out another one that shares its address.
import { isIP } from 'node:net';
import type { Response } from 'express';
import { tooManyRequests, unauthorized, type ScimError } from '../../scim/index.ts';
import type { ClientAddress } from './client-address.ts';

export interface BadCredentials {
  /**
   * Counts a wrong token. An empty one does not count: a request without a token is no guess.
   * @returns 0 up to the limit, otherwise the milliseconds until wrong tokens of the address are counted anew
   */
  note(presented: string, address: string, now: number): number;
}

/** Time for which wrong tokens are counted, from the first one. */
const WINDOW_MS = 60_000;
/** Number of addresses kept in memory; the one with the oldest attempt is removed first. */
const MAX_ADDRESSES = 10_000;
/** Limit of a provider: with an expired token it repeats its requests until its administrator replaces the token. */
export const MOST_OF_PROVIDER = 300;
/** Limit of an operator. */
export const MOST_OF_OPERATOR = 10;

/**
 * Counts the wrong tokens of each client address (`originOf`).
 * @param most wrong tokens of an address within WINDOW_MS
 * @param options.onReached called once in a window, when an address has sent `most` wrong tokens
 */
export function createBadCredentials(
  most: number,
  {
    onReached,
    maxAddresses = MAX_ADDRESSES,
  }: { onReached?: (address: string) => void; maxAddresses?: number } = {},
): BadCredentials {
  /** By origin; `endsAt`: end of the window, Unix milliseconds. */
  const counted = new Map<string, { count: number; endsAt: number }>();
  return {
    note(presented, address, now) {
      if (presented === '') return 0;
      const origin = originOf(address);
      const known = counted.get(origin);
      const current = known && known.endsAt > now ? known : { count: 0, endsAt: now + WINDOW_MS };
      current.count += 1;
      // Deleting and setting keeps the map in order of the last attempt.
      counted.delete(origin);
      counted.set(origin, current);
      const [oldest] = counted.keys();
      if (counted.size > maxAddresses && oldest !== undefined) counted.delete(oldest);
      if (current.count === most) onReached?.(address);
      return current.count > most ? current.endsAt - now : 0;
    },
  };
}

/** Detail of the 429. */
export const TOO_MANY_WRONG = 'Too many wrong tokens from this address: wait.';

/**
 * Returns the error for a missing or wrong token: 401, or 429 after many wrong tokens from one address.
 * @param detail of the 401; default: that of `unauthorized`
 */
export function wrongToken(
  { clientAddress, badCredentials }: { clientAddress: ClientAddress; badCredentials: BadCredentials },
  response: Response,
  presented: string,
  now: number,
  detail?: string,
): ScimError {
  const waitMs = badCredentials.note(presented, clientAddress(response.req), now);
  if (waitMs === 0) return unauthorized(detail);
  // Closes the connection, so that each further wrong token costs the client a new one.
  response.setHeader('Connection', 'close');
  return tooManyRequests(TOO_MANY_WRONG, waitMs / 1000);
}

/** Returns the key under which attempts are counted: an IPv4 address, or the /64 network of an IPv6 address. */
function originOf(address: string): string {
  if (isIP(address) !== 6) return address;
  // `::` stands for as many groups of zeros as are missing to eight; a zone id follows `%`.
  const [head = '', tail] = address.toLowerCase().split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right];
  // The first four groups of 16 bits are the /64 network.
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
