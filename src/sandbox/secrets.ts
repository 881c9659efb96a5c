// Keys and secrets of the seeds: made once per sandbox, so that a reset does not lock the bridge out.
import { randomBytes } from 'node:crypto';

export interface Secrets {
  /** A secret that stays the same for the same name. */
  named(name: string, prefix?: string): string;
  fresh(prefix?: string): string;
  /** All named secrets, to be kept over a restart. */
  all(): [string, string][];
}

/** Starts with the secrets that are `kept` from an earlier time. */
export function createSecrets(kept: readonly (readonly [string, string])[] = []): Secrets {
  const known = new Map<string, string>(kept);
  const fresh = (prefix = ''): string => `${prefix}${randomBytes(24).toString('hex')}`;
  return {
    fresh,
    all: () => [...known],
    named(name, prefix) {
      const secret = known.get(name) ?? fresh(prefix);
      known.set(name, secret);
      return secret;
    },
  };
}
