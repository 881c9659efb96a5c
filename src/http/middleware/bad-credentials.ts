// Slows down a client that presents one wrong token after the other. Only the answer to a wrong token changes, so a client
// cannot lock out a provider that comes from the same address.
import { isIP } from 'node:net';
import { type Bucket, createBucket } from '../../support/limits.ts';

export interface BadCredentials {
  /** Notes a wrong token. @returns 0, or milliseconds after which another attempt is welcome */
  note(address: string, now: number): number;
}

/** A provider with an old token asks some hundred times before somebody looks; a guesser does not stop there. */
const PATIENCE = { burst: 300, perSecond: 5 };
/** Addresses that are remembered, the latest ones. */
const MAX_ADDRESSES = 10_000;

export function createBadCredentials(options = { ...PATIENCE, maxAddresses: MAX_ADDRESSES }): BadCredentials {
  const buckets = new Map<string, Bucket>();
  return {
    note(address, now) {
      const origin = originOf(address);
      const bucket = buckets.get(origin) ?? createBucket(options);
      // Taken out and put in again, the map is in order of the last attempt.
      buckets.delete(origin);
      buckets.set(origin, bucket);
      const oldest = buckets.keys().next().value;
      if (buckets.size > options.maxAddresses && oldest !== undefined) buckets.delete(oldest);
      return bucket.take(now);
    },
  };
}

/** The key of one client: a customer has a whole /64 of IPv6. */
export function originOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.toLowerCase().split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
