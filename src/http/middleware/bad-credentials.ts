// Limits wrong tokens by client address. Only requests with a wrong token are limited, so a client cannot lock out an
// identity provider that shares its address.
import { isIP } from 'node:net';
import type { Response } from 'express';
import { tooManyRequests, unauthorized, type ScimError } from '../../scim/index.ts';
import { type Bucket, createBucket } from '../../support/limits.ts';
import type { ClientAddress } from './client-address.ts';

export interface BadCredentials {
  /** Counts a wrong token. @returns 0 below the limit, otherwise the milliseconds until the next attempt */
  note(address: string, now: number): number;
}

/**
 * Allows several hundred attempts: a provider with an expired token repeats its requests until its administrator replaces
 * the token.
 */
const ATTEMPTS = { burst: 300, perSecond: 5 };
/** Number of addresses kept in memory; the one with the oldest attempt is removed first. */
const MAX_ADDRESSES = 10_000;

/** Creates one token bucket for each client address, at its first wrong token. */
export function createBadCredentials(options = { ...ATTEMPTS, maxAddresses: MAX_ADDRESSES }): BadCredentials {
  const buckets = new Map<string, Bucket>();
  return {
    note(address, now) {
      const origin = originOf(address);
      const bucket = buckets.get(origin) ?? createBucket(options);
      // Deleting and setting keeps the map in order of the last attempt.
      buckets.delete(origin);
      buckets.set(origin, bucket);
      const oldest = buckets.keys().next().value;
      if (buckets.size > options.maxAddresses && oldest !== undefined) buckets.delete(oldest);
      return bucket.take(now);
    },
  };
}

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
  // A request without a token is no guess, so it does not count.
  const waitMs = presented === '' ? 0 : badCredentials.note(clientAddress(response.req), now);
  if (waitMs === 0) return unauthorized(detail);
  // Each wrong token costs the client a new connection.
  response.setHeader('Connection', 'close');
  return tooManyRequests('Too many wrong tokens from this address.', waitMs / 1000);
}

/** Returns the key under which attempts are counted: an IPv4 address, or the /64 network of an IPv6 address. */
export function originOf(address: string): string {
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
